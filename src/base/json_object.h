#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "base/json_values.h"

namespace tacho {

// One entry of a struct that is an object in JSON. A table of these makes both directions.
template<typename T>
struct Entry {
  std::string_view name;
  Json (*get)(const T&);
  void (*set)(T&, const Json& value);
};

template<typename T, auto member>
constexpr Entry<T> entry(std::string_view name) {
  return {name, [](const T& object) { return json_of(object.*member); },
          [](T& object, const Json& value) { read(value, object.*member); }};
}

// The entries that apply, in the order of the table.
template<typename T>
Json object_of(std::span<const Entry<T>> entries, const T& value) {
  Json object = Json::object();
  for (const Entry<T>& entry : entries) {
    Json part = entry.get(value);
    if (!part.is_null()) object[std::string(entry.name)] = std::move(part);
  }
  return object;
}

// False where there is no such entry.
template<typename T>
bool set_entry(std::span<const Entry<T>> entries, std::string_view name, const Json& value, T& object) {
  const auto known = std::ranges::find(entries, name, &Entry<T>::name);
  if (known == entries.end()) return false;
  known->set(object, value);
  return true;
}

template<typename T>
void read_object(std::span<const Entry<T>> entries, const Json& json, T& value) {
  if (!json.is_object()) throw UserError("must be an object, not {}", json.dump());
  for (const auto& [key, part] : json.items()) {
    const auto known = std::ranges::find(entries, key, &Entry<T>::name);
    if (known == entries.end()) throw UserError("has the unknown entry '{}'", key);
    try {
      known->set(value, part);
    } catch (const UserError& error) {
      throw UserError("'{}' {}", key, error.what());
    }
  }
}

}  // namespace tacho
