#include <algorithm>

#include "engine/native/emit.h"
#include "engine/native/onednn.h"
#include "engine/native/plain_kernels.h"
#include "kernels/blocked/blocked.h"
#include "kernels/max_pool/max_pool.h"

namespace tacho::native {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::pooling_backward;
using dnnl::pooling_forward;

PoolingWindow pooling_window_of(const Extents& kernel, const Extents& stride, const Extents& padding,
                                const Shape& input, const Shape& output) {
  PoolingWindow g{kernel, stride, padding, {}};
  for (size_t axis = 0; axis < kernel.size(); ++axis) {
    const int64_t end =
        (output[axis + 2] - 1) * stride[axis] + kernel[axis] - input[axis + 2] - padding[axis];
    g.padding_end.push_back(std::max<int64_t>(end, 0));
  }
  return g;
}

pooling_forward::primitive_desc forward_desc(algorithm kind, const PoolingWindow& g, const memory::desc& src,
                                             const Shape& output, const Assembler& assembler) {
  return describe_pooling(assembler.engine(), assembler.attributes(), assembler.forward_kind(), kind, src,
                          any_desc(output), g);
}

void emit_average(algorithm kind, const PoolingWindow& g, const Instruction& instruction,
                  Assembler& assembler) {
  const View x = assembler.view(instruction.inputs[0]);
  const auto pd = forward_desc(kind, g, x.desc, assembler.shape(instruction.outputs[0]), assembler);
  const View y = assembler.define(instruction.outputs[0], pd.dst_desc());
  assembler.add_primitive(pooling_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
}

// A 3D pooling, whatever the axes are.
template<typename Pooling>
Pooling pooling_of(const PoolingWindow& g, const Shape& input, const Shape& output) {
  Pooling pooling = {.batch = input[0]};
  const size_t missing = 3 - g.kernel.size();
  for (size_t axis = 0; axis < g.kernel.size(); ++axis) {
    pooling.input[missing + axis] = input[2 + axis];
    pooling.output[missing + axis] = output[2 + axis];
    pooling.kernel[missing + axis] = g.kernel[axis];
    pooling.stride[missing + axis] = g.stride[axis];
    pooling.padding[missing + axis] = g.padding[axis];
  }
  return pooling;
}

using PoolKernel =
    std::function<void(const blocked::Pooling&, blocked::Source, blocked::Target, float*, int)>;

// By our own kernel, which reads and writes slices; false where the input is not in blocks.
bool emit_in_blocks(const char* name, const PoolKernel& kernel, const PoolingWindow& g,
                    const Instruction& instruction, Assembler& assembler) {
  if (assembler.is_training() || !blocked::supported() || !assembler.is_in_blocks(instruction.inputs[0]))
    return false;
  const Shape& input = assembler.shape(instruction.inputs[0]);
  auto pooling = pooling_of<blocked::Pooling>(g, input, assembler.shape(instruction.outputs[0]));
  pooling.channels = input[1];
  pooling.lanes = own_block();
  const int threads = assembler.threads();
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const View y = assembler.define_in_blocks(instruction.outputs[0]);
  const View scratch = assembler.scratch(plain_desc({blocked::pooling_scratch_floats(pooling, threads)}));
  assembler.add_kernel(
      name, blocked::pooling_split(pooling), {x, y, scratch},
      [=, from = batch_stride(x.desc), to = batch_stride(y.desc)](std::span<std::byte* const> at) {
        kernel(pooling, {as<const float>(at[0]), from}, {as<float>(at[1]), to}, as<float>(at[2]), threads);
      });
  return true;
}

// `x` and `y` have the same layout.
max_pool::Pooling max_pooling_of(const PoolingWindow& g, const memory::desc& x, const memory::desc& y) {
  auto pooling = pooling_of<max_pool::Pooling>(g, dims_of(x), dims_of(y));
  pooling.lanes = neighbouring_channels(x);
  pooling.blocks = (dims_of(x)[1] + pooling.lanes - 1) / pooling.lanes;
  pooling.src_batch_stride = batch_stride(x);
  pooling.dst_batch_stride = batch_stride(y);
  return pooling;
}

void emit_average_backward(algorithm kind, const PoolingWindow& g, const Shape& input,
                           const Instruction& instruction, Assembler& assembler) {
  // Averages need no more of the forward pass than its layout: that of the gradient at hand.
  const View dy = assembler.view(instruction.inputs[0]);
  const auto hint =
      describe_pooling(assembler.engine(), assembler.attributes(), dnnl::prop_kind::forward_training, kind,
                       layout_like(dy.desc, input), dy.desc, g);
  const auto pd = describe_pooling_backward(assembler.engine(), assembler.attributes(), hint, kind,
                                            any_desc(input), dy.desc, g);
  const View dx = assembler.define(instruction.outputs[0], pd.diff_src_desc());
  assembler.add_primitive(pooling_backward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
}

algorithm average_kind(const AveragePool& op) {
  return op.count_padding ? algorithm::pooling_avg_include_padding : algorithm::pooling_avg_exclude_padding;
}

// oneDNN divides by the whole kernel when padding counts; PyTorch leaves out cells beyond the padding.
bool overhangs(const AveragePool& op, const PoolingWindow& g) {
  return op.count_padding && !std::ranges::equal(g.padding_end, op.padding, std::ranges::less_equal());
}

void emit_averages(std::vector<AxisWindows> windows, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  const View y =
      assembler.define(instruction.outputs[0], plain_desc(assembler.shape(instruction.outputs[0])));
  const int64_t planes = dims_of(x.desc)[0] * dims_of(x.desc)[1];
  assembler.add_kernel("window_average", evenly(planes), {x, y},
                       [planes, w = std::move(windows)](std::span<std::byte* const> at) {
                         average_windows(w, planes, as<const float>(at[0]), as<float>(at[1]));
                       });
}

void emit_averages_backward(std::vector<AxisWindows> windows, const Instruction& instruction,
                            Assembler& assembler) {
  const View dy = assembler.in_plain(instruction.inputs[0]);
  const View dx =
      assembler.define(instruction.outputs[0], plain_desc(assembler.shape(instruction.outputs[0])));
  const int64_t planes = dims_of(dy.desc)[0] * dims_of(dy.desc)[1];
  assembler.add_kernel("window_average_backward", evenly(planes), {dy, dx},
                       [planes, w = std::move(windows)](std::span<std::byte* const> at) {
                         average_windows_backward(w, planes, as<const float>(at[0]), as<float>(at[1]));
                       });
}

}  // namespace

void emit_op(const MaxPool& op, const Instruction& instruction, Assembler& assembler) {
  const Shape& output = assembler.shape(instruction.outputs[0]);
  const PoolingWindow g =
      pooling_window_of(op.kernel, op.stride, op.padding, assembler.shape(instruction.inputs[0]), output);
  if (emit_in_blocks("max_pool", blocked::max_pool, g, instruction, assembler)) return;
  const View x = assembler.in_usual_layout(instruction.inputs[0]);
  const View y = assembler.define(instruction.outputs[0], layout_like(x.desc, output));
  const auto pooling = max_pooling_of(g, x.desc, y.desc);
  std::vector<View> views = {x, y};
  if (op.training)
    views.push_back(assembler.define_bytes(instruction.outputs[1], max_pool::argmax_bytes(pooling)));
  assembler.add_kernel("max_pool", max_pool::forward_split(pooling), views,
                       [=, threads = assembler.threads()](std::span<std::byte* const> at) {
                         uint8_t* argmax = at.size() > 2 ? as<uint8_t>(at[2]) : nullptr;
                         max_pool::forward(pooling, as<const float>(at[0]), as<float>(at[1]), argmax,
                                           threads);
                       });
  if (op.training) assembler.forward_layouts.emplace(instruction.outputs[1], y.desc);
}

void emit_op(const MaxPoolBackward& op, const Instruction& instruction, Assembler& assembler) {
  const ValueId argmax = instruction.inputs[0], gradient = instruction.inputs[1];
  const PoolingWindow g = pooling_window_of(op.forward.kernel, op.forward.stride, op.forward.padding,
                                            op.input, assembler.shape(gradient));
  const View dy = assembler.in_layout(gradient, assembler.forward_layouts.at(argmax));
  const View dx = assembler.define(instruction.outputs[0], layout_like(dy.desc, op.input));
  const auto pooling = max_pooling_of(g, dx.desc, dy.desc);
  assembler.add_kernel("max_pool_backward", max_pool::backward_split(pooling),
                       {assembler.view(argmax), dy, dx},
                       [=, threads = assembler.threads()](std::span<std::byte* const> at) {
                         max_pool::backward(pooling, as<const uint8_t>(at[0]), as<const float>(at[1]),
                                            as<float>(at[2]), threads);
                       });
}

void emit_op(const AveragePool& op, const Instruction& instruction, Assembler& assembler) {
  const Shape &input = assembler.shape(instruction.inputs[0]),
              &output = assembler.shape(instruction.outputs[0]);
  const PoolingWindow g = pooling_window_of(op.kernel, op.stride, op.padding, input, output);
  if (overhangs(op, g)) return emit_averages(pooling_windows(op, input, output), instruction, assembler);
  const PoolKernel average = [counted = op.count_padding](const blocked::Pooling& pooling, blocked::Source x,
                                                          blocked::Target y, float* scratch, int threads) {
    blocked::average_pool(pooling, counted, x, y, scratch, threads);
  };
  if (emit_in_blocks("average_pool", average, g, instruction, assembler)) return;
  emit_average(average_kind(op), g, instruction, assembler);
}

void emit_op(const AveragePoolBackward& op, const Instruction& instruction, Assembler& assembler) {
  const Shape& output = assembler.shape(instruction.inputs[0]);
  const PoolingWindow g =
      pooling_window_of(op.forward.kernel, op.forward.stride, op.forward.padding, op.input, output);
  if (overhangs(op.forward, g)) {
    return emit_averages_backward(pooling_windows(op.forward, op.input, output), instruction, assembler);
  }
  emit_average_backward(average_kind(op.forward), g, op.input, instruction, assembler);
}

void emit_op(const GlobalAveragePool&, const Instruction& instruction, Assembler& assembler) {
  const Extents whole = spatial(assembler.shape(instruction.inputs[0]));
  const Extents none(whole.size(), 0);
  emit_average(algorithm::pooling_avg_exclude_padding, {whole, whole, none, none}, instruction, assembler);
}

void emit_op(const GlobalAveragePoolBackward& op, const Instruction& instruction, Assembler& assembler) {
  const Extents whole = spatial(op.input);
  const Extents none(whole.size(), 0);
  emit_average_backward(algorithm::pooling_avg_exclude_padding, {whole, whole, none, none}, op.input,
                        instruction, assembler);
}

void emit_op(const AdaptiveAveragePool&, const Instruction& instruction, Assembler& assembler) {
  emit_averages(
      adaptive_windows(assembler.shape(instruction.inputs[0]), assembler.shape(instruction.outputs[0])),
      instruction, assembler);
}

void emit_op(const AdaptiveAveragePoolBackward& op, const Instruction& instruction, Assembler& assembler) {
  emit_averages_backward(adaptive_windows(op.input, assembler.shape(instruction.inputs[0])), instruction,
                         assembler);
}

}  // namespace tacho::native
