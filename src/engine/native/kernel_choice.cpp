#include "engine/native/kernel_choice.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "engine/memory_estimate.h"
#include "engine/native/native_plan.h"

namespace tacho::native {
namespace {

constexpr int kLeastRuns = 2, kMostRuns = 10;
constexpr double kEnoughMs = 30;
constexpr double kClose = 1.5;     // times the best: within this a second kernel may just have been disturbed
constexpr double kNotable = 0.97;  // another kernel than oneDNN's must be this much faster
// Bytes that an instruction reads and writes: more is timed alone, since buffers of all kernels at once may
// not fit, and at most twice, since it takes long.
constexpr int64_t kLargeWork = int64_t{128} << 20;
constexpr double kHopeless = 2;  // times the best of the others, when run for the first time
constexpr double kSurely = 0.9;  // of a limit that is itself measured

bool is_activation_of(const Program& program, ValueId id) {
  const Role role = program.value(id).role;
  return role == Role::activation || role == Role::input;
}

// A program that does nothing but this instruction; where its result is a part of a concatenation, it is one
// here too.
Program alone(const Program& program, const Instruction& instruction, bool is_slice) {
  Program result;
  result.values = program.values;
  result.instructions = {instruction};
  result.instructions[0].stretch = -1;
  result.training = program.training;
  result.low_memory = program.low_memory;
  const auto read = [&](ValueId id) {
    if (id >= 0 && is_activation_of(program, id)) result.inputs.push_back(id);
  };
  for (const ValueId id : instruction.inputs) read(id);
  for (const PostOp& post : instruction.post_ops) read(post.operand);
  result.outputs = result.graph_outputs = instruction.outputs;
  if (is_slice) {
    const auto joined = static_cast<ValueId>(result.values.size());
    Value value = program.value(instruction.outputs[0]);
    value.shape[1] *= 2;
    result.values.push_back(std::move(value));
    result.instructions.push_back(
        {Concat{}, "concat", {instruction.outputs[0], instruction.outputs[0]}, {joined}});
    result.outputs = result.graph_outputs = {joined};
  }
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
    if (list.layers[list.steps[i].layer].op == name_of(Op(Concat{}))) continue;
    if (counts_reorders || list.steps[i].kernel != "reorder") sum += times[i].end_ms - times[i].begin_ms;
  }
  return sum;
}

// Out of all caches.
void flush(std::span<const std::byte> memory) {
  constexpr size_t kLineBytes = 64;
  for (size_t i = 0; i < memory.size(); i += kLineBytes) _mm_clflush(memory.data() + i);
  _mm_mfence();
}

// One kernel at work on an instruction, ready to be timed.
class Candidate {
 public:
  Candidate(const Program& program, const Instruction& instruction, bool is_slice, ConvolutionKernel kernel,
            const CompileOptions& options)
      : kernel_(kernel), reads_input_(program.value(instruction.inputs[0]).role == Role::input) {
    Program work = alone(program, instruction, is_slice);
    KernelChoice kernels(work.instructions.size(), kernel);
    split_post_ops(work, kernels);
    Weights weights = blank_weights(program, instruction);
    Graph values;
    values.values = work.values;
    try {
      plan_ = std::make_unique<NativePlan>(values, Assembler(work, weights, options, kernels).assemble(),
                                           options, weights);
    } catch (const OutOfMemory&) {
      return;  // takes for ever
    }
    // Memory that nothing was written to is one page of zeros, which is always in a cache.
    for (const ValueId id : work.inputs)
      plan_->write(id, Tensor(work.values[static_cast<size_t>(id)].shape, DType::f32));
    list_ = plan_->steps();
    times_.resize(list_.steps.size());
    plan_->record_times(times_);
    run();  // the first does not count
    best_ms_ = std::numeric_limits<double>::infinity();
  }

  ConvolutionKernel kernel() const { return kernel_; }
  double best_ms() const { return best_ms_; }

  // Once more where the first run, which met cold memory, leaves hope; and then without its buffers.
  void run_alone(double best_of_others) {
    if (plan_ == nullptr) return;
    const double cold_ms = counted_ms(list_, times_, reads_input_);
    if (cold_ms < kHopeless * best_of_others) {
      run();
    } else {
      best_ms_ = cold_ms;
    }
    plan_.reset();
  }

  void run() {
    if (plan_ == nullptr) return;
    // In a network all other layers have run since these weights were last read, and the input was just
    // written.
    for (const auto& memory : plan_->weight_memory()) flush(memory);
    plan_->forward();
    plan_->backward();
    best_ms_ = std::min(best_ms_, counted_ms(list_, times_, reads_input_));
  }

 private:
  ConvolutionKernel kernel_;
  bool reads_input_;
  std::unique_ptr<NativePlan> plan_;
  StepList list_;
  std::vector<StepTime> times_;
  double best_ms_ = std::numeric_limits<double>::infinity();
};

bool is_close(const std::vector<Candidate>& all) {
  const double best_ms = std::ranges::min_element(all, {}, &Candidate::best_ms)->best_ms();
  return std::ranges::count_if(
             all, [&](const Candidate& candidate) { return candidate.best_ms() < kClose * best_ms; }) > 1;
}

// In turns, so that whatever disturbs the machine disturbs them alike; more of them where it is close.
std::vector<Candidate> timed(const Program& program, const Instruction& instruction, bool is_slice,
                             const std::vector<ConvolutionKernel>& kernels, const CompileOptions& options) {
  std::vector<Candidate> all;
  for (const ConvolutionKernel kernel : kernels)
    all.emplace_back(program, instruction, is_slice, kernel, options);
  const double begin = now_ms();
  const double enough_ms = kEnoughMs * static_cast<double>(kernels.size());
  for (int run = 0; run < kMostRuns && (run < kLeastRuns || now_ms() - begin < enough_ms || is_close(all));
       ++run) {
    for (Candidate& candidate : all) candidate.run();
  }
  return all;
}

// Multiply-adds along one axis that read the image, not its padding.
int64_t taps_inside(const Convolution& op, size_t axis, int64_t kernel, int64_t input, int64_t output) {
  int64_t taps = 0;
  for (int64_t at = 0; at < output; ++at) {
    for (int64_t tap = 0; tap < kernel; ++tap) {
      const int64_t from = at * op.stride[axis] - op.padding[axis] + tap * op.dilation[axis];
      if (from >= 0 && from < input) ++taps;
    }
  }
  return taps;
}

// In the order of `kernels`, without those that were left out.
std::vector<Candidate> timed_alone(const Program& program, const Instruction& instruction, bool is_slice,
                                   const std::vector<ConvolutionKernel>& kernels,
                                   const CompileOptions& options, KernelCache& cache) {
  const double flop = direct_flop(program, instruction);
  const double least_direct_ms = flop > 0 ? flop / (cache.peak_gflops(options.threads) * 1e6) : 0;
  std::vector<Candidate> all;
  time_in_turn(kernels, least_direct_ms, [&](ConvolutionKernel kernel, double best_ms) {
    all.emplace_back(program, instruction, is_slice, kernel, options).run_alone(best_ms);
    return all.back().best_ms();
  });
  std::ranges::sort(all, {}, [&](const Candidate& candidate) {
    return std::ranges::find(kernels, candidate.kernel()) - kernels.begin();
  });
  return all;
}

bool is_large(const Program& program, const Instruction& instruction) {
  int64_t bytes = 0;
  for (const auto& ids : {instruction.inputs, instruction.outputs}) {
    for (const ValueId id : ids) {
      if (id >= 0) bytes += saturating_bytes(program.value(id).shape, program.value(id).dtype);
    }
  }
  return bytes > kLargeWork;
}

ConvolutionKernel measure(const Program& program, const Instruction& instruction, bool is_slice,
                          const std::string& work, const std::vector<ConvolutionKernel>& kernels,
                          const CompileOptions& options, KernelCache& cache) {
  const std::vector<Candidate> all =
      is_large(program, instruction) ? timed_alone(program, instruction, is_slice, kernels, options, cache)
                                     : timed(program, instruction, is_slice, kernels, options);
  const Candidate* best = &all.front();
  std::string timings;
  for (const Candidate& candidate : all) {
    const double ms = candidate.best_ms();
    timings += fmt::format("{}{} {:.4f} ms", timings.empty() ? "" : ", ", name_of(candidate.kernel()), ms);
    if (ms < best->best_ms() * kNotable) best = &candidate;
  }
  // What did not fit now may fit the next time; but plans of one program have the same kernels.
  const auto ran = [](const Candidate& candidate) { return std::isfinite(candidate.best_ms()); };
  if (std::ranges::all_of(all, ran)) {
    cache.add(options.threads, work, best->kernel(), timings);
  } else {
    cache.remember(options.threads, work, best->kernel());
  }
  return best->kernel();
}

}  // namespace

KernelChoice choose_kernels(const Program& program, const CompileOptions& options, KernelCache& cache) {
  const auto forced = find_kernel(options.kernel);
  const Homes homes = homes_of(program);
  KernelChoice choice;
  for (const Instruction& instruction : program.instructions) {
    const std::vector<ConvolutionKernel> kernels = candidates(program, instruction);
    if (kernels.size() < 2 || forced) {
      const bool can = forced && std::ranges::find(kernels, *forced) != kernels.end();
      choice.push_back(can ? *forced : kernels.empty() ? ConvolutionKernel::onednn : kernels.front());
      continue;
    }
    const bool is_slice = homes.of.contains(instruction.outputs[0]);
    const std::string work =
        fmt::format("{}{}", describe_work(program, instruction), is_slice ? " slice" : "");
    const auto known = cache.find(options.threads, work);
    const bool can = known && std::ranges::find(kernels, *known) != kernels.end();
    choice.push_back(can ? *known : measure(program, instruction, is_slice, work, kernels, options, cache));
  }
  return choice;
}

double direct_flop(const Program& program, const Instruction& instruction) {
  const auto* op = std::get_if<Convolution>(&instruction.op);
  if (op == nullptr) return 0;
  const ValueId result =
      instruction.post_ops.empty() ? instruction.outputs[0] : instruction.post_ops[0].before;
  const Shape &input = program.shape(instruction.inputs[0]), &weight = program.shape(instruction.inputs[1]),
              &output = program.shape(result);
  double flop = 2 * static_cast<double>(output[0]) * static_cast<double>(weight[0] * weight[1]);
  for (size_t axis = 0; axis + 2 < weight.size(); ++axis)
    flop *= static_cast<double>(taps_inside(*op, axis, weight[axis + 2], input[axis + 2], output[axis + 2]));
  return flop;
}

void time_in_turn(std::vector<ConvolutionKernel> kernels, double least_direct_ms,
                  const std::function<double(ConvolutionKernel kernel, double best_ms)>& time) {
  std::ranges::stable_partition(kernels, [](auto kernel) { return kernel == ConvolutionKernel::winograd; });
  double best_ms = std::numeric_limits<double>::infinity();
  for (const ConvolutionKernel kernel : kernels) {
    if (best_ms < kSurely * least_direct_ms) return;
    best_ms = std::min(best_ms, time(kernel, best_ms));
  }
}

}  // namespace tacho::native
