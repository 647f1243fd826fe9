#include "kernels/winograd/avx2.h"
#include "kernels/winograd/multiply_tiles_avx2.h"
#include "kernels/winograd/tile_transforms_avx2.h"
#include "kernels/winograd/unpack_avx2.h"

namespace tacho::winograd {
namespace {

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

  // Channel blocks of inputs, then those of gradients.
  int64_t channel_blocks() const { return plan_.reduction.blocks() + plan_.dst.blocks; }

  void transform(int64_t channel_block) const {
    for (int kind = 0; kind < Tiling::kKinds; ++kind) {
      const TileRange range = range_of(kind);
      for (int64_t tile = range.begin; tile < range.end; tile += kBlockTiles) {
        const int64_t end = std::min(tile + kBlockTiles, range.end);
        transform_block(plan_.tiling.block(begin_ + tile, begin_ + end), tile, channel_block);
      }
    }
  }

  // Sums of input channels [begin, end), the first of which comes first in the sums' memory.
  void multiply(int point, int64_t begin, int64_t end) const {
    end = std::min(end, plan_.reduction.channels_at(point));
    const TileRanges tiles = tiles_needing(point);
    const float* inputs = inputs_ + point * plan_.input_point_stride;
    const float* gradients = gradients_ + point * plan_.gradient_point_stride;
    float* sums = sums_ + point * plan_.sum_point_stride;
    for (int64_t out = 0; out < plan_.dst.blocks; out += kSumVectors) {
      const int64_t vectors = std::min(kSumVectors, plan_.dst.blocks - out);
      for (int64_t in = begin; in < end; in += kSumRows) {
        kMultiplyTiles[vectors - 1]({tiles, inputs + in / kLanes * plan_.channel_stride + in % kLanes,
                                     gradients + out * plan_.channel_stride, plan_.channel_stride,
                                     sums + (in - begin) * plan_.sum_row_stride + out * kLanes,
                                     plan_.sum_row_stride, accumulate_});
      }
    }
  }

 private:
  TileRange range_of(int kind) const {
    const auto clamp = [&](int64_t tile) { return std::clamp(tile, begin_, end_) - begin_; };
    return {clamp(plan_.tiling.first_of_kind(kind)), clamp(plan_.tiling.first_of_kind(kind + 1))};
  }

  TileRanges tiles_needing(int point) const {
    TileRanges result;
    for (int kind = 0; kind < Tiling::kKinds; ++kind) {
      const TileRange range = range_of(kind);
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
  const int64_t worker_stride = plan.workspace_floats() + plan.sums_floats;
#pragma omp for schedule(static, 1)
  for (int64_t worker = 0; worker < plan.workers; ++worker) {
    float* workspace = scratch + worker * worker_stride;
    const int64_t first = plan.panels * worker / plan.workers,
                  end = plan.panels * (worker + 1) / plan.workers;
    for (int64_t i = first; i < end; ++i) {
      const Panel panel(convolution, plan, arguments, i, i > first, workspace);
      for (int64_t block = 0; block < panel.channel_blocks(); ++block) panel.transform(block);
      for (int point = 0; point < points(convolution); ++point)
        panel.multiply(point, 0, plan.reduction.channels());
    }
  }
  unpack_weight_gradients(convolution, plan, scratch + plan.workspace_floats(), worker_stride, 0,
                          convolution.in_channels, arguments);
}

void sum_together(const Convolution& convolution, const BackwardWeightsPlan& plan,
                  const BackwardWeightsArguments& arguments, float* scratch) {
  for (int64_t i = 0; i < plan.panels; ++i) {
    const Panel panel(convolution, plan, arguments, i, i > 0, scratch);
#pragma omp for schedule(dynamic)
    for (int64_t block = 0; block < panel.channel_blocks(); ++block) panel.transform(block);
    for (int64_t begin = 0; begin < plan.reduction.channels(); begin += plan.sum_channels) {
      const int64_t end = std::min(begin + plan.sum_channels, plan.reduction.channels());
#pragma omp for schedule(dynamic)
      for (int point = 0; point < points(convolution); ++point) panel.multiply(point, begin, end);
      if (i + 1 < plan.panels) continue;
      unpack_weight_gradients(convolution, plan, scratch + plan.workspace_floats(), 0, begin,
                              std::min(end, convolution.in_channels), arguments);
    }
  }
}

constexpr int64_t kBiasChunk = 4096 * kLanes;

__m256 sum_floats(const float* values, int64_t count) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int64_t i = 0; i < count; i += kLanes) {
    __m256& sum = sums[i / kLanes % 4];
    sum = _mm256_add_ps(sum, _mm256_load_ps(values + i));
  }
  return _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
}

// Floats within a chunk of a plane, doubles from chunk to chunk.
void sum_bias(const Convolution& convolution, const ActivationLayout& layout,
              const BackwardWeightsArguments& arguments) {
#pragma omp for schedule(static)
  for (int64_t block = 0; block < layout.blocks; ++block) {
    double totals[kLanes] = {};
    for (int64_t plane = 0; plane < convolution.batch * layout.extents[0]; ++plane) {
      const float* values = arguments.diff_dst + plane / layout.extents[0] * layout.batch_stride +
                            block * layout.block_stride + plane % layout.extents[0] * layout.plane_stride;
      for (int64_t i = 0; i < layout.plane_stride; i += kBiasChunk) {
        alignas(32) float lanes[kLanes];
        _mm256_store_ps(lanes, sum_floats(values + i, std::min(kBiasChunk, layout.plane_stride - i)));
        for (int64_t lane = 0; lane < kLanes; ++lane) totals[lane] += lanes[lane];
      }
    }
    const int64_t first = block * kLanes, count = std::min(kLanes, convolution.out_channels - first);
    for (int64_t lane = 0; lane < count; ++lane)
      arguments.diff_bias[first + lane] = static_cast<float>(totals[lane]);
  }
}

}  // namespace

void backward_weights_f32_avx2(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                               float* scratch, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
#pragma omp parallel num_threads(threads)
  {
    const auto sum = plan.shared ? sum_together : sum_alone;
    sum(convolution, plan, arguments, scratch);
    if (arguments.diff_bias != nullptr) sum_bias(convolution, plan.dst, arguments);
  }
}

}  // namespace tacho::winograd
