#include "results/axis.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace tacho {
namespace {

constexpr size_t kMostValues = 10000;
constexpr int64_t kLargestImageSide = 1 << 16;

// Where a piece of text stands, for errors.
struct Place {
  std::string_view option, item;
  int64_t largest, least = 1;
  std::string_view form = "a number, a list (16,32) or a range (1-8, 16-2048*2)";  // that would be right
};

int64_t parse_number(const Place& place, std::string_view digits) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw UserError("{} '{}': at most {} is possible", place.option, place.item, place.largest);
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw UserError("{} '{}': '{}' is not a whole number; write {}", place.option, place.item, digits,
                    place.form);
  }
  if (value < place.least)
    throw UserError("{} '{}': must be at least {}", place.option, place.item, place.least);
  if (value > place.largest) {
    throw UserError("{} '{}': at most {} is possible", place.option, place.item, place.largest);
  }
  return value;
}

struct Range {
  int64_t first, last;
  bool multiply;
  int64_t step;
};

Range parse_range(const Place& place, size_t dash) {
  const std::string_view item = place.item;
  const size_t sign = item.find_first_of("*+", dash);
  Range range{parse_number(place, item.substr(0, dash)), 0, false, 1};
  if (sign == std::string_view::npos) {
    range.last = parse_number(place, item.substr(dash + 1));
  } else {
    range.last = parse_number(place, item.substr(dash + 1, sign - dash - 1));
    range.multiply = item[sign] == '*';
    range.step = parse_number(place, item.substr(sign + 1));
  }
  if (range.last < range.first) {
    throw UserError("{} '{}': the range is reversed; write {}-{}", place.option, item, range.last,
                    range.first);
  }
  if (range.multiply && range.step == 1) {
    throw UserError("{} '{}': a step of *1 never ends; write *2 or more", place.option, item);
  }
  return range;
}

void append_range(const Place& place, const Range& range, std::vector<int64_t>& values) {
  // Values and steps are at most `largest`, far below the square root of what int64 holds.
  for (int64_t v = range.first; v <= range.last; v = range.multiply ? v * range.step : v + range.step) {
    if (values.size() == kMostValues) {
      throw UserError("{} '{}': more than {} values; take a larger step", place.option, place.item,
                      kMostValues);
    }
    values.push_back(v);
  }
}

void append_item(const Place& place, std::vector<int64_t>& values) {
  const size_t dash = place.item.find('-', 1);
  if (dash == std::string_view::npos) {
    const int64_t value = parse_number(place, place.item);
    append_range(place, {value, value, false, 1}, values);
  } else {
    append_range(place, parse_range(place, dash), values);
  }
}

}  // namespace

std::vector<std::string> parse_words(std::string_view option, std::string_view text) {
  std::vector<std::string> parts = split(text, ',');
  for (const std::string& part : parts) {
    if (part.empty()) throw UserError("{} '{}': an empty entry; write a list such as a,b,c", option, text);
  }
  return parts;
}

std::vector<std::string> parse_choices(std::string_view option, std::string_view text,
                                       std::initializer_list<std::string_view> choices) {
  std::vector<std::string> words = parse_words(option, text);
  for (const std::string& word : words) {
    if (std::ranges::find(choices, word) != choices.end()) continue;
    throw UserError("{} '{}': unknown; there are {}", option, word, fmt::join(choices, ", "));
  }
  return words;
}

std::vector<int64_t> parse_axis(std::string_view option, std::string_view text, int64_t largest) {
  std::vector<int64_t> values;
  for (const std::string& item : parse_words(option, text)) append_item({option, item, largest}, values);
  return values;
}

int64_t parse_count(std::string_view option, std::string_view text, int64_t largest, int64_t least) {
  return parse_number({option, text, largest, least, "one number, such as 20"}, text);
}

std::vector<Extents> parse_image_axis(std::string_view option, std::string_view text) {
  std::vector<Extents> images;
  for (const std::string& item : parse_words(option, text)) {
    const Place place{option, item, kLargestImageSide};
    if (item.find('x') == std::string::npos) {
      std::vector<int64_t> sides;
      append_item(place, sides);
      for (int64_t side : sides) images.push_back({side});
    } else {
      Extents& image = images.emplace_back();
      for (const std::string& side : split(item, 'x')) image.push_back(parse_number(place, side));
    }
  }
  return images;
}

Extents parse_image(std::string_view option, std::string_view text) {
  const std::vector<Extents> images = parse_image_axis(option, text);
  if (images.size() != 1) throw UserError("{} '{}': one size, such as 224 or 224x160", option, text);
  return images.front();
}

}  // namespace tacho
