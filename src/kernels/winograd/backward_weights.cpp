#include "kernels/blocked/sum_channels_kernel.h"
#include "kernels/blocked/sum_products.h"
#include "kernels/winograd/stages.h"
#include "kernels/winograd/tile_transforms.h"
#include "kernels/winograd/unpack.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

// The tiles of a panel that need a point.
struct TileRanges {
  std::array<PositionRange, Tiling::kKinds> ranges;
  size_t count = 0;
  std::span<const PositionRange> all() const { return {ranges.data(), count}; }
};

// One panel's two stages, each in pieces that may be computed in any order by any thread.
class Panel {
 public:
  Panel(const Convolution& convolution, const BackwardWeightsPlan& plan,
        const BackwardWeightsArguments& arguments, int64_t index, bool accumulate, float* workspace)
      : convolution_(convolution),
        plan_(plan),
        arguments_(arguments),
        begin_(plan.panel_begin(index)),
        end_(plan.panel_begin(index + 1)),
        accumulate_(accumulate),
        inputs_(workspace),
        gradients_(inputs_ + plan.inputs_floats),
        sums_(gradients_ + plan.gradients_floats) {}

  void transform(int64_t channel_block, int64_t tile_part) const {
    const int64_t part_begin = plan_.tile_part_begin(tile_part, end_ - begin_),
                  part_end = plan_.tile_part_begin(tile_part + 1, end_ - begin_);
    for (int kind = 0; kind < Tiling::kKinds; ++kind) {
      const PositionRange range = range_of(kind);
      const int64_t range_end = std::min(range.end, part_end);
      for (int64_t tile = std::max(range.begin, part_begin); tile < range_end; tile += kBlockTiles) {
        const int64_t end = std::min(tile + kBlockTiles, range_end);
        transform_block(plan_.tiling.block(begin_ + tile, begin_ + end), tile, channel_block);
      }
    }
  }

  // Sums of input channels [begin, end); those of channel `first` come first in the sums' memory.
  void multiply(int point, int64_t first, int64_t begin, int64_t end) const {
    end = std::min(end, plan_.reduction.channels_at(point));
    const TileRanges tiles = tiles_needing(point);
    const float* inputs = inputs_ + point * plan_.input_point_stride;
    const float* gradients = gradients_ + point * plan_.gradient_point_stride;
    float* sums = sums_ + point * plan_.sum_point_stride;
    for (int64_t out = 0; out < plan_.dst.blocks; out += kSumVectors) {
      const int64_t vectors = std::min(kSumVectors, plan_.dst.blocks - out);
      for (int64_t in = begin; in < end; in += kSumRows) {
        const float* rows = inputs + in / kLanes * plan_.channel_stride + in % kLanes;
        kSumProducts[vectors - 1]({.positions = tiles.all(),
                                   .rows = rows,
                                   .vectors = gradients + out * plan_.channel_stride,
                                   .vector_stride = plan_.channel_stride,
                                   .sums = sums + (in - first) * plan_.sum_row_stride + out * kLanes,
                                   .row_stride = plan_.sum_row_stride,
                                   .accumulate = accumulate_,
                                   .prefetch = rows});
      }
    }
  }

 private:
  PositionRange range_of(int kind) const {
    const auto clamp = [&](int64_t tile) { return std::clamp(tile, begin_, end_) - begin_; };
    return {clamp(plan_.tiling.first_of_kind(kind)), clamp(plan_.tiling.first_of_kind(kind + 1))};
  }

  TileRanges tiles_needing(int point) const {
    TileRanges result;
    for (int kind = 0; kind < Tiling::kKinds; ++kind) {
      const PositionRange range = range_of(kind);
      if (range.begin == range.end ||
          !plan_.tiling.needs(kind, plan_.grid.row(point), plan_.grid.column(point)))
        continue;
      const bool continues = result.count > 0 && result.ranges[result.count - 1].end == range.begin;
      if (continues) {
        result.ranges[result.count - 1].end = range.end;
      } else {
        result.ranges[result.count++] = range;
      }
    }
    return result;
  }

  void transform_block(const TileBlock& block, int64_t tile, int64_t channel_block) const {
    const auto offset = [&](int64_t channels) { return channels * plan_.channel_stride + tile * kLanes; };
    if (channel_block < plan_.reduction.blocks()) {
      inputs_to_points(convolution_, plan_.src, block, arguments_.src, channel_block,
                       {inputs_ + offset(channel_block), plan_.input_point_stride});
    } else {
      const int64_t gradient_block = channel_block - plan_.reduction.blocks();
      gradients_to_points(convolution_, plan_.dst, block, arguments_.diff_dst, gradient_block,
                          {gradients_ + offset(gradient_block), plan_.gradient_point_stride});
    }
  }

  const Convolution& convolution_;
  const BackwardWeightsPlan& plan_;
  const BackwardWeightsArguments& arguments_;
  int64_t begin_, end_;  // tiles
  bool accumulate_;
  float* inputs_;
  float* gradients_;
  float* sums_;
};

// The following are called by all threads of a team.

// Workers take fixed panels, for sums to be added in the same order each time.
void sum_alone(const Convolution& convolution, const BackwardWeightsPlan& plan,
               const BackwardWeightsArguments& arguments, float* scratch) {
#pragma omp for schedule(static, 1)
  for (int64_t worker = 0; worker < plan.workers; ++worker) {
    float* workspace = scratch + worker * plan.worker_stride();
    const int64_t first = plan.panels * worker / plan.workers,
                  end = plan.panels * (worker + 1) / plan.workers;
    for (int64_t i = first; i < end; ++i) {
      const Panel panel(convolution, plan, arguments, i, i > first, workspace);
      for (int64_t block = 0; block < plan.channel_blocks(); ++block) panel.transform(block, 0);
      for (int point = 0; point < points(convolution); ++point)
        panel.multiply(point, 0, 0, plan.reduction.channels());
    }
  }
  unpack_weight_gradients(convolution, plan, scratch + plan.workspace_floats(), plan.worker_stride(), 0,
                          convolution.in_channels, arguments);
}

void sum_together(const Convolution& convolution, const BackwardWeightsPlan& plan,
                  const BackwardWeightsArguments& arguments, float* scratch) {
  for (int64_t i = 0; i < plan.panels; ++i) {
    const Panel panel(convolution, plan, arguments, i, i > 0, scratch);
#pragma omp for collapse(2) schedule(dynamic)
    for (int64_t block = 0; block < plan.channel_blocks(); ++block) {
      for (int64_t part = 0; part < plan.tile_parts; ++part) panel.transform(block, part);
    }
    for (int64_t begin = 0; begin < plan.reduction.channels(); begin += plan.sum_channels) {
      const int64_t end = std::min(begin + plan.sum_channels, plan.reduction.channels());
#pragma omp for collapse(2) schedule(dynamic)
      for (int point = 0; point < points(convolution); ++point) {
        for (int64_t part = 0; part < plan.channel_parts; ++part) {
          panel.multiply(point, begin, plan.channel_part_begin(part, begin, end),
                         plan.channel_part_begin(part + 1, begin, end));
        }
      }
      if (i + 1 < plan.panels) continue;
      unpack_weight_gradients(convolution, plan, scratch + plan.workspace_floats(), 0, begin,
                              std::min(end, convolution.in_channels), arguments);
    }
  }
}

}  // namespace

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
#pragma omp parallel num_threads(threads)
  {
    const auto sum = plan.shared ? sum_together : sum_alone;
    sum(convolution, plan, arguments, scratch);
    if (arguments.diff_bias != nullptr) {
      sum_channels(plan.dst, convolution.batch, convolution.out_channels, arguments.diff_dst,
                   scratch + plan.scratch_floats(), arguments.diff_bias);
    }
  }
}

}  // namespace tacho::winograd::TACHO_ISA
