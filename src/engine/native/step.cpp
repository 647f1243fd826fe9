#include "engine/native/step.h"

#include "engine/native/layout.h"

namespace tacho::native {
namespace {

std::vector<SlotId> slots_of(const std::vector<Argument>& arguments) {
  std::vector<SlotId> slots;
  for (const auto& [argument, view] : arguments) slots.push_back(view.slot);
  return slots;
}

std::vector<SlotId> slots_of(const std::vector<View>& views) {
  std::vector<SlotId> slots;
  for (const View& view : views) slots.push_back(view.slot);
  return slots;
}

}  // namespace

PrimitiveStep::PrimitiveStep(StepInfo info, const dnnl::primitive& primitive, std::vector<Argument> arguments)
    : Step(std::move(info), slots_of(arguments)), primitive_(primitive), arguments_(std::move(arguments)) {}

void PrimitiveStep::bind(Addresses addresses, const dnnl::engine& engine) {
  memories_.clear();
  bound_.clear();
  for (const auto& [argument, view] : arguments_) {
    memories_.emplace_back(view.desc, engine, addresses[static_cast<size_t>(view.slot)]);
    bound_.push_back({argument, memories_.back().get()});
  }
}

void PrimitiveStep::run(const dnnl::stream& stream) {
  // The C call: the C++ one builds a map of arguments on the heap every time.
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(bound_.size()), bound_.data()),
      "oneDNN could not execute a primitive");
}

KernelStep::KernelStep(StepInfo info, const std::vector<View>& views, Kernel kernel)
    : Step(std::move(info), slots_of(views)), kernel_(std::move(kernel)) {
  for (const View& view : views) byte_offsets_.push_back(first_element(view.desc) * int64_t{sizeof(float)});
}

void KernelStep::bind(Addresses addresses, const dnnl::engine&) {
  bound_.clear();
  for (size_t i = 0; i < slots().size(); ++i)
    bound_.push_back(addresses[static_cast<size_t>(slots()[i])] + byte_offsets_[i]);
}

void KernelStep::run(const dnnl::stream&) { kernel_(bound_); }

}  // namespace tacho::native
