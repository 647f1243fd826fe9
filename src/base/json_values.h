#pragma once

#include <cmath>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

// Values of records to and from JSON. What is empty does not apply and becomes null; read() throws UserError
// that says what the value must be, without its name.
namespace tacho {

template<typename T>
requires std::is_arithmetic_v<T> Json json_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return {};  // JSON has no such number
  }
  return value;
}
inline Json json_of(const std::string& text) { return text.empty() ? Json() : Json(text); }
template<typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
template<typename T>
Json json_of(const std::vector<T>& values) {
  if (values.empty()) return {};
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}
template<typename T>
Json json_of(const std::map<std::string, T>& entries) {
  return entries.empty() ? Json() : Json(entries);
}

inline void read(const Json& value, std::string& text) {
  if (!value.is_string()) throw UserError("must be a text, not {}", to_text(value));
  text = value.get<std::string>();
}
inline void read(const Json& value, bool& answer) {
  if (!value.is_boolean()) throw UserError("must be true or false, not {}", to_text(value));
  answer = value.get<bool>();
}
template<std::integral T>
void read(const Json& value, T& number) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
  if (!fits) throw UserError("must be a whole number, not {}", to_text(value));
  number = value.get<T>();
}
inline void read(const Json& value, double& number) {
  if (!value.is_number()) throw UserError("must be a number, not {}", to_text(value));
  number = value.get<double>();
}
template<typename T>
void read(const Json& value, std::optional<T>& number) {
  read(value, number.emplace());
}
template<typename T>
void read(const Json& value, std::vector<T>& values) {
  if (!value.is_array()) throw UserError("must be a list, not {}", to_text(value));
  for (const Json& element : value) read(element, values.emplace_back());
}
template<typename T>
void read(const Json& value, std::map<std::string, T>& entries) {
  if (!value.is_object()) throw UserError("must be an object, not {}", to_text(value));
  for (const auto& [key, entry] : value.items()) read(entry, entries[key]);
}

}  // namespace tacho
