#include <omp.h>

#include "kernels/blocked/sum_channels_kernel.h"
#include "kernels/blocked/sum_products.h"
#include "kernels/direct/stages.h"

namespace tacho::direct::TACHO_ISA {
namespace {

using Part = BackwardWeightsPlan::Part;

// [channel block][position][8] of a panel.
struct Channels {
  const float* data;
  int64_t block_stride;
  const float* block(int64_t index) const { return data + index * block_stride; }
};

// Places of the destination along the last axis that lie side by side, and where they come in a panel.
struct Row {
  int64_t image, z, y, x, count;
  int64_t at;
};

// One panel of positions.
class Panel {
 public:
  Panel(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments, int64_t index)
      : plan_(plan),
        arguments_(arguments),
        begin_(plan.panel_begin(index)),
        size_(plan.panel_begin(index + 1) - begin_),
        next_(index + 1 < plan.panels ? begin_ + size_ : begin_) {}

  // `workspace` is needed where panels are gathered.
  void add(const Part& part, bool accumulate, float* sums, float* workspace) const {
    if (plan_.in_place) return add_in_place(part, accumulate, sums);
    const int64_t block_begin = part.out.begin, block_end = part.out.end;
    const Channels gradients = gathered_gradients(block_begin, block_end, workspace);
    float* const inputs = workspace + (block_end - block_begin) * gradients.block_stride;
    for (int64_t tap = part.taps.begin; tap < part.taps.end; ++tap) {
      for (int64_t in = part.in.begin; in < part.in.end; in += kSumVectors) {
        const int64_t blocks = std::min(kSumVectors, part.in.end - in);
        for (int64_t i = 0; i < blocks; ++i) gather_inputs(tap, in + i, inputs + i * size_ * kLanes);
        const Channels group = {inputs, size_ * kLanes};
        for (int64_t out = block_begin; out < block_end; ++out) {
          multiply(gradients.block(out - block_begin), out, group, in, blocks, accumulate,
                   sums + tap * plan_.sum_tap_stride, [&] { return inputs; });
        }
      }
    }
  }

 private:
  // While this panel is multiplied, the next one is fetched.
  void add_in_place(const Part& part, bool accumulate, float* sums) const {
    const Channels inputs = from(begin_, plan_.src, arguments_.src),
                   next_inputs = from(next_, plan_.src, arguments_.src),
                   gradients = from(begin_, plan_.dst, arguments_.diff_dst),
                   next_gradients = from(next_, plan_.dst, arguments_.diff_dst);
    int64_t halves = 0;
    const auto next_half = [&] {
      const int64_t block = halves / 2, half = halves % 2 * (size_ * kLanes / 2);
      ++halves;
      const int64_t in_block = part.in.begin + block, out_block = part.out.begin + in_block - part.in.end;
      if (in_block < part.in.end) return next_inputs.block(in_block) + half;
      return next_gradients.block(std::min(out_block, part.out.end - 1)) + half;
    };
    for (int64_t in = part.in.begin; in < part.in.end; in += kSumVectors) {
      const int64_t blocks = std::min(kSumVectors, part.in.end - in);
      const Channels group = {inputs.block(in), inputs.block_stride};
      for (int64_t out = part.out.begin; out < part.out.end; ++out)
        multiply(gradients.block(out), out, group, in, blocks, accumulate, sums, next_half);
    }
  }

  // All channels from a position on, as they lie in their image.
  static Channels from(int64_t position, const ActivationLayout& layout, const float* activation) {
    const int64_t image_positions = layout.block_stride / kLanes;
    const int64_t image = position / image_positions, within = position % image_positions;
    return {activation + image * layout.batch_stride + within * kLanes, layout.block_stride};
  }

  template<typename Prefetch>
  void multiply(const float* gradients, int64_t out, const Channels& inputs, int64_t in, int64_t blocks,
                bool accumulate, float* sums, const Prefetch& prefetch) const {
    const PositionRange all = {0, size_};
    const int64_t rows = std::min(kLanes, plan_.convolution.out_channels - out * kLanes);
    for (int64_t row = 0; row < rows; row += kSumRows) {
      kSumProducts[blocks - 1]({.positions = {&all, 1},
                                .rows = gradients + row,
                                .vectors = inputs.data,
                                .vector_stride = inputs.block_stride,
                                .sums = sums + (out * kLanes + row) * plan_.sum_row_stride + in * kLanes,
                                .row_stride = plan_.sum_row_stride,
                                .accumulate = accumulate,
                                .prefetch = prefetch()});
    }
  }

  template<typename Visit>
  void for_each_row(const Visit& visit) const {
    const auto& [depth, height, width] = plan_.dst.extents;
    for (int64_t at = 0; at < size_;) {
      const int64_t position = begin_ + at, x = position % width, line = position / width;
      const int64_t count = std::min(width - x, size_ - at);
      visit(Row{line / height / depth, line / height % depth, line % height, x, count, at});
      at += count;
    }
  }

  Channels gathered_gradients(int64_t block_begin, int64_t block_end, float* to) const {
    const Channels result = {to, size_ * kLanes};
    const ActivationLayout& dst = plan_.dst;
    for_each_row([&](const Row& row) {
      const float* from = arguments_.diff_dst + row.image * dst.batch_stride + row.z * dst.plane_stride +
                          (row.y * dst.extents[2] + row.x) * kLanes;
      for (int64_t block = block_begin; block < block_end; ++block) {
        std::copy_n(from + block * dst.block_stride, row.count * kLanes,
                    to + (block - block_begin) * result.block_stride + row.at * kLanes);
      }
    });
    return result;
  }

  // What a tap meets of one channel block, zeros for padding.
  void gather_inputs(int64_t tap, int64_t block, float* to) const {
    const Convolution& c = plan_.convolution;
    const ActivationLayout& src = plan_.src;
    const int64_t tap_z = tap / (c.kernel[1] * c.kernel[2]), tap_y = tap / c.kernel[2] % c.kernel[1],
                  tap_x = tap % c.kernel[2];
    const auto inside = [&](int axis, int64_t at) { return at >= 0 && at < c.extents[axis]; };
    for_each_row([&](const Row& row) {
      float* out = to + row.at * kLanes;
      const int64_t z = row.z * c.stride[0] - c.padding[0] + tap_z,
                    y = row.y * c.stride[1] - c.padding[1] + tap_y;
      if (!inside(0, z) || !inside(1, y)) {
        std::fill_n(out, row.count * kLanes, 0.0f);
        return;
      }
      const float* line = arguments_.src + row.image * src.batch_stride + block * src.block_stride +
                          z * src.plane_stride + y * c.extents[2] * kLanes;
      int64_t x = row.x * c.stride[2] - c.padding[2] + tap_x;
      for (int64_t i = 0; i < row.count; ++i, x += c.stride[2], out += kLanes) {
        store(out, inside(2, x) ? load(line + x * kLanes) : zero());
      }
    });
  }

  const BackwardWeightsPlan& plan_;
  const BackwardWeightsArguments& arguments_;
  int64_t begin_, size_;  // positions
  int64_t next_;          // where the next panel begins; the last one's own begin
};

// The following are called by all threads of a team.

void sum_alone(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments, float* workspaces,
               float* sums) {
  // Workers take fixed panels, for sums to be added in the same order each time.
#pragma omp for schedule(static, 1)
  for (int64_t worker = 0; worker < plan.workers; ++worker) {
    const int64_t first = plan.panels * worker / plan.workers,
                  end = plan.panels * (worker + 1) / plan.workers;
    for (int64_t i = first; i < end; ++i) {
      Panel(plan, arguments, i)
          .add(plan.all(), i > first, sums + worker * plan.sums_floats,
               workspaces + worker * plan.workspace_floats);
    }
  }
}

void sum_together(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments,
                  float* workspaces, float* sums) {
#pragma omp for schedule(static, 1)
  for (int64_t index = 0; index < plan.parts(); ++index) {
    const Part part = plan.part(index);
    float* const workspace = workspaces + omp_get_thread_num() * plan.workspace_floats;
    for (int64_t i = 0; i < plan.panels; ++i) Panel(plan, arguments, i).add(part, i > 0, sums, workspace);
  }
}

// Of all workers, to plain weights.
void add_up(const BackwardWeightsPlan& plan, const float* sums, float* diff_weights) {
  const int64_t pair = taps(plan.convolution), in_channels = plan.convolution.in_channels;
#pragma omp for collapse(2) schedule(static)
  for (int64_t out = 0; out < plan.convolution.out_channels; ++out) {
    for (int64_t tap = 0; tap < pair; ++tap) {
      float* const to = diff_weights + out * in_channels * pair;
      const float* row = sums + tap * plan.sum_tap_stride + out * plan.sum_row_stride;
      for (int64_t in = 0; in < in_channels; ++in) {
        float sum = row[in];
        for (int64_t worker = 1; worker < plan.workers; ++worker) sum += row[worker * plan.sums_floats + in];
        to[in * pair + tap] = sum;
      }
    }
  }
}

}  // namespace

void run_backward_weights(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments,
                          float* scratch, int threads) {
  float* const all_sums = scratch + plan.workspaces * plan.workspace_floats;
  const bool to_gradient = plan.sums_floats == 0;
#pragma omp parallel num_threads(threads)
  {
    const auto sum = plan.shared ? sum_together : sum_alone;
    sum(plan, arguments, scratch, to_gradient ? arguments.diff_weights : all_sums);
    if (!to_gradient) add_up(plan, all_sums, arguments.diff_weights);
    if (arguments.diff_bias != nullptr) {
      sum_channels(plan.dst, plan.convolution.batch, plan.convolution.out_channels, arguments.diff_dst,
                   scratch + plan.scratch_floats(), arguments.diff_bias);
    }
  }
}

}  // namespace tacho::direct::TACHO_ISA
