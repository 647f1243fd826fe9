#pragma once

#include "base/shape.h"
#include "engine/native/onednn_layout.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {

// Row-major order.
dnnl::memory::desc plain_desc(const Shape& shape);

// A matrix by columns.
dnnl::memory::desc transposed_desc(const Shape& shape);

// A plain piece of memory; never empty.
dnnl::memory::desc floats_desc(int64_t count);

// Whatever the primitive likes best.
dnnl::memory::desc any_desc(const Shape& shape);

// How the layout of an activation groups its channels: blocks of 16 or 8, or 1 where they are not blocked.
int64_t channel_block(const dnnl::memory::desc& desc);

// How many channels of a cell are neighbours in an activation: those of a block, all of them, or one.
int64_t neighbouring_channels(const dnnl::memory::desc& desc);

// nC[d]hw8c or nC[d]hw16c: what our own kernels compute in, in blocks of so many channels.
int64_t own_block();
// Whether oneDNN is asked to compute in it too, where left alone it likes other layouts better: turning
// blocks around cost more than its kernels gained (docs/kernels.md).
bool prefers_own_block();
dnnl::memory::desc blocked_desc(const Shape& shape);

// Channels of a blocked tensor, from a whole block on, as a layout of the same memory.
dnnl::memory::desc channel_slice(const dnnl::memory::desc& whole, int64_t channel, int64_t channels);

// In our own blocks, densely filled or a slice of channels; in floats, where it begins and how far images are
// apart.
bool is_blocked(const dnnl::memory::desc& desc);
int64_t first_element(const dnnl::memory::desc& desc);
int64_t batch_stride(const dnnl::memory::desc& desc);
// Over all of it.
blocked::Sweep sweep_of(const dnnl::memory::desc& desc);

// What its elements take, those that fill up blocks included.
int64_t content_bytes(const dnnl::memory::desc& desc);

// The layout of `like`, densely filled, for another shape of the same rank; row-major where `like` is none of
// the usual layouts.
dnnl::memory::desc layout_like(const dnnl::memory::desc& like, const Shape& shape);

// Of weights: the layout of `like` with a kernel of other extents, tap after tap, so that some of them are
// one or few pieces of memory; and the taps from `first` on as a layout of the same memory.
dnnl::memory::desc with_kernel(const dnnl::memory::desc& like, const Extents& kernel);
dnnl::memory::desc kernel_part(const dnnl::memory::desc& whole, const Extents& first, const Extents& count);

}  // namespace tacho::native
