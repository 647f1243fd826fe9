#include "engine/native/layout.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "base/cpu.h"

namespace tacho::native {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct Layout {
  Tag tag;
  int64_t block;
};

// The layouts of activations by rank (3 to 5): blocked by 16, by 8, channels last, row-major.
std::array<Layout, 4> layouts(size_t rank) {
  switch (rank) {
    case 3: return {{{Tag::nCw16c, 16}, {Tag::nCw8c, 8}, {Tag::nwc, 1}, {Tag::ncw, 1}}};
    case 4: return {{{Tag::nChw16c, 16}, {Tag::nChw8c, 8}, {Tag::nhwc, 1}, {Tag::nchw, 1}}};
    default: return {{{Tag::nCdhw16c, 16}, {Tag::nCdhw8c, 8}, {Tag::ndhwc, 1}, {Tag::ncdhw, 1}}};
  }
}

Layout layout_of(const memory::desc& desc) {
  const size_t rank = dims_of(desc).size();
  if (rank < 3) return {Tag::any, 1};
  for (const Layout& layout : layouts(rank)) {
    if (memory::desc(dims_of(desc), memory::data_type::f32, layout.tag) == desc) return layout;
  }
  return {Tag::any, 1};
}

}  // namespace

memory::desc plain_desc(const Shape& shape) {
  if (shape.empty()) return memory::desc({1}, memory::data_type::f32, memory::dims{1});
  memory::dims strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
  return memory::desc(shape, memory::data_type::f32, strides);
}

memory::desc transposed_desc(const Shape& shape) {
  return {shape, memory::data_type::f32, memory::format_tag::ba};
}

memory::desc floats_desc(int64_t count) { return plain_desc({std::max<int64_t>(count, 1)}); }

memory::desc any_desc(const Shape& shape) { return memory::desc(shape, memory::data_type::f32, Tag::any); }

int64_t channel_block(const memory::desc& desc) { return layout_of(desc).block; }

int64_t neighbouring_channels(const memory::desc& desc) {
  const Layout layout = layout_of(desc);
  const bool channels_last = layout.tag == Tag::nwc || layout.tag == Tag::nhwc || layout.tag == Tag::ndhwc;
  return channels_last ? dims_of(desc)[1] : layout.block;
}

memory::desc blocked_desc(const Shape& shape) {
  for (const Layout& layout : layouts(shape.size())) {
    if (layout.block == own_block()) return memory::desc(shape, memory::data_type::f32, layout.tag);
  }
  throw std::logic_error("no layout has blocks like ours");
}

int64_t own_block() { return blocked::fastest_lanes(); }

bool prefers_own_block() { return widest_instruction_set() == InstructionSet::avx512; }

memory::desc channel_slice(const memory::desc& whole, int64_t channel, int64_t channels) {
  memory::dims dims = dims_of(whole), offsets(dims.size(), 0);
  dims[1] = channels;
  offsets[1] = channel;
  return whole.submemory_desc(dims, offsets);
}

bool is_blocked(const memory::desc& desc) {
  const memory::dims dims = dims_of(desc);
  if ((dims.size() != 4 && dims.size() != 5) || data_type_of(desc) != memory::data_type::f32) return false;
  const memory::desc dense = blocked_desc(dims);
  const memory::dims padded = padded_dims_of(desc), strides = strides_of(desc),
                     dense_strides = strides_of(dense);
  if (padded != padded_dims_of(dense) || inner_blocks_of(desc) != inner_blocks_of(dense)) return false;
  for (size_t axis = 1; axis < dims.size(); ++axis) {
    if (padded[axis] > 1 && strides[axis] != dense_strides[axis]) return false;
  }
  return true;
}

int64_t first_element(const memory::desc& desc) { return offset_of(desc); }

int64_t batch_stride(const memory::desc& desc) { return strides_of(desc)[0]; }

int64_t content_bytes(const memory::desc& desc) {
  const memory::dims padded = padded_dims_of(desc);
  if (padded.empty()) return 0;
  return std::accumulate(padded.begin(), padded.end(),
                         static_cast<int64_t>(memory::data_type_size(data_type_of(desc))),
                         std::multiplies<>());
}

blocked::Sweep sweep_of(const memory::desc& desc) {
  const memory::dims dims = dims_of(desc);
  return {.batch = dims[0], .channels = dims[1], .cells = elements(spatial(dims)), .lanes = own_block()};
}

memory::desc with_kernel(const memory::desc& like, const Extents& kernel) {
  return tap_after_tap(like, kernel);
}

memory::desc kernel_part(const memory::desc& whole, const Extents& first, const Extents& count) {
  memory::dims dims = dims_of(whole), offsets(dims.size(), 0);
  const auto axes = static_cast<std::ptrdiff_t>(count.size());
  std::ranges::copy(count, dims.end() - axes);
  std::ranges::copy(first, offsets.end() - axes);
  return whole.submemory_desc(dims, offsets);
}

memory::desc layout_like(const memory::desc& like, const Shape& shape) {
  const Layout layout = layout_of(like);
  if (layout.tag == Tag::any) return plain_desc(shape);
  return memory::desc(shape, memory::data_type::f32, layout.tag);
}

}  // namespace tacho::native
