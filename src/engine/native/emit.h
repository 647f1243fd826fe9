#pragma once

#include "engine/native/assembler.h"
#include "engine/native/program.h"

// One function per op: appends the steps that compute an instruction.
namespace tacho::native {

// Visits the instruction's op.
void emit(const Instruction& instruction, Assembler& assembler);

void emit_op(const Convolution& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const ConvolutionBackwardWeights& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const Linear& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const LinearBackwardData& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const LinearBackwardWeights& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const BatchNorm& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const BatchNormBackward& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const Relu& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Elu& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Sigmoid& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Add& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const ReluBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const EluBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const SigmoidBackward& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const MaxPool& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const MaxPoolBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const AveragePool& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const AveragePoolBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const GlobalAveragePool& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const GlobalAveragePoolBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const AdaptiveAveragePool& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const AdaptiveAveragePoolBackward& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const Concat& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Slice& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Flatten& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Reshape& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Upsample& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Crop& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const Fence& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const UpsampleBackward& op, const Instruction& instruction, Assembler& assembler);

void emit_op(const Dropout& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const DropoutBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const SoftmaxCrossEntropy& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const SoftmaxCrossEntropyBackward& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const DiceLoss& op, const Instruction& instruction, Assembler& assembler);
void emit_op(const DiceLossBackward& op, const Instruction& instruction, Assembler& assembler);

// Activations among the instruction's post-ops, in order; Add is the caller's, in the way its primitive needs
// it.
void append_activation(const PostOp& post, dnnl::post_ops& ops);

}  // namespace tacho::native
