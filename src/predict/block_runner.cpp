#include "predict/block_runner.h"

#include <omp.h>

#include <cassert>
#include <exception>
#include <mutex>
#include <utility>

#include "base/cpu.h"
#include "graph/cost.h"
#include "predict/block_plan.h"
#include "volume/pad.h"

namespace tacho {
namespace {

Box moved(Box box, const Point& by) {
  for (size_t axis = 0; axis < by.size(); ++axis) {
    box.begin[axis] += by[axis];
    box.end[axis] += by[axis];
  }
  return box;
}

// The voxels of one channel.
template<typename Float>
std::span<Float> channel(std::span<Float> all, int64_t number, const Box& box) {
  const auto count = static_cast<size_t>(voxels(box));
  return all.subspan(static_cast<size_t>(number) * count, count);
}

// Computes one tile at a time: a plan and what goes in and out of it.
struct TileWorker {
  std::unique_ptr<Plan> plan;
  std::vector<Tensor> inputs;  // those of the stage, then the bounds of its fences
  Tensor output;
};

struct CompiledStage {
  const PlannedStage* planned;
  std::vector<TileWorker> workers;
  double flop = 0;  // of a tile
};

// The weights that a graph names.
Weights weights_of(const Graph& graph, const Weights& all) {
  Weights used;
  for (const ValueId id : graph.weights()) {
    const std::string& name = graph.value(id).name;
    used.emplace(name, all.at(name).clone());
  }
  return used;
}

TileWorker compiled_worker(const Graph& graph, const Weights& weights, const Engine& engine,
                           const CompileOptions& options) {
  TileWorker worker{engine.compile(graph, weights_of(graph, weights), options), {}, {}};
  for (const ValueId id : graph.inputs) worker.inputs.emplace_back(graph.shape(id), graph.value(id).dtype);
  worker.output = Tensor(graph.shape(graph.outputs[0]), DType::f32);
  return worker;
}

CompiledStage compiled(const PlannedStage& planned, const Weights& weights, const Engine& engine,
                       const CompileOptions& options) {
  const Graph& graph = planned.network.graph;
  CompiledStage stage{&planned, {}, static_cast<double>(cost_of(graph).flop)};
  for (int i = 0; i < planned.tiles_at_once; ++i)
    stage.workers.push_back(compiled_worker(graph, weights, engine, options));
  return stage;
}

// Of what is thrown in a parallel region, which nothing may leave.
class FirstError {
 public:
  template<typename Work>
  void catch_in(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

std::vector<Point> tile_origins(const PlannedStage& planned, const Box& region) {
  Point first;
  for (size_t axis = 0; axis < first.size(); ++axis)
    first[axis] =
        planned.whole[axis] ? 0 : floor_div(region.begin[axis], planned.period[axis]) * planned.period[axis];
  std::vector<Point> origins;
  for (int64_t z = first[0]; z < region.end[0]; z += planned.tile[0])
    for (int64_t y = first[1]; y < region.end[1]; y += planned.tile[1])
      for (int64_t x = first[2]; x < region.end[2]; x += planned.tile[2]) origins.push_back({z, y, x});
  return origins;
}

}  // namespace

struct BlockRunner::State {
  BlockPlan plan;
  BlockCost cost;
  std::vector<CompiledStage> stages;
  double flop_done = 0;
  std::vector<std::vector<float>> buffers;  // by the network's value: what stages hand on

  State(const Graph& network, const Engine& engine, const CompileOptions& options, const Point& volume,
        const BlockOptions& block)
      : plan(network, engine, options, volume, block), cost(plan.cost()) {}

  void compile(const Weights& weights, const Engine& engine, const CompileOptions& options) {
    buffers.resize(plan.network().values.size());
    for (const PlannedStage& planned : plan.stages()) {
      stages.push_back(compiled(planned, weights, engine, plan.options_of(planned)));
      const ValueId id = planned.stage.nodes.output;
      if (id != plan.output())
        buffers[static_cast<size_t>(id)].resize(
            static_cast<size_t>(plan.channels(id) * voxels(plan.largest(id))));
    }
    use_threads(options.threads);  // a worker's compilation left one in use
  }

  Point shift(const PlannedStage& planned, const Point& origin, ValueId value) const {
    return planned.shift(origin, plan.cell(planned.stage.nodes.output), plan.cell(value));
  }

  // What a tile reads of the values that are there; beyond them are zeros.
  void give(const PlannedStage& planned, TileWorker& worker, const Point& origin,
            const BlockPlan::Regions& regions, std::span<const float> input) const {
    const TileNetwork& tile = planned.network;
    for (size_t i = 0; i < tile.inputs.size(); ++i) {
      const ValueId id = planned.stage.inputs[i];
      const Box& region = regions[static_cast<size_t>(id)];
      const Box box = moved(tile.inputs[i], shift(planned, origin, id));
      const std::span<const float> from = id == plan.input() ? input : buffers[static_cast<size_t>(id)];
      for (int64_t c = 0; c < plan.channels(id); ++c)
        place_into(box, region, channel(from, c, region), channel(worker.inputs[i].values<float>(), c, box));
      worker.plan->write(tile.graph.inputs[i], worker.inputs[i]);
    }
  }

  void set_fences(const PlannedStage& planned, TileWorker& worker, const Point& origin) const {
    const TileNetwork& tile = planned.network;
    for (size_t i = 0; i < tile.fences.size(); ++i) {
      const TileFence& fence = tile.fences[i];
      const Point by = shift(planned, origin, fence.value);
      Tensor& tensor = worker.inputs[tile.inputs.size() + i];
      const auto bounds = tensor.values<int64_t>();
      for (size_t axis = 0; axis < by.size(); ++axis) {
        bounds[axis] = -(fence.begin[axis] + by[axis]);
        bounds[by.size() + axis] = bounds[axis] + plan.network().shape(fence.value)[axis + 2];
      }
      worker.plan->write(fence.bounds, tensor);
    }
  }

  // One tile of a stage, of which the part inside of its region goes to `result`.
  void run_tile(const PlannedStage& planned, TileWorker& worker, const Point& origin,
                const BlockPlan::Regions& regions, std::span<const float> input,
                std::span<float> result) const {
    give(planned, worker, origin, regions, input);
    set_fences(planned, worker, origin);
    worker.plan->forward();
    const TileNetwork& tile = planned.network;
    worker.plan->read_into(tile.graph.outputs[0], worker.output);
    const ValueId id = planned.stage.nodes.output;
    const Box& region = regions[static_cast<size_t>(id)];
    const Box part = intersection(moved(whole(planned.tile), origin), region);
    const Box box = moved(tile.output, origin);
    const std::span<const float> values = std::as_const(worker.output).values<float>();
    for (int64_t c = 0; c < plan.channels(id); ++c)
      copy_part(part, box, channel(values, c, box), region, channel(result, c, region));
  }

  void run_stage(CompiledStage& stage, const BlockPlan::Regions& regions, std::span<const float> input,
                 std::span<float> result) {
    const PlannedStage& planned = *stage.planned;
    const std::vector<Point> origins =
        tile_origins(planned, regions[static_cast<size_t>(planned.stage.nodes.output)]);
    if (stage.workers.size() == 1) {
      for (const Point& origin : origins) run_tile(planned, stage.workers[0], origin, regions, input, result);
    } else {
      FirstError error;
#pragma omp parallel for schedule(dynamic) num_threads(planned.tiles_at_once)
      for (const Point& origin : origins) {
        TileWorker& worker = stage.workers[static_cast<size_t>(omp_get_thread_num())];
        error.catch_in([&] { run_tile(planned, worker, origin, regions, input, result); });
      }
      error.rethrow();
    }
    flop_done += stage.flop * static_cast<double>(origins.size());
  }
};

BlockCost estimate_block(const Graph& network, const Engine& engine, const CompileOptions& options,
                         const Point& volume, const BlockOptions& block) {
  return BlockPlan(network, engine, options, volume, block).cost();
}

BlockRunner::BlockRunner(const Graph& network, const Weights& weights, const Engine& engine,
                         const CompileOptions& options, const Point& volume, const BlockOptions& block)
    : state_(std::make_unique<State>(network, engine, options, volume, block)) {
  state_->compile(weights, engine, options);
}

BlockRunner::~BlockRunner() = default;
BlockRunner::BlockRunner(BlockRunner&&) noexcept = default;
BlockRunner& BlockRunner::operator=(BlockRunner&&) noexcept = default;

Box BlockRunner::input_box(const Box& output) const {
  const BlockPlan& plan = state_->plan;
  return moved(plan.regions(output)[static_cast<size_t>(plan.input())], plan.origin(output));
}

int64_t BlockRunner::largest_input() const { return voxels(state_->plan.largest(state_->plan.input())); }

void BlockRunner::run(const Box& output, std::span<const float> input, std::span<float> result) {
  const BlockPlan& plan = state_->plan;
  assert(std::ssize(result) == channels() * voxels(output));
  const BlockPlan::Regions regions = plan.regions(output);
  for (CompiledStage& stage : state_->stages) {
    const ValueId id = stage.planned->stage.nodes.output;
    const bool last = id == plan.output();
    state_->run_stage(stage, regions, input, last ? result : state_->buffers[static_cast<size_t>(id)]);
  }
}

int64_t BlockRunner::channels() const { return state_->plan.channels(state_->plan.output()); }

double BlockRunner::flop_done() const { return state_->flop_done; }

int64_t BlockRunner::memory_bytes() const {
  int64_t bytes = state_->plan.buffer_bytes();
  for (const CompiledStage& stage : state_->stages) {
    for (const TileWorker& worker : stage.workers) bytes += worker.plan->memory_bytes();
  }
  return bytes;
}

const BlockCost& BlockRunner::cost() const { return state_->cost; }

}  // namespace tacho
