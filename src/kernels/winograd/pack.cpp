#include "kernels/blocked/transpose.h"
#include "kernels/winograd/packed_layout.h"
#include "kernels/winograd/stages.h"
#include "kernels/winograd/transform.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

struct Source {
  PlainWeights weights;
  int64_t out_channels;
};

// The taps of a block of output channels and one input channel: vector by tap.
template<int taps>
void load_taps(const Source& source, int64_t out, int64_t in, Vector* values) {
  alignas(Vector) static constexpr float kZeros[taps] = {};
  const auto& [data, out_stride, in_stride, flipped] = source.weights;
  const float* rows[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const bool exists = out + lane < source.out_channels;
    rows[lane] = exists ? data + (out + lane) * out_stride + in * in_stride : kZeros;
  }
  const auto place = [&](int tap) -> Vector& { return values[flipped ? taps - 1 - tap : tap]; };
  constexpr int kWhole = taps / kSquare * kSquare;
  for (int tap = 0; tap < kWhole; tap += kSquare) {
    Vector columns[kSquare];
    load_columns([&](int64_t row) { return rows[row] + tap; }, columns);
    for (int i = 0; i < kSquare; ++i) place(tap + i) = columns[i];
  }
  for (int tap = kWhole; tap < taps; ++tap)
    place(tap) = of_lanes([&](int64_t lane) { return rows[lane][tap]; });
}

// The taps of one segment of a plane to points. Those that a kernel lacks are 0.
template<int row_kernel, int column_kernel>
void transform_plane(const Vector* weights, int segment, Vector* points) {
  constexpr Scheme kRows = kScheme<row_kernel>, kColumns = kScheme<column_kernel>;
  const int first_row = kRows.segments() > 1 ? segment * kRows.taps : 0,
            first_column = kColumns.segments() > 1 ? segment * kColumns.taps : 0;
  Vector half_way[kColumns.taps][kRows.all_points()];
  for (int column = 0; column < kColumns.taps; ++column) {
    Vector g[kRows.taps];
    for (int row = 0; row < kRows.taps; ++row) {
      const int y = first_row + row, x = first_column + column;
      g[row] = y < row_kernel && x < column_kernel ? weights[y * column_kernel + x] : zero();
    }
    transform_weights<row_kernel>(g, half_way[column]);
  }
  for (int64_t row = 0; row < kRows.all_points(); ++row) {
    Vector g[kColumns.taps];
    for (int column = 0; column < kColumns.taps; ++column) g[column] = half_way[column][row];
    transform_weights<column_kernel>(g, points + row * kColumns.all_points());
  }
}

template<int row_kernel, int column_kernel>
constexpr int kPlanePoints = kScheme<row_kernel>.all_points() * kScheme<column_kernel>.all_points();

template<int row_kernel, int column_kernel>
void pack_flat(const Source& source, int64_t out, int64_t in, float* packed, const PackedLayout& layout) {
  constexpr int kTaps = row_kernel * column_kernel;
  constexpr int kSegments = kScheme<row_kernel>.segments() * kScheme<column_kernel>.segments();
  Vector values[kTaps], points[kPlanePoints<row_kernel, column_kernel>];
  load_taps<kTaps>(source, out, in, values);
  for (int segment = 0; segment < kSegments; ++segment) {
    transform_plane<row_kernel, column_kernel>(values, segment, points);
    float* target = packed + segment * layout.segment_stride;
    for (int point = 0; point < kPlanePoints<row_kernel, column_kernel>; ++point)
      store(target + point * layout.point_stride, points[point]);
  }
}

void pack_deep(const Source& source, int64_t out, int64_t in, float* packed, const PackedLayout& layout) {
  constexpr int kPoints = kScheme<3>.all_points(), kPlane = kPlanePoints<3, 3>;
  Vector values[27], planes[3][kPlane];
  load_taps<27>(source, out, in, values);
  for (int64_t depth = 0; depth < 3; ++depth) transform_plane<3, 3>(values + 9 * depth, 0, planes[depth]);
  for (int point = 0; point < kPlane; ++point) {
    const Vector g[3] = {planes[0][point], planes[1][point], planes[2][point]};
    Vector u[kPoints];
    transform_weights<3>(g, u);
    for (int depth = 0; depth < kPoints; ++depth) {
      store(packed + (depth * kPlane + point) * layout.point_stride, u[depth]);
    }
  }
}

using PackVector = void (*)(const Source& source, int64_t out, int64_t in, float* packed,
                            const PackedLayout& layout);

PackVector pack_vector_of(const Convolution& convolution) {
  if (is_deep(convolution)) return pack_deep;
  PackVector found = nullptr;
  with_flat_kernel(convolution, [&]<int rows, int columns>() { found = pack_flat<rows, columns>; });
  return found;
}

// What is multiplied with the channels that fill up a segment's last block.
void fill_up_segments(const Convolution& convolution, const PackedLayout& layout, float* slice) {
  const Reduction reduction(convolution);
  const int64_t begin = convolution.in_channels, end = reduction.segment_blocks * kLanes;
  for (int64_t segment = 0; segment + 1 < reduction.segments; ++segment) {
    for (int64_t point = 0; point < points(convolution); ++point) {
      float* channels = slice + segment * layout.segment_stride + point * layout.point_stride;
      std::fill(channels + begin * kSliceChannels, channels + end * kSliceChannels, 0.0f);
    }
  }
}

}  // namespace

void pack_plain_weights(const Convolution& convolution, const PlainWeights& weights, float* packed,
                        int threads) {
  const PackedLayout layout(convolution);
  const Source source = {weights, convolution.out_channels};
  const PackVector pack_vector = pack_vector_of(convolution);
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t slice = 0; slice < layout.slices; ++slice) {
    for (int64_t chunk = 0; chunk < layout.input_chunks; ++chunk) {
      float* target = packed + slice * layout.slice_stride;
      const int64_t begin = chunk * kInputsAtOnce,
                    end = std::min(begin + kInputsAtOnce, convolution.in_channels);
      for (int64_t in = begin; in < end; ++in) {
        const int64_t out = slice * kSliceChannels;
        for (int64_t lane = 0; lane < kSliceChannels; lane += kLanes)
          pack_vector(source, out + lane, in, target + in * kSliceChannels + lane, layout);
      }
      if (chunk == 0) fill_up_segments(convolution, layout, target);
    }
  }
}

}  // namespace tacho::winograd::TACHO_ISA
