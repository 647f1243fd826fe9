#include <omp.h>

#include "kernels/winograd/avx2.h"
#include "kernels/winograd/forward_plan.h"
#include "kernels/winograd/multiply_avx2.h"
#include "kernels/winograd/tile_transforms_avx2.h"

namespace tacho::winograd {
namespace {

// One panel's three stages, each in pieces that may be computed in any order by any thread.
class Panel {
 public:
  Panel(const Convolution& convolution, const ForwardPlan& plan, const ForwardArguments& arguments,
        int64_t index, float* workspace)
      : convolution_(convolution),
        plan_(plan),
        arguments_(arguments),
        inputs_(workspace),
        products_(workspace + plan.inputs_floats),
        size_(plan.panel_begin(index + 1) - plan.panel_begin(index)) {
    for (int64_t i = 0; i < size_; ++i) blocks_[i] = plan.tiling.block(plan.panel_begin(index) + i);
  }

  int64_t size() const { return size_; }

  void transform_inputs(int64_t block, int64_t channel_block) const {
    float* points = inputs_ + block * plan_.input_block_stride + channel_block * kBlockTiles * kLanes;
    inputs_to_points(convolution_, plan_.src, blocks_[block], arguments_.src, channel_block,
                     {points, plan_.input_point_stride});
  }

  void multiply(int point) const {
    for (int64_t slice = 0; slice < plan_.packed.slices; ++slice) multiply_slice(point, slice);
  }

  void transform_outputs(int64_t block, int64_t channel_block) const {
    const float* products =
        products_ + block * plan_.product_block_stride + channel_block * plan_.product_channel_stride;
    points_to_outputs(convolution_, plan_.dst, blocks_[block], products, channel_block, arguments_);
  }

 private:
  void multiply_slice(int point, int64_t slice) const {
    const int64_t channel_block = 2 * slice;
    const int vectors = channel_block + 1 < plan_.dst.blocks ? 2 : 1;
    const float* weights =
        arguments_.packed_weights + point * plan_.packed.point_stride + slice * plan_.packed.slice_stride;
    const float* next_weights = weights + plan_.packed.slice_stride;
    for (int64_t i = 0; i < size_; ++i) {
      const TileBlock& block = blocks_[i];
      if (!block.needs(point / kPoints % kPoints, point % kPoints)) continue;
      float* products = products_ + i * plan_.product_block_stride +
                        channel_block * plan_.product_channel_stride + point * kBlockTiles * kLanes;
      kMultiply[block.count - 1][vectors - 1](
          {inputs_ + i * plan_.input_block_stride + point * plan_.input_point_stride, weights,
           next_weights + i * plan_.src.blocks * kLineFloats, convolution_.in_channels, products,
           plan_.product_channel_stride});
    }
  }

  const Convolution& convolution_;
  const ForwardPlan& plan_;
  const ForwardArguments& arguments_;
  float* inputs_;
  float* products_;
  int64_t size_;
  std::array<TileBlock, kMaxPanelBlocks> blocks_;
};

void run_alone(const Convolution& convolution, const Panel& panel, const ForwardPlan& plan) {
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.src.blocks; ++channel) panel.transform_inputs(block, channel);
  }
  for (int point = 0; point < points(convolution); ++point) panel.multiply(point);
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.dst.blocks; ++channel) panel.transform_outputs(block, channel);
  }
}

// Called by all threads. No barrier follows the last stage: the next panel's products wait for its inputs.
void run_together(const Convolution& convolution, const Panel& panel, const ForwardPlan& plan) {
#pragma omp for collapse(2) schedule(static)
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.src.blocks; ++channel) panel.transform_inputs(block, channel);
  }
#pragma omp for schedule(dynamic)
  for (int point = 0; point < points(convolution); ++point) panel.multiply(point);
#pragma omp for collapse(2) schedule(static) nowait
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.dst.blocks; ++channel) panel.transform_outputs(block, channel);
  }
}

}  // namespace

void forward_f32_avx2(const Convolution& convolution, const ForwardArguments& arguments, float* scratch,
                      int threads) {
  const ForwardPlan plan(convolution, threads);
  if (plan.shared) {
#pragma omp parallel num_threads(threads)
    for (int64_t i = 0; i < plan.panels; ++i) {
      const Panel panel(convolution, plan, arguments, i, scratch);
      run_together(convolution, panel, plan);
    }
  } else {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < plan.panels; ++i) {
      float* workspace = scratch + omp_get_thread_num() * plan.workspace_floats();
      const Panel panel(convolution, plan, arguments, i, workspace);
      run_alone(convolution, panel, plan);
    }
  }
}

}  // namespace tacho::winograd
