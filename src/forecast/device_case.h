#pragma once

#include <string>

#include "results/record.h"

namespace tacho {

// The same case on any number of devices: without that number and how they share the work.
Record without_devices(Record record);

// Where it was measured and what: "host: model resnet50, mode train, batch 32", whatever the devices.
std::string text_of_case(const Record& record);

}  // namespace tacho
