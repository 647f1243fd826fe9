#include "capture/scaling.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "results/speedup.h"

namespace tacho {
namespace {

struct RecordPart {
  std::string_view name;
  std::optional<double> Record::*ms;
};

// In the order of a pass.
constexpr std::array kParts = {
    RecordPart{"scatter", &Record::scatter_ms},
    RecordPart{"slower forward", &Record::forward_ms},
    RecordPart{"slower backward", &Record::backward_ms},
    RecordPart{"exposed all-reduce", &Record::exposed_allreduce_ms},
    RecordPart{"wait for the slowest", &Record::wait_ms},
    RecordPart{"slower update", &Record::update_ms},
    RecordPart{"gather", &Record::gather_ms},
};

// `share`: what each device has of the one's work.
void add_losses(const Record& one_device, double share, Record& record) {
  for (const RecordPart& part : kParts) {
    const auto& ms = record.*part.ms;
    if (!ms) continue;
    // Inference of one device is nothing but its forward pass.
    const bool is_forward = part.ms == &Record::forward_ms;
    const double alone = (one_device.*part.ms).value_or(is_forward ? one_device.median_ms.value_or(0) : 0);
    record.lost_ms[std::string(part.name)] = *ms - share * alone;
  }
}

}  // namespace

void add_scaling(std::span<const Record> records, Record& record) {
  if (record.devices < 2) return;
  for (const auto& [held, share] :
       {std::pair{Held::batch_per_device, 1.0}, std::pair{Held::batch_in_total, 1.0 / record.devices}}) {
    const Record* one = on_one_device(record, records, held);
    if (one == nullptr) continue;
    record.speedup = speedup_of(record, *one);
    if (record.speedup) add_losses(*one, share, record);
    return;
  }
}

}  // namespace tacho
