#include <cmath>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/plan_devices.h"
#include "cli/store_options.h"
#include "forecast/forecast_table.h"
#include "forecast/volume_table.h"

namespace tacho {
namespace {

constexpr double kLargestJob = 1e15;

struct PlanOptions {
  StoreOptions store;
  OutputOptions output;
  std::vector<std::string> names = {"this"};
  std::string model;  // empty: all
  std::optional<std::string> iterations, epochs, images, voxels;
  std::optional<double> price_per_hour;
  DeviceOptions devices;
};

std::optional<double> quantity(std::string_view option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto value = parse_quantity(*text);
  if (!value || *value < 1 || *value > kLargestJob || *value != std::floor(*value)) {
    throw UserError("{} '{}': must be a whole number from 1 to 1000T, such as 50000, 100k or 8.1T", option,
                    *text);
  }
  return value;
}

JobSize job_size(const PlanOptions& options) {
  const JobSize job = {.iterations = quantity("--iterations", options.iterations),
                       .epochs = quantity("--epochs", options.epochs),
                       .images = quantity("--images", options.images),
                       .voxels = quantity("--voxels", options.voxels)};
  if (job.epochs && !job.images) throw UserError("--epochs needs --images, the images of one epoch");
  return job;
}

std::vector<Record> records_of(const PlanOptions& options) {
  std::vector<Record> records;
  std::set<std::string> seen;
  for (Selection& selection : select_all(options.names, options.store)) {
    for (Record& record : selection.records) {
      const bool wanted = options.model.empty() || record.model == options.model;
      if (wanted && seen.insert(record.id).second) records.push_back(std::move(record));
    }
  }
  return records;
}

std::string plan_text(const PlanOptions& options, const std::string& command) {
  const Layout layout = chosen_layout(options.output);
  const JobSize job = job_size(options);
  const std::optional<DeviceRequest> devices = requested_devices(options.devices);
  const std::vector<Record> records = records_of(options);
  if (options.price_per_hour && (!std::isfinite(*options.price_per_hour) || *options.price_per_hour < 0)) {
    throw UserError("--price {}: must be a number from 0 on", *options.price_per_hour);
  }
  const bool has_job = job.iterations || job.images || job.voxels;
  if (devices && (has_job || options.price_per_hour))
    throw UserError("--devices predicts one step; leave out the job and its price");
  if (devices) return predict_devices(*devices, records, layout, options.store, command);
  if (options.price_per_hour && !has_job)
    throw UserError("--price needs a job: --iterations, --images or --voxels");
  return has_job ? format_forecast(records, job, options.price_per_hour, layout)
                 : format_volume_extrapolation(records, layout);
}

void add_job_options(Command command, PlanOptions& options) {
  command.option("--iterations", options.iterations, "Of training, such as 100k");
  command.option("--epochs", options.epochs, "Of training, each over --images");
  command.option("--images", options.images, "To run through the network, such as 1.28M");
  command.option("--voxels", options.voxels, "Of a volume, such as 8.1T");
  command.option("--price", options.price_per_hour,
                 "Of the machine per hour; the cost is shown beside the time");
}

}  // namespace

void add_plan_command(Command app, CommandContext& context) {
  auto options = std::make_shared<PlanOptions>();
  Command command = app.subcommand(
      "plan",
      "How long a job takes and what it costs, or a step on many devices, from what was measured; without "
      "either, the EMBL table");
  command.option("names", options->names, kSelectionHelp).show_default();
  add_job_options(command, *options);
  add_device_options(command, options->devices);
  command.option("--model", options->model, "Only this network");
  add_store_options(command, options->store);
  add_output_options(command, options->output);
  command.on_run([options, &context] {
    check_output(options->output);
    write_output(options->output, plan_text(*options, context.command));
  });
}

}  // namespace tacho
