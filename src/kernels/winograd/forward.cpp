#include <omp.h>

#include "kernels/winograd/forward_plan.h"
#include "kernels/winograd/multiply.h"
#include "kernels/winograd/stages.h"
#include "kernels/winograd/tile_transforms.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

constexpr int64_t kCachedFloats = 8 << 20;  // of an output that may still be in L3 when it is read

bool better_streamed(const Convolution& convolution, const ActivationLayout& dst,
                     const ForwardArguments& arguments) {
  const bool whole_lines = dst.extents[2] * kLanes % kLineFloats == 0 &&
                           dst.batch_stride % kLineFloats == 0 &&
                           reinterpret_cast<uintptr_t>(arguments.dst) % (kLineFloats * sizeof(float)) == 0;
  const bool reads_beside = arguments.residual != nullptr || arguments.mask != nullptr;
  return whole_lines && !reads_beside && arguments.activation != Activation::elu &&
         convolution.batch * dst.blocks * dst.block_stride > kCachedFloats;
}

// One panel's three stages, each in pieces that may be computed in any order by any thread. Products of one
// group of output channels are kept at a time.
class Panel {
 public:
  Panel(const Convolution& convolution, const ForwardPlan& plan, const ForwardArguments& arguments,
        int64_t index, float* workspace)
      : convolution_(convolution),
        plan_(plan),
        arguments_(arguments),
        stored_(arguments.max_pool ? pooled_layout(convolution) : plan.dst),
        streamed_(better_streamed(convolution, stored_, arguments)),
        inputs_(workspace),
        products_(workspace + plan.inputs_floats),
        size_(plan.panel_begin(index + 1) - plan.panel_begin(index)) {
    for (int64_t i = 0; i < size_; ++i) blocks_[i] = plan.tiling.block(plan.panel_begin(index) + i);
  }

  int64_t size() const { return size_; }

  void transform_inputs(int64_t block, int64_t channel_block) const {
    inputs_to_points(convolution_, plan_.src, blocks_[block], arguments_.src, channel_block,
                     {inputs(block, channel_block), plan_.input_point_stride});
  }

  // Slices `part` of the group whose products are kept.
  void multiply(int point, const SliceGroup& part, const SliceGroup& group) const {
    for (int64_t slice = part.begin; slice < part.end; ++slice) multiply_slice(point, slice, part, group);
  }

  void transform_outputs(int64_t block, int64_t channel_block, const SliceGroup& group) const {
    points_to_outputs(convolution_, stored_, blocks_[block], products(block, channel_block, group),
                      channel_block, arguments_, streamed_);
  }

 private:
  float* inputs(int64_t block, int64_t channel_block) const {
    return inputs_ + block * plan_.input_block_stride + channel_block * kBlockTiles * kLanes;
  }

  float* products(int64_t block, int64_t channel_block, const SliceGroup& group) const {
    return products_ + block * plan_.product_block_stride +
           (channel_block - group.first_channel_block()) * plan_.product_channel_stride;
  }

  const float* weights(int point, int64_t slice) const {
    return arguments_.packed_weights + point * plan_.packed.point_stride + slice * plan_.packed.slice_stride;
  }

  void multiply_slice(int point, int64_t slice, const SliceGroup& part, const SliceGroup& group) const {
    const int64_t channel_block = slice * kSliceVectors;
    const int64_t vectors = std::min(kSliceVectors, plan_.dst.blocks - channel_block);
    const bool last = slice + 1 == part.end;
    const float* next_weights = last ? weights(point + 1, part.begin) : weights(point, slice + 1);
    const int64_t step = std::min<int64_t>(kPrefetchLines, divide_up(kLanes, size_)) * kLineFloats;
    const int row_point = plan_.grid.row(point), column_point = plan_.grid.column(point);
    const int64_t channels = plan_.reduction.channels_at(point);
    for (int64_t i = 0; i < size_; ++i) {
      const TileBlock& block = blocks_[i];
      if (!plan_.tiling.needs(block, row_point, column_point)) continue;
      kMultiply[block.count - 1][vectors - 1](
          {inputs_ + i * plan_.input_block_stride + point * plan_.input_point_stride, weights(point, slice),
           next_weights + i * plan_.reduction.blocks() * step, step, channels,
           products(i, channel_block, group) + point * kBlockTiles * kLanes, plan_.product_channel_stride});
    }
  }

  const Convolution& convolution_;
  const ForwardPlan& plan_;
  const ForwardArguments& arguments_;
  ActivationLayout stored_;
  bool streamed_;
  float* inputs_;
  float* products_;
  int64_t size_;
  std::array<TileBlock, kMaxPanelBlocks> blocks_;
};

void run_alone(const Convolution& convolution, const Panel& panel, const ForwardPlan& plan) {
  for (int64_t channel = 0; channel < plan.reduction.blocks(); ++channel) {
    for (int64_t block = 0; block < panel.size(); ++block) panel.transform_inputs(block, channel);
  }
  for (int64_t i = 0; i < plan.groups; ++i) {
    const SliceGroup group = plan.group(i);
    for (int point = 0; point < points(convolution); ++point) panel.multiply(point, group, group);
    const int64_t end = std::min(plan.dst.blocks, group.end_channel_block());
    for (int64_t channel = group.first_channel_block(); channel < end; ++channel) {
      for (int64_t block = 0; block < panel.size(); ++block) panel.transform_outputs(block, channel, group);
    }
  }
}

// Called by all threads. No barrier follows the last stage: the next panel's products wait for its inputs.
void run_together(const Convolution& convolution, const Panel& panel, const ForwardPlan& plan) {
  const SliceGroup all = plan.group(0);
#pragma omp for collapse(2) schedule(static)
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.reduction.blocks(); ++channel)
      panel.transform_inputs(block, channel);
  }
#pragma omp for collapse(2) schedule(dynamic)
  for (int point = 0; point < points(convolution); ++point) {
    for (int64_t part = 0; part < plan.slice_parts; ++part) panel.multiply(point, plan.slice_part(part), all);
  }
#pragma omp for collapse(2) schedule(static) nowait
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.dst.blocks; ++channel)
      panel.transform_outputs(block, channel, all);
  }
}

}  // namespace

void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads) {
  const ForwardPlan plan(convolution, threads);
#pragma omp parallel num_threads(threads)
  {
    if (plan.shared) {
      for (int64_t i = 0; i < plan.panels; ++i) {
        const Panel panel(convolution, plan, arguments, i, scratch);
        run_together(convolution, panel, plan);
      }
    } else {
#pragma omp for schedule(dynamic) nowait
      for (int64_t i = 0; i < plan.panels; ++i) {
        float* workspace = scratch + omp_get_thread_num() * plan.workspace_floats;
        const Panel panel(convolution, plan, arguments, i, workspace);
        run_alone(convolution, panel, plan);
      }
    }
    _mm_sfence();  // streamed outputs are seen by whoever comes after
  }
}

}  // namespace tacho::winograd::TACHO_ISA
