#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/tensor.h"
#include "engine/steps.h"
#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

inline constexpr std::string_view kSinglePrecision = "f32";
inline constexpr std::string_view kCpu = "cpu";

// Adds up numbers over all devices that share a pass. Every device calls it at the same places of its pass.
class SumOverDevices {
 public:
  virtual ~SumOverDevices() = default;
  virtual int devices() const = 0;
  // Each value becomes the sum over the devices, added up in the order of their ranks.
  virtual void sum(std::span<double> values) = 0;
};

struct CompileOptions {
  int threads = 1;
  uint64_t seed = 0;          // of dropout
  UpdateRule update = Sgd{};  // of a training graph
  bool autotune = false;      // the library times its convolutions in a first pass; where Engine::autotunes()
  // After a backward pass. Otherwise a gradient's memory is used again as soon as its parameter is updated:
  // such a plan learns by step() alone, and its gradients cannot be read.
  bool keep_gradients = true;
  bool low_memory = false;  // rather compute activations and packed weights again than keep them
  // Of activations that a cache is taken to hold where an inference is planned; half of the last cache unless
  // given.
  std::optional<int64_t> cached_bytes = {};
  std::string kernel = {};  // one of Engine::kernels(), taken where it can compute; empty: the fastest
  std::filesystem::path kernel_cache = {};  // where the fastest kernels are remembered; empty: nowhere
  // Where the kernels in use are noted: what it names is used whatever the cache says; empty: nowhere.
  std::filesystem::path kernel_record = {};
  std::string precision = std::string(kSinglePrecision);  // one of Engine::precisions()
  std::string device = std::string(kCpu);                 // one of Engine::devices()
  // Of a GPU's backward pass: the sink takes gradients where they are, not in the host's memory.
  bool gradients_on_device = false;
  // In training, where there is one: the statistics of batch norms are those of all devices' batches, which
  // are of one size. Each batch norm takes one sum in a forward and one in a backward pass; the gradients of
  // parameters stay those of the device's own loss. Must outlive the plan.
  SumOverDevices* batch_norm_sums = nullptr;
};

// How often a plan has run, which dropout and the optimizer depend on.
struct PlanCounters {
  uint64_t passes = 0;  // forward
  int64_t updates = 0;
};

// Is told during a backward pass which gradients are final: nothing of that pass changes them any more.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  virtual void take(std::span<float> gradients) = 0;
};

// How devices exchange gradients among themselves where they are, without the host: GPUs by NCCL. All of them
// make the same calls in the same order.
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;
  virtual std::string_view name() const = 0;
  // Starts to make these, which are final when the device has done what it was given so far, the mean over
  // all devices; returns before.
  virtual void start(std::span<float> gradients) = 0;
  // Returns when all that was started is done: for how long something was on its way, in ms.
  virtual double finish() = 0;
};

// What rank 0 makes, for all that call it; what it throws is thrown on all.
using FromFirst = std::function<std::string(const std::function<std::string()>& make)>;

// A graph made ready to run on one engine. Everything that can be decided has been decided: running neither
// allocates nor chooses.
class Plan {
 public:
  virtual ~Plan() = default;

  // Copies a tensor into a graph input, or, in training, into a parameter or statistic. Type and shape must
  // be the value's own.
  virtual void write(ValueId value, const Tensor& tensor) = 0;
  // Copies out a graph output or, in training, a parameter, a statistic or, where it is kept, a parameter's
  // gradient.
  virtual Tensor read(ValueId value) const = 0;
  // The same into a tensor of the value's type and shape.
  virtual void read_into(ValueId value, Tensor& tensor) const = 0;

  // The nodes before Graph::backward_begin; in training that includes the loss.
  virtual void forward() = 0;
  // The rest: every gradient is overwritten, but for those that are always 0. Only after forward(). `sink`,
  // where there is one, takes the ranges of gradients(), in their order, each as soon as it is final.
  virtual void backward(GradientSink* sink) = 0;
  void backward() { backward(nullptr); }
  // Also between the calls of a sink: returns when a device that computes on its own has done what it was
  // given so far.
  virtual void wait_for_device() const {}
  // One optimizer step by CompileOptions::update. `learning_rate` overrides the rule's.
  virtual void update(std::optional<double> learning_rate = {}) = 0;
  // backward() and update(), perhaps of each parameter as soon as its gradient is final: how many ms the
  // update took.
  virtual double step(std::optional<double> learning_rate = {}) {
    backward();
    const double begin = now_ms();
    update(learning_rate);
    return now_ms() - begin;
  }

  // Whether it is of a training graph, and so has a backward pass and an update.
  virtual bool trains() const = 0;
  // The gradients of all parameters, in the plan's own layout: ranges in the order in which a backward pass
  // finishes them, disjoint where they are kept. Plans of equal graphs, weights and options have equal
  // ranges.
  virtual std::vector<std::span<float>> gradients() = 0;

  // In training, what the optimizer remembers about a parameter, in its shape: array `which` of
  // state_per_parameter(). Together with the weights and the counters it is all that a plan remembers.
  virtual Tensor read_state(ValueId parameter, int which) const = 0;
  virtual void write_state(ValueId parameter, int which, const Tensor& tensor) = 0;
  virtual PlanCounters counters() const = 0;
  virtual void set_counters(const PlanCounters& counters) = 0;

  // After a backward pass whose gradients are not finite: scales the next one's loss by less. False where it
  // scales none, or no less.
  virtual bool reduce_loss_scale() { return false; }
  // Updates that were left out because gradients were not finite.
  virtual int64_t steps_left_out() const { return 0; }

  // What the plan holds for its whole life.
  virtual int64_t memory_bytes() const = 0;

  // The most that was in use at once of a device's own memory since the plan was made; nothing on the CPU.
  virtual std::optional<int64_t> peak_device_bytes() const { return {}; }

  // The kernels it calls; empty for an engine that does not say.
  virtual StepList steps() const { return {}; }
  // From now on each step notes there when it began and ended, one entry per step; an empty span ends it.
  virtual void record_times(std::span<StepTime>) {}
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  virtual std::string version() const = 0;

  // What it computes with on GPUs beside that, such as cuDNN: name -> version.
  virtual std::map<std::string, std::string> gpu_libraries() const { return {}; }

  // False for an engine that only measures the harness: its outputs mean nothing.
  virtual bool computes() const { return true; }
  // False for an engine that is there to be right, not to be used: it would take days to learn anything.
  virtual bool is_fast() const { return true; }

  // Whether several plans of one thread each may compute at once, each in a thread of one team.
  virtual bool computes_side_by_side() const { return false; }

  // What of the CPU it uses, such as "AVX2"; empty where that is what the compiler gives to all.
  virtual std::string instruction_set() const { return {}; }
  // How many threads a plan really computes with that may use so many.
  virtual int threads_of(int allowed) const {
    static_cast<void>(allowed);
    return 1;
  }

  // Whether its plans tell their steps: Plan::steps().
  virtual bool tells_steps() const { return false; }

  // On what it can compute here: kCpu, "cuda:0" and so on.
  virtual std::vector<std::string> devices() const { return {std::string(kCpu)}; }
  // In which numbers it can compute there.
  virtual std::vector<std::string> precisions(const std::string& device) const {
    static_cast<void>(device);
    return {std::string(kSinglePrecision)};
  }

  // Whether its library can time its own convolutions there: CompileOptions::autotune.
  virtual bool autotunes(const std::string& device) const {
    static_cast<void>(device);
    return false;
  }

  // Where the device sits, as its driver names it, such as "0000:65:00.0"; empty for the CPU.
  virtual std::string bus_id(const std::string& device) const {
    static_cast<void>(device);
    return {};
  }

  // 10^9 FLOP/s of products of two square matrices with so many rows, two FLOP a multiply-add; nothing where
  // it offers none, or they do not fit.
  virtual std::optional<double> measure_product_gflops(const std::string& device,
                                                       const std::string& precision, int64_t rows) const {
    static_cast<void>(device), static_cast<void>(precision), static_cast<void>(rows);
    return {};
  }

  // Joins this device, the `rank`-th of `size` that all make the call, to the others; nothing, on all of
  // them, where devices of this kind exchange gradients through the host's memory.
  virtual std::unique_ptr<DeviceExchange> join_devices(const std::string& device, int rank, int size,
                                                       const FromFirst& from_first) const {
    static_cast<void>(device), static_cast<void>(rank), static_cast<void>(size),
        static_cast<void>(from_first);
    return nullptr;
  }

  // What a plan of this graph will hold, before anything is allocated. Saturates for absurd batches.
  virtual int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const = 0;

  // Names of kernels that CompileOptions::kernel may force; empty for an engine without a choice.
  virtual std::vector<std::string> kernels() const { return {}; }
  // Why it cannot follow CompileOptions::low_memory; nothing where it can.
  virtual std::optional<std::string> why_no_low_memory() const {
    return "keeps what it needs again, whatever is asked";
  }
  // Measures now what compile() would have to: what it needs for that does not count as the plan's.
  virtual void choose_kernels(const Graph&, const CompileOptions&) const {}

  // `weights` holds every parameter and statistic of the graph (see check_weights()); each is let go once the
  // plan has it in its own layout. Throws OutOfMemory where the plan would not fit, and UserError where the
  // engine cannot compute so on this CPU.
  virtual std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                        const CompileOptions& options) const = 0;
};

}  // namespace tacho
