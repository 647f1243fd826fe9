#include "predict/block_runner.h"

#include <cassert>

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

// A stage with its plan and what goes in and out of that.
struct CompiledStage {
  const PlannedStage* planned;
  std::unique_ptr<Plan> plan;
  std::vector<Tensor> inputs;  // those of the stage, then the bounds of its fences
  Tensor output;
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

CompiledStage compiled(const PlannedStage& planned, const Weights& weights, const Engine& engine,
                       const CompileOptions& options) {
  const Graph& graph = planned.network.graph;
  CompiledStage stage{&planned, engine.compile(graph, weights_of(graph, weights), options), {}, {}, 0};
  for (const ValueId id : graph.inputs) stage.inputs.emplace_back(graph.shape(id), graph.value(id).dtype);
  stage.output = Tensor(graph.shape(graph.outputs[0]), DType::f32);
  stage.flop = static_cast<double>(cost_of(graph).flop);
  return stage;
}

}  // namespace

struct BlockRunner::State {
  BlockPlan plan;
  BlockCost cost;
  std::vector<CompiledStage> stages;
  double flop_done = 0;
  std::vector<std::vector<float>> buffers;  // by the network's value: what stages hand on

  State(const Graph& network, const Point& volume, const BlockOptions& block)
      : plan(network, volume, block) {}

  void compile(const Weights& weights, const Engine& engine, const CompileOptions& options) {
    cost = plan.cost(engine, options);
    buffers.resize(plan.network().values.size());
    for (const PlannedStage& planned : plan.stages()) {
      stages.push_back(compiled(planned, weights, engine, options));
      const ValueId id = planned.stage.nodes.output;
      if (id != plan.output())
        buffers[static_cast<size_t>(id)].resize(
            static_cast<size_t>(plan.channels(id) * voxels(plan.largest(id))));
    }
  }

  Point shift(const PlannedStage& planned, const Point& origin, ValueId value) const {
    return planned.shift(origin, plan.cell(planned.stage.nodes.output), plan.cell(value));
  }

  // What a tile reads of the values that are there; beyond them are zeros.
  void give(CompiledStage& stage, const Point& origin, const BlockPlan::Regions& regions,
            std::span<const float> input) const {
    const TileNetwork& tile = stage.planned->network;
    for (size_t i = 0; i < tile.inputs.size(); ++i) {
      const ValueId id = stage.planned->stage.inputs[i];
      const Box& region = regions[static_cast<size_t>(id)];
      const Box box = moved(tile.inputs[i], shift(*stage.planned, origin, id));
      const std::span<const float> from = id == plan.input() ? input : buffers[static_cast<size_t>(id)];
      for (int64_t c = 0; c < plan.channels(id); ++c)
        place_into(box, region, channel(from, c, region), channel(stage.inputs[i].values<float>(), c, box));
      stage.plan->write(tile.graph.inputs[i], stage.inputs[i]);
    }
  }

  void set_fences(CompiledStage& stage, const Point& origin) const {
    const TileNetwork& tile = stage.planned->network;
    for (size_t i = 0; i < tile.fences.size(); ++i) {
      const TileFence& fence = tile.fences[i];
      const Point by = shift(*stage.planned, origin, fence.value);
      Tensor& tensor = stage.inputs[tile.inputs.size() + i];
      const auto bounds = tensor.values<int64_t>();
      for (size_t axis = 0; axis < by.size(); ++axis) {
        bounds[axis] = -(fence.begin[axis] + by[axis]);
        bounds[by.size() + axis] = bounds[axis] + plan.network().shape(fence.value)[axis + 2];
      }
      stage.plan->write(fence.bounds, tensor);
    }
  }

  // One tile of a stage, of which the part inside of `region` goes to `result`.
  void run_tile(CompiledStage& stage, const Point& origin, const BlockPlan::Regions& regions,
                std::span<const float> input, std::span<float> result) {
    give(stage, origin, regions, input);
    set_fences(stage, origin);
    stage.plan->forward();
    flop_done += stage.flop;
    const TileNetwork& tile = stage.planned->network;
    stage.plan->read_into(tile.graph.outputs[0], stage.output);
    const ValueId id = stage.planned->stage.nodes.output;
    const Box& region = regions[static_cast<size_t>(id)];
    const Box part = intersection(moved(whole(stage.planned->tile), origin), region);
    const Box box = moved(tile.output, origin);
    const std::span<const float> values = stage.output.values<float>();
    for (int64_t c = 0; c < plan.channels(id); ++c)
      copy_part(part, box, channel(values, c, box), region, channel(result, c, region));
  }

  void run_stage(CompiledStage& stage, const BlockPlan::Regions& regions, std::span<const float> input,
                 std::span<float> result) {
    const PlannedStage& planned = *stage.planned;
    const Box& region = regions[static_cast<size_t>(planned.stage.nodes.output)];
    Point first;
    for (size_t axis = 0; axis < first.size(); ++axis)
      first[axis] = planned.whole[axis]
                        ? 0
                        : floor_div(region.begin[axis], planned.period[axis]) * planned.period[axis];
    for (int64_t z = first[0]; z < region.end[0]; z += planned.tile[0])
      for (int64_t y = first[1]; y < region.end[1]; y += planned.tile[1])
        for (int64_t x = first[2]; x < region.end[2]; x += planned.tile[2])
          run_tile(stage, {z, y, x}, regions, input, result);
  }
};

BlockCost estimate_block(const Graph& network, const Engine& engine, const CompileOptions& options,
                         const Point& volume, const BlockOptions& block) {
  return BlockPlan(network, volume, block).cost(engine, options);
}

BlockRunner::BlockRunner(const Graph& network, const Weights& weights, const Engine& engine,
                         const CompileOptions& options, const Point& volume, const BlockOptions& block)
    : state_(std::make_unique<State>(network, volume, block)) {
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
  for (const CompiledStage& stage : state_->stages) bytes += stage.plan->memory_bytes();
  return bytes;
}

const BlockCost& BlockRunner::cost() const { return state_->cost; }

}  // namespace tacho
