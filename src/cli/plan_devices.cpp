#include "cli/plan_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/json_values.h"
#include "capture/bench_record.h"
#include "forecast/device_table.h"
#include "forecast/extrapolation_table.h"
#include "graph/cost.h"
#include "models/zoo.h"
#include "results/fields.h"
#include "results/format.h"

namespace tacho {
namespace {

constexpr int kMostPerNode = 4096;

std::vector<int> parse_devices(std::string_view option, const std::string& text) {
  std::vector<int> counts;
  for (const Json& value : find_field("devices")->axis.parse(option, text))
    counts.push_back(value.get<int>());
  return counts;
}

void check_together(const DeviceOptions& options) {
  if (options.network && options.from) {
    throw UserError("--network and --from exclude each other: a network is given, or its cost is fitted");
  }
  if (!options.network && !options.from) {
    throw UserError(
        "--devices needs --network, as in 10Gbit,25us, or --from with numbers of devices that were measured, "
        "as in 1,8");
  }
  if (options.from && (options.per_node || options.node_network || options.keep)) {
    throw UserError("--per-node, --node-network and --keep go with --network, not with --from");
  }
  if (options.node_network && !options.per_node) {
    throw UserError("--node-network needs --per-node, the devices that share a node");
  }
}

std::vector<int> parse_from(const std::string& text) {
  const std::vector<int> from = parse_devices("--from", text);
  if (std::ranges::all_of(from, [&](int devices) { return devices == from[0]; })) {
    throw UserError("--from '{}': at least two numbers of devices are needed, as in 1,8", text);
  }
  return from;
}

Connections parse_connections(const DeviceOptions& options) {
  Connections connections = {.between_nodes = parse_network_speed("--network", *options.network),
                             .devices_per_node = options.per_node.value_or(1)};
  if (options.node_network) {
    connections.within_node = parse_network_speed("--node-network", *options.node_network);
  }
  return connections;
}

// Of a network of the zoo; 0 for others. Gradients are single precision.
int64_t gradient_bytes(const Record& record) {
  const auto model = std::ranges::find(models(), record.model, &Model::name);
  if (model == models().end()) return 0;
  ModelOptions options;  // of its own image, on which parameters do not depend
  if (record.classes > 0) options.classes = record.classes;
  return parameter_count(build_model(*model, options)) * static_cast<int64_t>(sizeof(float));
}

void note_left_out(std::span<const Record> records, size_t used) {
  const auto trained = static_cast<size_t>(std::ranges::count_if(
      records, [](const Record& record) { return record.mode == "train" && record.devices == 1; }));
  if (trained == used) return;
  fmt::print(stderr,
             "tacho: note: {} of {} results of training on one device are left out: their phases or "
             "gradients are not known\n",
             trained - used, trained);
}

std::vector<DevicePass> device_passes(std::span<const Record> records) {
  std::vector<DevicePass> passes;
  for (const Record& record : records) {
    if (auto pass = device_pass(record, gradient_bytes(record))) passes.push_back(std::move(*pass));
  }
  if (passes.empty()) {
    throw UserError(
        "--devices: none of these results is of training on one device with its phases; `tacho bench MODEL "
        "--mode train` measures that");
  }
  note_left_out(records, passes.size());
  return passes;
}

void keep_records(std::vector<Record> records, const StoreOptions& store, const std::string& command) {
  const std::string run = unique_id();
  for (Record& record : records) {
    record.id = unique_id();
    record.time = utc_now();
    record.run = run;
    record.command = command;
  }
  Store(store_path(store)).add(records);
  fmt::print(stderr, "tacho: note: kept {} simulated results in {} as run {}\n", records.size(),
             store_path(store).string(), shown_id(run));
}

}  // namespace

void add_device_options(Command command, DeviceOptions& options) {
  command.option("--devices", options.devices,
                 "Predict a training step on so many: 1-128*2; needs --network or --from");
  command.option("--network", options.network,
                 "Between devices, bandwidth and latency: 10Gbit,25us or 1.2GB/s,3us");
  command.option("--per-node", options.per_node, "Devices that share a node; --network is then between nodes")
      .range(1, kMostPerNode);
  command.option("--node-network", options.node_network,
                 "Within a node, like --network; default: the memory's measured speed");
  command.option("--from", options.from,
                 "Instead of --network: numbers of devices that were measured, such as 1,8, to be continued");
  command.flag("--keep", options.keep, "Keep the steps as results of the verdict `simulated`");
}

std::optional<DeviceRequest> requested_devices(const DeviceOptions& options) {
  const bool has_more =
      options.network || options.node_network || options.from || options.per_node || options.keep;
  if (!options.devices) {
    if (has_more) throw UserError("--devices is missing: how many are to be predicted, as in 1-128*2");
    return std::nullopt;
  }
  check_together(options);
  DeviceRequest request = {.devices = parse_devices("--devices", *options.devices), .keep = options.keep};
  if (options.from) request.from = parse_from(*options.from);
  if (options.network) request.connections = parse_connections(options);
  return request;
}

std::string predict_devices(const DeviceRequest& request, std::span<const Record> records,
                            const Layout& layout, const StoreOptions& store, const std::string& command) {
  if (!request.from.empty()) return format_extrapolation(records, request.from, request.devices, layout);
  const std::vector<DevicePass> passes = device_passes(records);
  if (request.keep) {
    keep_records(simulated_records(passes, request.devices, request.connections), store, command);
  }
  return format_predicted_steps(passes, request.devices, request.connections, layout);
}

}  // namespace tacho
