#pragma once

#include <span>
#include <string>
#include <vector>

#include "forecast/device_step.h"
#include "report/table.h"

namespace tacho {

// Where a node's devices meet in its memory and nothing else is given: each has its share of the memory's
// measured speed, without latency. Nothing changes where that was not measured.
Connections at_memory_speed(Connections connections, const SystemInfo& system);

// For each pass, step time and throughput on each number of devices, under lines that say what they rest on.
std::string format_predicted_steps(std::span<const DevicePass> passes, std::span<const int> devices,
                                   const Connections& connections, const Layout& layout);

// The same as records of the verdict `simulated`, still without id, time and run. One device was measured,
// and has none.
std::vector<Record> simulated_records(std::span<const DevicePass> passes, std::span<const int> devices,
                                      const Connections& connections);

}  // namespace tacho
