#include "forecast/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "results/correction.h"
#include "results/speedup.h"

namespace tacho {
namespace {

std::optional<UnitTime> scaled(std::optional<UnitTime> time, double factor) {
  if (!time) return std::nullopt;
  time->seconds *= factor;
  if (time->interval) {
    time->interval->low *= factor;
    time->interval->high *= factor;
  }
  return time;
}

std::optional<UnitTime> per(const std::optional<double>& rate) {
  if (!rate || *rate <= 0) return std::nullopt;
  return UnitTime{.seconds = 1 / *rate};
}

// A long job is many passes, so their mean counts, outliers included; drift may go on either way.
std::optional<UnitTime> pass_time(const Record& record) {
  if (record.samples_ms.empty()) {
    const auto ms = record.median_ms ? record.median_ms : record.mean_ms;
    return ms ? std::optional(UnitTime{.seconds = *ms / 1e3}) : std::nullopt;
  }
  UnitTime time = {.seconds = mean(record.samples_ms) / 1e3};
  if (auto interval = mean_interval(record.samples_ms)) {
    if (interval->low <= 0) return time;  // so few or so wild that no interval says anything
    const double widen = 1 + std::abs(drift_percent(record.samples_ms).value_or(0)) / 200;
    time.interval = {interval->low / widen / 1e3, interval->high * widen / 1e3};
  }
  return time;
}

std::optional<double> voxels_per_image(const Record& record) {
  const std::vector<std::string> axes = split(record.image, 'x');
  if (axes.size() != 3) return std::nullopt;
  double voxels = 1;
  for (const std::string& axis : axes) voxels *= static_cast<double>(parse_integer(axis).value_or(0));
  return voxels > 0 ? std::optional(voxels) : std::nullopt;
}

std::string number(double value) { return format_thousands(std::llround(value)); }

// What a training time leaves out or includes beyond forward, backward and update.
std::string training_basis(const Record& record, std::string_view more) {
  const auto includes = [&](std::string_view what) {
    return std::ranges::find(record.time_includes, what) != record.time_includes.end();
  };
  std::string basis(more);
  const auto add = [&](std::string_view text) {
    basis += fmt::format("{}{}", basis.empty() ? "" : "; ", text);
  };
  if (!includes("update")) add("without the update");
  if (includes("validation")) add("with validation");
  return basis;
}

void add_training(const Record& record, const JobSize& job, std::vector<Estimate>& estimates) {
  if (const auto time = iteration_time(record); time && job.iterations) {
    estimates.push_back({fmt::format("{} iterations", number(*job.iterations)), *job.iterations, *time,
                         training_basis(record, "")});
  }
  if (!job.epochs || !job.images) return;
  const std::string what = fmt::format("{} epochs of {} images", number(*job.epochs), number(*job.images));
  const auto batch = static_cast<double>(images_per_pass(record));
  if (const auto time = iteration_time(record); time && batch > 0) {
    estimates.push_back(
        {what, *job.epochs * std::ceil(*job.images / batch), *time, training_basis(record, "no evaluation")});
  } else if (const auto image = image_time(record)) {
    estimates.push_back({what, *job.epochs * *job.images, *image, training_basis(record, "")});
  }
}

void add_inference(const Record& record, const JobSize& job, std::vector<Estimate>& estimates) {
  if (const auto time = image_time(record); time && job.images && !job.epochs) {
    estimates.push_back({fmt::format("{} images", number(*job.images)), *job.images, *time});
  }
  if (const auto time = voxel_time(record); time && job.voxels) {
    const bool network_alone = !record.output_mvox_per_s;
    estimates.push_back({fmt::format("{} voxels", number(*job.voxels)), *job.voxels, *time,
                         network_alone ? "the network alone: no halo, reading or writing" : ""});
  }
}

}  // namespace

std::optional<UnitTime> iteration_time(const Record& record) {
  if (record.mode != "train") return std::nullopt;
  if (const auto rate = corrected_figure(record, "iterations_per_min", record.iterations_per_min)) {
    return scaled(per(rate), 60);
  }
  if (record.kind == "train" && record.seconds && record.iterations.value_or(0) > 0) {
    return UnitTime{.seconds = *record.seconds / static_cast<double>(*record.iterations)};
  }
  return pass_time(record);
}

std::optional<UnitTime> image_time(const Record& record) {
  const auto batch = static_cast<double>(images_per_pass(record));
  if (const auto time = pass_time(record); time && batch > 0) return scaled(time, 1 / batch);
  return per(corrected_figure(record, "images_per_s", record.images_per_s));
}

std::optional<UnitTime> voxel_time(const Record& record) {
  if (const auto rate = corrected_figure(record, "output_mvox_per_s", record.output_mvox_per_s)) {
    return scaled(per(rate), 1e-6);
  }
  const auto voxels = voxels_per_image(record);
  const auto time = image_time(record);
  return voxels && time && record.mode == "infer" ? scaled(time, 1 / *voxels) : std::nullopt;
}

std::vector<Estimate> estimate(const Record& record, const JobSize& job) {
  std::vector<Estimate> estimates;
  record.mode == "train" ? add_training(record, job, estimates) : add_inference(record, job, estimates);
  return estimates;
}

}  // namespace tacho
