#include "engine/native/layout.h"

#include <algorithm>
#include <array>
#include <numeric>

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
  const size_t rank = desc.dims().size();
  if (rank < 3) return {Tag::any, 1};
  for (const Layout& layout : layouts(rank)) {
    if (memory::desc(desc.dims(), memory::data_type::f32, layout.tag) == desc) return layout;
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

memory::desc any_desc(const Shape& shape) { return memory::desc(shape, memory::data_type::f32, Tag::any); }

int64_t channel_block(const memory::desc& desc) { return layout_of(desc).block; }

int64_t neighbouring_channels(const memory::desc& desc) {
  const Layout layout = layout_of(desc);
  const bool channels_last = layout.tag == Tag::nwc || layout.tag == Tag::nhwc || layout.tag == Tag::ndhwc;
  return channels_last ? desc.dims()[1] : layout.block;
}

memory::desc blocked_desc(const Shape& shape) {
  const auto tag = shape.size() == 4 ? Tag::nChw8c : Tag::nCdhw8c;
  return memory::desc(shape, memory::data_type::f32, tag);
}

memory::desc channel_slice(const memory::desc& whole, int64_t channel, int64_t channels) {
  memory::dims dims = whole.dims(), offsets(dims.size(), 0);
  dims[1] = channels;
  offsets[1] = channel;
  return whole.submemory_desc(dims, offsets);
}

bool is_blocked(const memory::desc& desc) {
  const memory::dims dims = desc.dims();
  if (dims.size() != 4 && dims.size() != 5) return false;
  memory::desc dense = blocked_desc(dims);
  dense.data.offset0 = desc.data.offset0;
  dense.data.format_desc.blocking.strides[0] = batch_stride(desc);
  return dense == desc;
}

int64_t first_element(const memory::desc& desc) { return desc.data.offset0; }

int64_t batch_stride(const memory::desc& desc) { return desc.data.format_desc.blocking.strides[0]; }

int64_t content_bytes(const memory::desc& desc) {
  int64_t bytes = static_cast<int64_t>(memory::data_type_size(desc.data_type()));
  for (int axis = 0; axis < desc.data.ndims; ++axis) bytes *= desc.data.padded_dims[axis];
  return desc.data.ndims == 0 ? 0 : bytes;
}

memory::desc with_kernel(const memory::desc& like, const Extents& kernel) {
  memory::desc result = like;
  dnnl_memory_desc_t& data = result.data;
  auto& blocking = data.format_desc.blocking;
  const size_t axes = like.dims().size(), channel_axes = axes - kernel.size();
  std::vector<int64_t> blocks(axes, 1);
  int64_t stride = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    blocks[static_cast<size_t>(blocking.inner_idxs[i])] *= blocking.inner_blks[i];
    stride *= blocking.inner_blks[i];
  }
  std::vector<size_t> order(channel_axes);  // the innermost first
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t axis) { return like.data.format_desc.blocking.strides[axis]; });
  const auto place = [&](size_t axis) {
    blocking.strides[axis] = stride;
    stride *= data.padded_dims[axis] / blocks[axis];
  };
  for (const size_t axis : order) place(axis);
  for (size_t axis = axes; axis-- > channel_axes;) {
    data.dims[axis] = data.padded_dims[axis] = kernel[axis - channel_axes];
    place(axis);
  }
  return result;
}

memory::desc kernel_part(const memory::desc& whole, const Extents& first, const Extents& count) {
  memory::dims dims = whole.dims(), offsets(dims.size(), 0);
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
