#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/store_options.h"
#include "forecast/exchange.h"
#include "report/table.h"

namespace tacho {

struct DeviceOptions {
  std::optional<std::string> devices, network, node_network, from;
  std::optional<int> per_node;
  bool keep = false;
};

void add_device_options(Command command, DeviceOptions& options);

// Steps to be predicted: over a network from one device's pass, or as a continuation of what is known.
struct DeviceRequest {
  std::vector<int> devices;
  std::vector<int> from = {};  // empty: over `connections`
  Connections connections = {};
  bool keep = false;
};

// Nothing without --devices. Throws UserError for options that do not go together.
std::optional<DeviceRequest> requested_devices(const DeviceOptions& options);

// The text that answers it; what is to be kept is kept as a run of `command`.
std::string predict_devices(const DeviceRequest& request, std::span<const Record> records,
                            const Layout& layout, const StoreOptions& store, const std::string& command);

}  // namespace tacho
