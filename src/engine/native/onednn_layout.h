#pragma once

// How oneDNN 2 and 3 tell what a layout looks like: see onednn.h.

#include <algorithm>
#include <dnnl.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace tacho::native {

inline constexpr bool kOnednn3 = DNNL_VERSION_MAJOR >= 3;

template<typename Layout>
dnnl::memory::dims dims_of(const Layout& layout) {
  if constexpr (kOnednn3) {
    return layout.get_dims();
  } else {
    return layout.dims();
  }
}

template<typename Layout>
dnnl::memory::data_type data_type_of(const Layout& layout) {
  if constexpr (kOnednn3) {
    return layout.get_data_type();
  } else {
    return layout.data_type();
  }
}

// Where it begins, in elements.
template<typename Layout>
int64_t offset_of(const Layout& layout) {
  if constexpr (kOnednn3) {
    return layout.get_submemory_offset();
  } else {
    return layout.data.offset0;
  }
}

// How far neighbours along each axis are apart, in elements: blocks, where it is blocked.
template<typename Layout>
dnnl::memory::dims strides_of(const Layout& layout) {
  if constexpr (kOnednn3) {
    return layout.get_strides();
  } else {
    const auto* strides = layout.data.format_desc.blocking.strides;
    return dnnl::memory::dims(strides, strides + layout.data.ndims);
  }
}

// With what fills up blocks.
template<typename Layout>
dnnl::memory::dims padded_dims_of(const Layout& layout) {
  if constexpr (kOnednn3) {
    return layout.get_padded_dims();
  } else {
    return dnnl::memory::dims(layout.data.padded_dims, layout.data.padded_dims + layout.data.ndims);
  }
}

// Axis and size, from the outermost in.
using InnerBlocks = std::vector<std::pair<int64_t, int64_t>>;
template<typename Layout>
InnerBlocks inner_blocks_of(const Layout& layout) {
  InnerBlocks blocks;
  if constexpr (kOnednn3) {
    const auto axes = layout.get_inner_idxs(), sizes = layout.get_inner_blks();
    for (size_t i = 0; i < axes.size(); ++i) blocks.emplace_back(axes[i], sizes[i]);
  } else {
    const auto& blocking = layout.data.format_desc.blocking;
    for (int i = 0; i < blocking.inner_nblks; ++i)
      blocks.emplace_back(blocking.inner_idxs[i], blocking.inner_blks[i]);
  }
  return blocks;
}

// Weights with a kernel of these extents, tap after tap. Each tap is as in `like`, but not blocked in oneDNN
// 3, which makes no blocked layout but those that have a name.
template<typename Layout>
Layout tap_after_tap(const Layout& like, const dnnl::memory::dims& kernel) {
  dnnl::memory::dims dims = dims_of(like), strides = strides_of(like);
  const size_t channel_axes = dims.size() - kernel.size();
  std::ranges::copy(kernel, dims.end() - std::ssize(kernel));
  std::vector<size_t> order(channel_axes);  // the innermost first
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [from = strides](size_t axis) { return from[axis]; });
  for (size_t axis = dims.size(); axis-- > channel_axes;) order.push_back(axis);

  dnnl::memory::dims padded = kOnednn3 ? dims : padded_dims_of(like);
  std::ranges::copy(kernel, padded.end() - std::ssize(kernel));
  dnnl::memory::dims counts = padded;
  int64_t stride = 1;
  for (const auto& [axis, size] : kOnednn3 ? InnerBlocks{} : inner_blocks_of(like)) {
    counts[static_cast<size_t>(axis)] /= size;
    stride *= size;
  }
  for (const size_t axis : order) {
    strides[axis] = stride;
    stride *= counts[axis];
  }
  if constexpr (kOnednn3) {
    return Layout(dims, data_type_of(like), strides);
  } else {
    Layout result = like;
    std::ranges::copy(dims, result.data.dims);
    std::ranges::copy(padded, result.data.padded_dims);
    std::ranges::copy(strides, result.data.format_desc.blocking.strides);
    return result;
  }
}

}  // namespace tacho::native
