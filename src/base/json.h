#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// JSON by name: enough to declare functions of it. Whoever looks into one includes base/json_values.h.
namespace tacho {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8, as a path may hold, become replacement characters instead of an exception.
std::string to_text(const Json& json, int indent = -1);

// A discarded value where the text is no JSON.
Json parse_json(std::string_view text);

}  // namespace tacho
