#include "engine/native/layout.h"

#include <array>

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

memory::desc layout_like(const memory::desc& like, const Shape& shape) {
  const Layout layout = layout_of(like);
  if (layout.tag == Tag::any) return plain_desc(shape);
  return memory::desc(shape, memory::data_type::f32, layout.tag);
}

}  // namespace tacho::native
