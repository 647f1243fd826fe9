#include "capture/scaling.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "results/fields.h"

namespace tacho {
namespace {

int64_t images_of(const Record& record) {
  return record.batch_total > 0 ? record.batch_total : record.batch * record.devices;
}

// Everything but what is shared out among devices.
Record without_sharing(Record record) {
  record.devices = 1;
  record.nodes = 0;
  record.batch = record.batch_total = 0;
  record.bucket_mib = 0;
  if (record.parallel != "scatter") record.parallel.clear();
  record.batch_norm.clear();
  return record;
}

struct Part {
  std::string_view name;
  std::optional<double> Record::*ms;
};

// In the order of a pass.
constexpr std::array kParts = {
    Part{"scatter", &Record::scatter_ms},
    Part{"slower forward", &Record::forward_ms},
    Part{"slower backward", &Record::backward_ms},
    Part{"exposed all-reduce", &Record::exposed_allreduce_ms},
    Part{"wait for the slowest", &Record::wait_ms},
    Part{"slower update", &Record::update_ms},
    Part{"gather", &Record::gather_ms},
};

}  // namespace

const Record* find_one_device(const Record& record, std::span<const Record> records) {
  if (record.devices < 2) return nullptr;
  const Record alike = without_sharing(record);
  const auto found = std::ranges::find_if(records, [&](const Record& one) {
    return one.devices == 1 && (one.batch == record.batch || images_of(one) == images_of(record)) &&
           agree(without_sharing(one), alike, {FieldRole::subject, FieldRole::work, FieldRole::means});
  });
  return found == records.end() ? nullptr : &*found;
}

void add_scaling(const Record& one_device, Record& record) {
  const bool shares_cores = record.judgement.verdict == Verdict::oversubscribed ||
                            one_device.judgement.verdict == Verdict::oversubscribed;
  if (shares_cores || !record.images_per_s || !one_device.images_per_s || !record.median_ms) return;
  record.speedup = *record.images_per_s / *one_device.images_per_s;
  // Of one device's time each has its share, where they compute the one's batch together.
  const double share = images_of(one_device) == images_of(record) ? 1.0 / record.devices : 1;
  for (const Part& part : kParts) {
    const auto& ms = record.*part.ms;
    if (!ms) continue;
    // Inference of one device is nothing but its forward pass.
    const bool is_forward = part.ms == &Record::forward_ms;
    const double alone = (one_device.*part.ms).value_or(is_forward ? one_device.median_ms.value_or(0) : 0);
    record.lost_ms[std::string(part.name)] = *ms - share * alone;
  }
}

}  // namespace tacho
