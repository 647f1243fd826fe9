#include "forecast/device_case.h"

#include <fmt/format.h>

#include "results/fields.h"

namespace tacho {

Record without_devices(Record record) {
  record.devices = record.nodes = record.bucket_mib = 0;
  record.batch_total = 0;
  record.parallel.clear();
  return record;
}

std::string text_of_case(const Record& record) {
  const Record shared = without_devices(record);
  std::string text;
  for (const Field& field : fields()) {
    const bool of_case =
        field.role == FieldRole::subject || field.role == FieldRole::work || field.role == FieldRole::means;
    if (!of_case || field.column == Column::never) continue;
    const std::string value = field.text(shared);
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.header, value);
  }
  return fmt::format("{}: {}", record.system.name, text);
}

}  // namespace tacho
