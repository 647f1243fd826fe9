#pragma once

#include <optional>
#include <span>

#include "results/record.h"

namespace tacho {

// Images of one pass over all devices; 0 where that is not known.
int64_t images_per_pass(const Record& record);

using Rate = std::optional<double>(const Record& record);

// Images a second of all devices, corrected where the published figure is wrong.
std::optional<double> overall_rate(const Record& record);
// The same by the time of one phase. The backward phase is all that follows the forward pass in training,
// with exchange, waiting and update, as published tables split a step.
std::optional<double> forward_rate(const Record& record);
std::optional<double> backward_rate(const Record& record);

// How many times the rate of one device. Nothing where a rate is not known, or where one of them is
// oversubscribed: devices that share cores are no devices.
std::optional<double> speedup_of(const Record& record, const Record& one_device, Rate& rate = overall_rate);

// What stays the same while devices are added.
enum class Held { batch_per_device, batch_in_total };

// Of `records` the one that measured the same work on one device of the same kind, by the most similar means;
// null where there is none.
const Record* on_one_device(const Record& record, std::span<const Record> records, Held held);

}  // namespace tacho
