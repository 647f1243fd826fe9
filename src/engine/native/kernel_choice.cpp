#include "engine/native/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "engine/native/native_plan.h"

namespace tacho::native {
namespace {

constexpr int kLeastRuns = 2, kMostRuns = 10;
constexpr double kEnoughMs = 30;
constexpr double kNotable = 0.97;  // another kernel than oneDNN's must be this much faster

bool is_activation_of(const Program& program, ValueId id) {
  const Role role = program.value(id).role;
  return role == Role::activation || role == Role::input;
}

// A program that does nothing but this instruction.
Program alone(const Program& program, const Instruction& instruction) {
  Program result;
  result.values = program.values;
  result.instructions = {instruction};
  result.training = program.training;
  const auto read = [&](ValueId id) {
    if (id >= 0 && is_activation_of(program, id)) result.inputs.push_back(id);
  };
  for (const ValueId id : instruction.inputs) read(id);
  for (const PostOp& post : instruction.post_ops) read(post.operand);
  result.outputs = result.graph_outputs = instruction.outputs;
  return result;
}

// Zeros: no kernel's speed depends on the numbers.
Weights blank_weights(const Program& program, const Instruction& instruction) {
  Weights weights;
  const auto add = [&](ValueId id) {
    if (!is_activation_of(program, id))
      weights.insert_or_assign(program.value(id).name, Tensor(program.shape(id), DType::f32));
  };
  for (const ValueId id : instruction.inputs) add(id);
  if (instruction.folded) {
    const FoldedBatchNorm& norm = *instruction.folded;
    for (const ValueId id : {norm.weight, norm.bias, norm.mean, norm.variance}) add(id);
  }
  return weights;
}

// What would be spent in the middle of a network: inputs arrive in the layout that kernels like, so turning
// them around counts only where the instruction reads the network's own input.
double counted_ms(const StepList& list, std::span<const StepTime> times, bool counts_reorders) {
  double sum = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (counts_reorders || list.steps[i].kernel != "reorder") sum += times[i].end_ms - times[i].begin_ms;
  }
  return sum;
}

double time_kernel_ms(const Program& program, const Instruction& instruction, ConvolutionKernel kernel,
                      const CompileOptions& options) {
  const Program work = alone(program, instruction);
  Weights weights = blank_weights(program, instruction);
  Graph values;
  values.values = work.values;
  NativePlan plan(values, Assembler(work, weights, options, {kernel}).assemble(), options, weights);
  const StepList list = plan.steps();
  std::vector<StepTime> times(list.steps.size());
  plan.record_times(times);
  const bool reads_input = program.value(instruction.inputs[0]).role == Role::input;
  double best = std::numeric_limits<double>::infinity();
  plan.forward();
  plan.backward();
  const double begin = now_ms();
  for (int run = 0; run < kMostRuns && (run < kLeastRuns || now_ms() - begin < kEnoughMs); ++run) {
    plan.forward();
    plan.backward();
    best = std::min(best, counted_ms(list, times, reads_input));
  }
  return best;
}

// A kernel whose memory does not fit takes for ever.
double time_or_infinity(const Program& program, const Instruction& instruction, ConvolutionKernel kernel,
                        const CompileOptions& options) {
  try {
    return time_kernel_ms(program, instruction, kernel, options);
  } catch (const OutOfMemory&) {
    return std::numeric_limits<double>::infinity();
  }
}

ConvolutionKernel measure(const Program& program, const Instruction& instruction, const std::string& work,
                          const std::vector<ConvolutionKernel>& kernels, const CompileOptions& options,
                          KernelCache& cache) {
  ConvolutionKernel best = kernels.front();
  double best_ms = std::numeric_limits<double>::infinity();
  std::string timings;
  for (const ConvolutionKernel kernel : kernels) {
    const double ms = time_or_infinity(program, instruction, kernel, options);
    timings += fmt::format("{}{} {:.4f} ms", timings.empty() ? "" : ", ", name_of(kernel), ms);
    if (ms < best_ms * (kernel == kernels.front() ? 1 : kNotable)) {
      best = kernel;
      best_ms = ms;
    }
  }
  cache.add(options.threads, work, best, timings);
  return best;
}

}  // namespace

KernelChoice choose_kernels(const Program& program, const CompileOptions& options, KernelCache& cache) {
  const auto forced = find_kernel(options.kernel);
  KernelChoice choice;
  for (const Instruction& instruction : program.instructions) {
    const std::vector<ConvolutionKernel> kernels = candidates(program, instruction);
    if (kernels.size() < 2 || forced) {
      const bool can = forced && std::ranges::find(kernels, *forced) != kernels.end();
      choice.push_back(can ? *forced : ConvolutionKernel::onednn);
      continue;
    }
    const std::string work = describe_work(program, instruction);
    const auto known = cache.find(options.threads, work);
    choice.push_back(known ? *known : measure(program, instruction, work, kernels, options, cache));
  }
  return choice;
}

}  // namespace tacho::native
