#pragma once

#include <dnnl.hpp>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/steps.h"

namespace tacho::native {

// A piece of memory that the plan places once all steps are known.
using SlotId = int;

enum class Storage {
  arena,       // shared over time by lifetime
  input,       // in the arena, but alive for the whole pass: what the caller writes
  output,      // in the arena, but alive until the pass ends: what the caller reads
  weights,     // packed constants and running statistics
  parameters,  // trained
  gradients    // that are kept, or not written in every pass
};

struct Slot {
  Storage storage = Storage::arena;
  int64_t bytes = 0;
  bool scratch = false;  // means something to one step only
};

// A slot seen through a layout. `desc` is empty for types that oneDNN does not know (labels, masks of ours).
struct View {
  SlotId slot = -1;
  dnnl::memory::desc desc;
};

// Where each slot ended up.
using Addresses = std::span<std::byte* const>;

// One prepared call. After bind() it can run any number of times without allocating.
class Step {
 public:
  Step(StepInfo info, std::vector<SlotId> slots) : info_(std::move(info)), slots_(std::move(slots)) {}
  virtual ~Step() = default;

  virtual void bind(Addresses addresses, const dnnl::engine& engine) = 0;
  virtual void run(const dnnl::stream& stream) = 0;

  const StepInfo& info() const { return info_; }
  // Every slot it reads or writes.
  const std::vector<SlotId>& slots() const { return slots_; }

 private:
  StepInfo info_;
  std::vector<SlotId> slots_;
};

using Argument = std::pair<int, View>;  // DNNL_ARG_..., where it is

// A oneDNN primitive with its arguments.
class PrimitiveStep : public Step {
 public:
  PrimitiveStep(StepInfo info, const dnnl::primitive& primitive, std::vector<Argument> arguments);
  void bind(Addresses addresses, const dnnl::engine& engine) override;
  void run(const dnnl::stream& stream) override;

 private:
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> bound_;
};

// A function of ours on the addresses of its views' first elements, in their order.
class KernelStep : public Step {
 public:
  using Kernel = std::function<void(std::span<std::byte* const>)>;
  KernelStep(StepInfo info, const std::vector<View>& views, Kernel kernel);
  void bind(Addresses addresses, const dnnl::engine& engine) override;
  void run(const dnnl::stream& stream) override;

 private:
  Kernel kernel_;
  std::vector<int64_t> byte_offsets_;  // of each view in its slot
  std::vector<std::byte*> bound_;
};

// Typed access to the addresses of a kernel.
template<typename T>
T* as(std::byte* address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace tacho::native
