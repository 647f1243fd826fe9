#include "base/json.h"

#include <nlohmann/json.hpp>

namespace tacho {

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

}  // namespace tacho
