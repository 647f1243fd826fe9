#include "bench/sweep.h"

#include <cassert>

#include "base/error.h"
#include "base/memory.h"
#include "bench/workload.h"
#include "engine/engines.h"
#include "graph/cost.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

constexpr int64_t kDefaultImageBatch = 16;
constexpr int64_t kDefaultVolumeBatch = 1;
constexpr double kMostCells = 100'000;

std::vector<Extents> images_of(const Sweep& sweep, const Model& model) {
  if (sweep.images.empty()) return {model.image};
  std::vector<Extents> images;
  for (const Extents& image : sweep.images) images.push_back(resolve_image(model, image));
  return images;
}

std::vector<int64_t> batches_of(const Sweep& sweep, const Model& model) {
  if (!sweep.batches.empty()) return sweep.batches;
  return {model.image.size() == 3 ? kDefaultVolumeBatch : kDefaultImageBatch};
}

std::vector<int64_t> threads_of(const Sweep& sweep, int64_t devices, int usable_cores) {
  if (!sweep.threads.empty()) return sweep.threads;
  return {std::max<int64_t>(1, usable_cores / devices)};
}

// Before anything is allocated: a mistyped range multiplies quickly.
void check_size(const Sweep& sweep) {
  double cells = 1;
  for (const size_t values :
       {sweep.models.size(), sweep.modes.size(), sweep.engines.size(), sweep.devices.size(),
        sweep.threads.size(), sweep.batches.size(), sweep.images.size()}) {
    cells *= static_cast<double>(std::max<size_t>(values, 1));
  }
  if (cells > kMostCells)
    throw UserError("the axes make {:.0f} cells, at most {:.0f} are run", cells, kMostCells);
}

// The innermost axes: devices, threads, batch.
void append_sizes(const Sweep& sweep, const Model& model, int usable_cores, Case cell,
                  std::vector<Case>& cells) {
  for (int64_t devices : sweep.devices) {
    for (int64_t threads : threads_of(sweep, devices, usable_cores)) {
      for (int64_t batch : batches_of(sweep, model)) {
        cell.devices = static_cast<int>(devices);
        cell.threads = static_cast<int>(threads);
        cell.batch = batch;
        cells.push_back(cell);
      }
    }
  }
}

}  // namespace

std::vector<Case> expand(const Sweep& sweep, int usable_cores) {
  check_size(sweep);
  std::vector<Case> cells;
  Case cell = sweep.shared;
  for (const std::string& name : sweep.models) {
    const Model& model = find_model(name);
    cell.model = name;
    for (const Extents& image : images_of(sweep, model)) {
      cell.image = image;
      for (Mode mode : sweep.modes) {
        cell.mode = mode;
        for (const std::string& engine : sweep.engines) {
          cell.engine = engine;
          append_sizes(sweep, model, usable_cores, cell, cells);
        }
      }
    }
  }
  return cells;
}

void check_case(const Case& cell) {
  check_choices(find_engine(cell.engine), cell.kernel, cell.low_memory && cell.mode == Mode::train);
  if (cell.devices > 1) throw UserError("--devices: several devices are not built yet; use 1");
  build_workload(cell);
}

int check_weights_file(const Case& cell) {
  assert(cell.weights);
  Weights weights = read_safetensors(*cell.weights);
  const Graph graph =
      build_model(find_model(cell.model), {.batch = 1, .image = cell.image, .classes = cell.classes});
  return check_weights(graph, weights, cell.weights->string());
}

double expected_work(const Case& cell) {
  const Workload workload = build_workload(cell);
  if (memory_need_bytes(cell, workload, find_engine(cell.engine)) > total_memory_bytes()) return 0;
  return static_cast<double>(cost_of(workload.graph).flop) * (cell.warmup + cell.repeat);
}

}  // namespace tacho
