#include "engine/native/convolution_epilogue.h"

#include "engine/native/layout.h"
#include "engine/native/onednn.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {

namespace {

// On its own, in place.
void add_logistic(const View& y, Assembler& assembler) {
  const auto pd = describe_eltwise(assembler.engine(), assembler.attributes(), assembler.forward_kind(),
                                   dnnl::algorithm::eltwise_logistic, y.desc, 0);
  assembler.add_primitive(dnnl::eltwise_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, y}, {DNNL_ARG_DST, y}});
}

}  // namespace

std::optional<Epilogue> epilogue_of(const std::vector<PostOp>& post_ops) {
  Epilogue epilogue;
  for (const PostOp& post : post_ops) {
    const bool has_activation = epilogue.relu || epilogue.elu || epilogue.sigmoid || epilogue.mask;
    if (std::holds_alternative<MaxPool>(post.op)) {
      epilogue.max_pool = true;
    } else if (has_activation || epilogue.max_pool) {
      return std::nullopt;
    } else if (std::holds_alternative<Add>(post.op)) {
      if (epilogue.residual) return std::nullopt;
      epilogue.residual = post.operand;
    } else if (std::holds_alternative<Relu>(post.op)) {
      epilogue.relu = true;
    } else if (const auto* elu = std::get_if<Elu>(&post.op)) {
      epilogue.elu = static_cast<float>(elu->alpha);
    } else if (std::holds_alternative<Sigmoid>(post.op)) {
      epilogue.sigmoid = true;
    } else if (std::holds_alternative<ReluBackward>(post.op)) {
      epilogue.mask = post.operand;
    } else {
      return std::nullopt;
    }
  }
  const bool swaps_order = epilogue.elu && *epilogue.elu < 0;
  if (epilogue.max_pool && (epilogue.residual || epilogue.mask || swaps_order)) return std::nullopt;
  return epilogue;
}

ResultView define_result(const Instruction& instruction, const Epilogue& epilogue, const View& x,
                         bool over_mask, Assembler& assembler) {
  const ValueId result = instruction.outputs[0];
  const auto beside = [&](std::optional<ValueId> id) -> std::optional<View> {
    if (!id) return std::nullopt;
    return assembler.in_layout(*id, blocked_desc(assembler.shape(result)));
  };
  const std::optional<View> residual = beside(epilogue.residual), mask = beside(epilogue.mask);
  const std::optional<View>& under = residual ? residual : over_mask ? mask : std::nullopt;
  if (under && under->slot != x.slot) return {assembler.define_over(result, *under), residual, mask};
  // What lies beside the result has to lie as it does.
  const bool beside_others = residual || mask;
  return {beside_others ? assembler.define(result, blocked_desc(assembler.shape(result)))
                        : assembler.define_in_blocks(result),
          residual, mask};
}

void add_elu(float alpha, const View& y, Assembler& assembler) {
  assembler.add_kernel(
      "elu", blocked::sweep_split(sweep_of(y.desc)), {y},
      [sweep = sweep_of(y.desc), alpha, stride = batch_stride(y.desc)](std::span<std::byte* const> at) {
        blocked::elu(sweep, alpha, {as<float>(at[0]), stride});
      });
}

void add_sigmoid(ValueId id, const View& y, Assembler& assembler) {
  View result = y;
  if (!assembler.has_home(id)) {
    result = assembler.temporary(plain_desc(assembler.shape(id)));
    assembler.add_reorder(y, result);
    assembler.define_as(id, result);
  }
  add_logistic(result, assembler);
}

}  // namespace tacho::native
