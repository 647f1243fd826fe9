#include <omp.h>

#include "kernels/winograd/avx2.h"
#include "kernels/winograd/forward_plan.h"
#include "kernels/winograd/multiply_avx2.h"
#include "kernels/winograd/tile_transforms_avx2.h"

namespace tacho::winograd {
namespace {

constexpr int64_t kCachedFloats = 8 << 20;  // of an output that may still be in L3 when it is read

bool better_streamed(const Convolution& convolution, const ActivationLayout& dst,
                     const ForwardArguments& arguments) {
  const bool whole_lines = dst.extents[2] % 2 == 0 && dst.batch_stride % kLineFloats == 0 &&
                           reinterpret_cast<uintptr_t>(arguments.dst) % (kLineFloats * sizeof(float)) == 0;
  const bool reads_beside = arguments.residual != nullptr || arguments.mask != nullptr;
  return whole_lines && !reads_beside && arguments.activation != Activation::elu &&
         convolution.batch * dst.blocks * dst.block_stride > kCachedFloats;
}

// Packed weights of all points and output channels, or of those from `first_point` and `first_slice` on.
struct PackedPart {
  const float* data;
  int64_t point_stride, slice_stride;
  int first_point = 0;
  int64_t first_slice = 0;

  const float* at(int point, int64_t slice) const {
    return data + (point - first_point) * point_stride + (slice - first_slice) * slice_stride;
  }
};

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

  void multiply(int point, const SliceGroup& group) const {
    const PackedPart whole = {arguments_.packed_weights, plan_.packed.point_stride,
                              plan_.packed.slice_stride};
    for (int64_t slice = group.begin; slice < group.end; ++slice) multiply_slice(whole, point, slice, group);
  }

  void multiply_slice(const PackedPart& weights, int point, int64_t slice, const SliceGroup& group) const {
    const int64_t channel_block = 2 * slice;
    const int vectors = channel_block + 1 < plan_.dst.blocks ? 2 : 1;
    const bool last = slice + 1 == group.end;
    const float* next_weights = last ? weights.at(point + 1, group.begin) : weights.at(point, slice + 1);
    const int64_t step = std::min<int64_t>(kPrefetchLines, divide_up(kLanes, size_)) * kLineFloats;
    const int row_point = point / kPoints % kPoints, column_point = point % kPoints;
    for (int64_t i = 0; i < size_; ++i) {
      const TileBlock& block = blocks_[i];
      if (!block.needs(row_point, column_point)) continue;
      kMultiply[block.count - 1][vectors - 1](
          {inputs_ + i * plan_.input_block_stride + point * plan_.input_point_stride,
           weights.at(point, slice), next_weights + i * plan_.src.blocks * step, step,
           convolution_.in_channels, products(i, channel_block, group) + point * kBlockTiles * kLanes,
           plan_.product_channel_stride});
    }
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
  for (int64_t channel = 0; channel < plan.src.blocks; ++channel) {
    for (int64_t block = 0; block < panel.size(); ++block) panel.transform_inputs(block, channel);
  }
  for (int64_t i = 0; i < plan.groups; ++i) {
    const SliceGroup group = plan.group(i);
    for (int point = 0; point < points(convolution); ++point) panel.multiply(point, group);
    const int64_t end = std::min(plan.dst.blocks, group.end_channel_block());
    for (int64_t channel = group.first_channel_block(); channel < end; ++channel) {
      for (int64_t block = 0; block < panel.size(); ++block) panel.transform_outputs(block, channel, group);
    }
  }
}

void transform_inputs_together(const Panel& panel, const ForwardPlan& plan) {
#pragma omp for collapse(2) schedule(static)
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = 0; channel < plan.src.blocks; ++channel) panel.transform_inputs(block, channel);
  }
}

// No barrier follows: the next products wait for another stage.
void transform_outputs_together(const Panel& panel, const ForwardPlan& plan, const SliceGroup& group) {
  const int64_t end = std::min(plan.dst.blocks, group.end_channel_block());
#pragma omp for collapse(2) schedule(static) nowait
  for (int64_t block = 0; block < panel.size(); ++block) {
    for (int64_t channel = group.first_channel_block(); channel < end; ++channel)
      panel.transform_outputs(block, channel, group);
  }
}

// Called by all threads.
void run_together(const Convolution& convolution, const Panel& panel, const ForwardPlan& plan) {
  const SliceGroup all = plan.group(0);
  transform_inputs_together(panel, plan);
#pragma omp for schedule(dynamic)
  for (int point = 0; point < points(convolution); ++point) panel.multiply(point, all);
  transform_outputs_together(panel, plan, all);
}

// Called by all threads: packs one plane of points of a group's weights, then multiplies with them.
void pack_and_multiply(const Convolution& convolution, const PlainWeights& weights, const Panel& panel,
                       const ForwardPlan& plan, const SliceGroup& group, int plane, float* packed) {
  const int64_t slice_stride = plan.packed.slice_stride;
  const int64_t point_stride = plan.group_slices() * slice_stride;
  const int64_t chunks = weight_chunks(convolution);
#pragma omp for collapse(2) schedule(static)
  for (int64_t slice = group.begin; slice < group.end; ++slice) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      pack_chunk_f32_avx2(convolution, weights, weight_chunk(convolution, plane, slice, chunk),
                          packed + (slice - group.begin) * slice_stride, point_stride);
    }
  }
  const int first = plane * kPlanePoints;
  const PackedPart part = {packed, point_stride, slice_stride, first, group.begin};
#pragma omp for collapse(2) schedule(dynamic)
  for (int point = first; point < first + kPlanePoints; ++point) {
    for (int64_t slice = group.begin; slice < group.end; ++slice)
      panel.multiply_slice(part, point, slice, group);
  }
}

// Called by all threads, like run_together().
void run_packing(const Convolution& convolution, const PlainWeights& weights, const Panel& panel,
                 const ForwardPlan& plan, float* packed) {
  transform_inputs_together(panel, plan);
  for (int64_t i = 0; i < plan.groups; ++i) {
    const SliceGroup group = plan.group(i);
    for (int plane = 0; plane < planes(convolution); ++plane)
      pack_and_multiply(convolution, weights, panel, plan, group, plane, packed);
    transform_outputs_together(panel, plan, group);
  }
}

}  // namespace

void forward_f32_avx2(const Convolution& convolution, const ForwardArguments& arguments, float* scratch,
                      int threads) {
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
        float* workspace = scratch + omp_get_thread_num() * plan.workspace_floats();
        const Panel panel(convolution, plan, arguments, i, workspace);
        run_alone(convolution, panel, plan);
      }
    }
    _mm_sfence();  // streamed outputs are seen by whoever comes after
  }
}

void packing_forward_f32_avx2(const Convolution& convolution, const PlainWeights& weights,
                              const ForwardArguments& arguments, float* scratch, int threads) {
  const ForwardPlan plan = ForwardPlan::packing(convolution);
  float* packed = scratch + odd_lines(plan.workspace_floats());
#pragma omp parallel num_threads(threads)
  {
    for (int64_t i = 0; i < plan.panels; ++i)
      run_packing(convolution, weights, Panel(convolution, plan, arguments, i, scratch), plan, packed);
    _mm_sfence();
  }
}

}  // namespace tacho::winograd
