#pragma once

#include <dnnl.hpp>

#include "base/shape.h"

namespace tacho::native {

// Row-major order.
dnnl::memory::desc plain_desc(const Shape& shape);

// Whatever the primitive likes best.
dnnl::memory::desc any_desc(const Shape& shape);

// How the layout of an activation groups its channels: blocks of 16 or 8, or 1 where they are not blocked.
int64_t channel_block(const dnnl::memory::desc& desc);

// The layout of `like`, densely filled, for another shape of the same rank; row-major where `like` is none of
// the usual layouts.
dnnl::memory::desc layout_like(const dnnl::memory::desc& like, const Shape& shape);

}  // namespace tacho::native
