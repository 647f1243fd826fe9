#include <omp.h>

#include <limits>

#include "kernels/direct/accumulate_avx2.h"
#include "kernels/direct/avx2.h"
#include "kernels/direct/forward_plan.h"

namespace tacho::direct {
namespace {

constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

class Panel {
 public:
  Panel(const Convolution& convolution, const ForwardPlan& plan, const ForwardArguments& arguments,
        int64_t index, Step* steps)
      : convolution_(convolution),
        plan_(plan),
        arguments_(arguments),
        size_(plan.panel_begin(index + 1) - plan.panel_begin(index)) {
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
    const bool first = chunk == 0, last = chunk + 1 == packed.chunks;
    const int64_t dst_offset = 2 * slice * plan_.dst.block_stride;
    float* dst = arguments_.dst + dst_offset;
    alignas(32) float bias[kSliceChannels] = {};
    if (last && arguments_.bias != nullptr) {
      const int64_t channel = slice * kSliceChannels;
      std::copy_n(arguments_.bias + channel, std::min(kSliceChannels, convolution_.out_channels - channel),
                  bias);
    }
    const float* residual = arguments_.residual == nullptr ? nullptr : arguments_.residual + dst_offset;
    const Accumulation task = {
        .src = arguments_.src + packed.chunk_begin(chunk) * plan_.src.block_stride,
        .weights = arguments_.packed_weights + packed.slice_offset(chunk, slice),
        .channel_blocks = packed.chunk_blocks(chunk),
        .begin_with = first ? residual : dst,
        .bias = bias,
        .floor = last && arguments_.relu ? 0 : kNoFloor,
        .dst = dst,
        .dst_block_stride = plan_.dst.block_stride,
    };
    const int vectors = 2 * slice + 1 < plan_.dst.blocks ? 2 : 1;
    const float* next_weights = task.weights + task.channel_blocks * packed.block_stride;
    const int64_t prefetched = packed.block_stride * task.channel_blocks / kLanes;
    for (int64_t i = 0; i < size_; ++i) {
      const PositionBlock& block = blocks_[i];
      kAccumulate[vectors - 1][block.count - 1](task, block, next_weights + i % kLanes * prefetched);
    }
  }

  const Convolution& convolution_;
  const ForwardPlan& plan_;
  const ForwardArguments& arguments_;
  int64_t size_;
  std::array<PositionBlock, kMaxPanelBlocks> blocks_;
};

}  // namespace

void forward_f32_avx2(const Convolution& convolution, const ForwardArguments& arguments, float* scratch,
                      int threads) {
  const ForwardPlan plan(convolution, threads);
#pragma omp parallel for collapse(2) num_threads(threads) schedule(dynamic)
  for (int64_t index = 0; index < plan.panels; ++index) {
    for (int64_t group = 0; group < plan.groups; ++group) {
      Step* steps = reinterpret_cast<Step*>(scratch) + omp_get_thread_num() * plan.steps;
      const Panel panel(convolution, plan, arguments, index, steps);
      panel.run(plan.group_begin(group), plan.group_begin(group + 1));
    }
  }
}

}  // namespace tacho::direct
