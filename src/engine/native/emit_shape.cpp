#include <algorithm>
#include <array>

#include "engine/native/emit.h"
#include "engine/native/onednn.h"
#include "engine/native/plain_kernels.h"

namespace tacho::native {
namespace {

using dnnl::memory;

// The same bytes in row-major order, without a step where the layout allows it.
View row_major(ValueId id, Assembler& assembler) {
  const View x = assembler.view(id);
  const Shape& shape = assembler.shape(id);
  const bool one_cell = std::ranges::all_of(spatial(shape), [](int64_t extent) { return extent == 1; });
  if (one_cell && x.desc.get_size() == plain_desc(shape).get_size()) return x;
  return assembler.in_plain(id);
}

// Depth, height and width of an activation.
std::array<int64_t, 3> three_axes(const Extents& extents, int64_t missing) {
  std::array<int64_t, 3> axes = {missing, missing, missing};
  std::ranges::copy(extents, axes.end() - std::ssize(extents));
  return axes;
}

// The value in a layout whose cells follow each other row-major within a plane: all of the usual ones.
View in_cells(ValueId id, Assembler& assembler) {
  const View x = assembler.view(id);
  return layout_like(x.desc, assembler.shape(id)) == x.desc ? x : assembler.in_plain(id);
}

Cells cells_of(const memory::desc& desc, const Shape& shape) {
  const int64_t lanes = neighbouring_channels(desc);
  return {shape[0] * ((shape[1] + lanes - 1) / lanes), lanes, three_axes(spatial(shape), 1)};
}

}  // namespace

void emit_op(const Concat&, const Instruction& instruction, Assembler& assembler) {
  if (assembler.define_joined(instruction.outputs[0], instruction.inputs)) return;
  std::vector<View> parts;
  std::vector<memory::desc> descs;
  for (ValueId id : instruction.inputs) {
    parts.push_back(assembler.view(id));
    descs.push_back(parts.back().desc);
  }
  const auto pd = describe_concat(assembler.engine(), assembler.attributes(), 1, descs);
  std::vector<Argument> arguments = {{DNNL_ARG_DST, assembler.define(instruction.outputs[0], pd.dst_desc())}};
  for (size_t i = 0; i < parts.size(); ++i) {
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), parts[i]);
  }
  assembler.add_primitive(dnnl::concat(pd), pd.scratchpad_desc(), pd.impl_info_str(), std::move(arguments));
}

void emit_op(const Slice& op, const Instruction& instruction, Assembler& assembler) {
  const ValueId x_id = instruction.inputs[0];
  const Shape& shape = assembler.shape(instruction.outputs[0]);
  if (assembler.is_in_blocks(x_id) && op.begin % own_block() == 0 && op.channels % own_block() == 0) {
    const View x = assembler.in_blocks(x_id);
    return assembler.define_as(instruction.outputs[0],
                               {x.slot, channel_slice(x.desc, op.begin, op.channels)});
  }
  // A window onto a blocked layout exists where it holds whole blocks of channels.
  const int64_t block = channel_block(assembler.view(x_id).desc);
  const bool whole_blocks = op.begin % block == 0 && op.channels % block == 0;
  const View x = whole_blocks ? assembler.view(x_id) : assembler.in_plain(x_id);
  memory::dims offsets(shape.size(), 0);
  offsets[1] = op.begin;
  const View window{x.slot, x.desc.submemory_desc(shape, offsets)};
  assembler.add_reorder(window, assembler.define(instruction.outputs[0], layout_like(x.desc, shape)));
}

void emit_op(const Flatten&, const Instruction& instruction, Assembler& assembler) {
  const View x = row_major(instruction.inputs[0], assembler);
  assembler.define_as(instruction.outputs[0], {x.slot, plain_desc(assembler.shape(instruction.outputs[0]))});
}

void emit_op(const Reshape& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  assembler.define_as(instruction.outputs[0], {x.slot, plain_desc(op.input)});
}

void emit_op(const Upsample& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.view(instruction.inputs[0]);
  const std::vector<float> factors(op.scale.begin(), op.scale.end());
  const auto pd =
      describe<dnnl::resampling_forward>(assembler.engine(), assembler.attributes(), assembler.forward_kind(),
                                         dnnl::algorithm::resampling_nearest, factors, x.desc,
                                         any_desc(assembler.shape(instruction.outputs[0])));
  const View y = assembler.define(instruction.outputs[0], pd.dst_desc());
  assembler.add_primitive(dnnl::resampling_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
}

void emit_op(const Crop& op, const Instruction& instruction, Assembler& assembler) {
  const View x = in_cells(instruction.inputs[0], assembler);
  const Shape& shape = assembler.shape(instruction.outputs[0]);
  const View y = assembler.define(instruction.outputs[0], layout_like(x.desc, shape));
  assembler.add_kernel(
      "crop", evenly(rows_of(cells_of(y.desc, shape))), {x, y},
      [cells = cells_of(x.desc, assembler.shape(instruction.inputs[0])), begin = three_axes(op.begin, 0),
       size = three_axes(op.size, 1)](std::span<std::byte* const> at) {
        crop(cells, as<const float>(at[0]), begin, size, as<float>(at[1]));
      });
}

void emit_op(const Fence& op, const Instruction& instruction, Assembler& assembler) {
  const View x = in_cells(instruction.inputs[0], assembler);
  const Shape& shape = assembler.shape(instruction.inputs[0]);
  const View bounds = assembler.view(instruction.inputs[1]);
  const View y = assembler.define_over(instruction.outputs[0], x);
  assembler.add_kernel(
      "fence", evenly(rows_of(cells_of(x.desc, shape))), {x, bounds, y},
      [cells = cells_of(x.desc, shape), axes = shape.size() - 2,
       outside = static_cast<float>(op.outside)](std::span<std::byte* const> at) {
        fence(cells, as<const float>(at[0]), {as<const int64_t>(at[1]), 2 * axes}, outside, as<float>(at[2]));
      });
}

void emit_op(const UpsampleBackward& op, const Instruction& instruction, Assembler& assembler) {
  const View dy = assembler.view(instruction.inputs[0]);
  const memory::desc dx_desc = layout_like(dy.desc, assembler.shape(instruction.outputs[0]));
  const std::vector<float> factors(op.scale.begin(), op.scale.end());
  constexpr auto kNearest = dnnl::algorithm::resampling_nearest;
  const auto hint = describe<dnnl::resampling_forward>(
      assembler.engine(), {}, dnnl::prop_kind::forward_training, kNearest, factors, dx_desc, dy.desc);
  const auto pd = describe_backward<dnnl::resampling_backward>(assembler.engine(), assembler.attributes(),
                                                               hint, kNearest, factors, dx_desc, dy.desc);
  const View dx = assembler.define(instruction.outputs[0], dx_desc);
  assembler.add_primitive(dnnl::resampling_backward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
}

}  // namespace tacho::native
