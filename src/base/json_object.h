#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "base/carried.h"
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

// A count that is not known is zero.
template<typename T, auto member>
constexpr Entry<T> count_entry(std::string_view name) {
  return {name, [](const T& object) { return object.*member == 0 ? Json() : Json(object.*member); },
          entry<T, member>(name).set};
}

inline void carry(std::string name, const Json& value, Carried& carried) {
  carried.push_back({std::move(name), to_text(value)});
}
inline void give_back(const Carried& carried, Json& object) {
  for (const auto& [name, json] : carried) object[name] = parse_json(json);
}

// The entries that apply, in the order of the table, then those that were carried.
template<typename T>
Json object_of(std::span<const Entry<T>> entries, const T& value) {
  Json object = Json::object();
  for (const Entry<T>& entry : entries) {
    Json part = entry.get(value);
    if (!part.is_null()) object[std::string(entry.name)] = std::move(part);
  }
  if constexpr (requires { value.carried; }) give_back(value.carried, object);
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

// Entries that the table does not have are carried.
template<typename T>
void read_object(std::span<const Entry<T>> entries, const Json& json, T& value) {
  if (!json.is_object()) throw UserError("must be an object, not {}", to_text(json));
  for (const auto& [key, part] : json.items()) {
    const auto known = std::ranges::find(entries, key, &Entry<T>::name);
    try {
      known == entries.end() ? carry(key, part, value.carried) : known->set(value, part);
    } catch (const UserError& error) {
      throw UserError("'{}' {}", key, error.what());
    }
  }
}

}  // namespace tacho
