#include <omp.h>

#include <limits>

#include "kernels/direct/accumulate.h"
#include "kernels/direct/stages.h"

namespace tacho::direct::TACHO_ISA {
namespace {

constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

class Panel {
 public:
  Panel(const GatherPlan& plan, const GatherArguments& arguments, int64_t index, Step* steps)
      : plan_(plan), arguments_(arguments), size_(plan.panel_begin(index + 1) - plan.panel_begin(index)) {
    plan.positions.list(plan.panel_begin(index), plan.panel_begin(index + 1), steps, blocks_.data());
  }

  void run(int64_t slice_begin, int64_t slice_end) const {
    for (int64_t chunk = 0; chunk < plan_.packed.chunks; ++chunk) {
      for (int64_t slice = slice_begin; slice < slice_end; ++slice) run_slice(chunk, slice);
    }
  }

 private:
  void run_slice(int64_t chunk, int64_t slice) const {
    const PackedLayout& packed = plan_.packed;
    const ActivationLayout &read = plan_.positions.read(), &written = plan_.positions.written();
    const bool first = chunk == 0, last = chunk + 1 == packed.chunks;
    const int64_t offset = slice * kSliceVectors * written.block_stride;
    const auto of_slice = [&](const float* whole) { return whole == nullptr ? nullptr : whole + offset; };
    float* const sums = arguments_.written + offset;
    alignas(Vector) float bias[kSliceChannels] = {};
    if (last && arguments_.bias != nullptr) {
      const int64_t channel = slice * kSliceChannels;
      std::copy_n(arguments_.bias + channel, std::min(kSliceChannels, packed.written_channels - channel),
                  bias);
    }
    const Accumulation task = {
        .read = arguments_.read + packed.chunk_begin(chunk) * read.block_stride,
        .weights = arguments_.packed_weights + packed.slice_offset(chunk, slice),
        .channel_blocks = packed.chunk_blocks(chunk),
        .begin_with = first ? of_slice(arguments_.residual) : sums,
        .bias = bias,
        .floor = last && arguments_.relu ? 0 : kNoFloor,
        .mask = last ? of_slice(arguments_.mask) : nullptr,
        .written = sums,
        .written_block_stride = written.block_stride,
    };
    const int64_t vectors = std::min(kSliceVectors, written.blocks - slice * kSliceVectors);
    const float* next_weights = task.weights + task.channel_blocks * packed.block_stride;
    const int64_t prefetched = packed.block_stride * task.channel_blocks / kLanes;
    for (int64_t i = 0; i < size_; ++i) {
      const PositionBlock& block = blocks_[i];
      kAccumulate[block.count - 1][vectors - 1](task, block, next_weights + i % kLanes * prefetched);
    }
  }

  const GatherPlan& plan_;
  const GatherArguments& arguments_;
  int64_t size_;
  std::array<PositionBlock, kMaxPanelBlocks> blocks_;
};

}  // namespace

void run_gather(const GatherPlan& plan, const GatherArguments& arguments, float* scratch, int threads) {
#pragma omp parallel for collapse(2) num_threads(threads) schedule(dynamic)
  for (int64_t index = 0; index < plan.panels; ++index) {
    for (int64_t group = 0; group < plan.groups; ++group) {
      Step* steps = reinterpret_cast<Step*>(scratch) + omp_get_thread_num() * plan.steps;
      const Panel panel(plan, arguments, index, steps);
      panel.run(plan.group_begin(group), plan.group_begin(group + 1));
    }
  }
}

}  // namespace tacho::direct::TACHO_ISA
