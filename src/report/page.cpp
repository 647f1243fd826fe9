#include "report/page.h"

#include <algorithm>
#include <stdexcept>

#include "base/embedded_file.h"

namespace tacho {

std::span<const EmbeddedFile> page_parts();
std::span<const EmbeddedFile> page_scripts();

namespace {

std::string_view part(std::string_view name) {
  const auto parts = page_parts();
  const auto found = std::ranges::find(parts, name, &EmbeddedFile::name);
  if (found == parts.end()) throw std::logic_error("no such part of the page");
  return found->content;
}

std::string scripts() {
  std::string text;
  for (const EmbeddedFile& script : page_scripts()) text += script.content;
  return text;
}

// No text of a record can end the element that holds the data, nor begin another.
std::string data_text(const Json& data) {
  std::string text;
  for (const char c : to_text(data)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string slot(std::string_view name, const Json& data) {
  if (name == "style") return std::string(part("page.css"));
  if (name == "chart") return std::string(part("chart.min.js"));
  if (name == "script") return scripts();
  if (name == "data") return data_text(data);
  throw std::logic_error("the page has a slot that nothing fills");
}

}  // namespace

std::string html_page(const Json& data) {
  const std::string_view markup = part("page.html");
  std::string page;
  // What fills a slot is not looked at again, so braces in it mean nothing.
  for (size_t at = 0; at < markup.size();) {
    const size_t open = markup.find("{{", at);
    page += markup.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const size_t close = markup.find("}}", open);
    page += slot(markup.substr(open + 2, close - open - 2), data);
    at = close + 2;
  }
  return page;
}

}  // namespace tacho
