#include <array>

#include "results/record_json.h"

namespace tacho {
namespace {

struct SystemField {
  std::string_view name;
  Json (*get)(const SystemInfo&);
  void (*set)(SystemInfo&, const Json&);
};

template<auto member>
constexpr SystemField field(std::string_view name) {
  return {name, [](const SystemInfo& system) { return json_of(system.*member); },
          [](SystemInfo& system, const Json& value) { read(value, system.*member); }};
}

using S = SystemInfo;

constexpr std::array kFields = {
    field<&S::name>("name"),
    field<&S::cpu>("cpu"),
    field<&S::cores>("cores"),
    field<&S::memory_mib>("memory_mib"),
    field<&S::os>("os"),
    field<&S::compiler>("compiler"),
    field<&S::engines>("engines"),
    field<&S::libraries>("libraries"),
    field<&S::version>("version"),
    field<&S::commit>("commit"),
    field<&S::build_type>("build_type"),
};

}  // namespace

Json to_json(const SystemInfo& system) {
  Json object = Json::object();
  for (const SystemField& field : kFields) {
    Json value = field.get(system);
    if (!value.is_null()) object[std::string(field.name)] = std::move(value);
  }
  return object;
}

SystemInfo system_from_json(const Json& json) {
  if (!json.is_object()) throw UserError("must be an object, not {}", json.dump());
  SystemInfo system;
  for (const auto& [key, value] : json.items()) {
    const auto* known = std::ranges::find(kFields, key, &SystemField::name);
    if (known == kFields.end()) throw UserError("has the unknown entry '{}'", key);
    try {
      known->set(system, value);
    } catch (const UserError& error) {
      throw UserError("'{}' {}", key, error.what());
    }
  }
  return system;
}

}  // namespace tacho
