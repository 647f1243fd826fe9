#include "engine/native/native_plan.h"

#include <malloc.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/native/placement.h"

namespace tacho::native {
namespace {

using dnnl::memory;

// Converts between layouts outside of a pass.
void reorder(const memory::desc& from_desc, const void* from, const memory::desc& to_desc, void* to,
             const dnnl::engine& engine, dnnl::stream& stream) {
  memory source(from_desc, engine, const_cast<void*>(from));
  memory target(to_desc, engine, to);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

}  // namespace

NativePlan::NativePlan(const Graph& graph, Assembly assembly, const CompileOptions& options, Weights& weights)
    : values_(graph.values),
      assembly_(std::move(assembly)),
      update_(options.update),
      stream_(assembly_.engine),
      trains_(graph.training),
      keeps_gradients_(options.keep_gradients) {
  Placement placement = place(assembly_);
  const int64_t state_bytes = placement.bytes[Storage::parameters] * state_per_parameter(update_);
  int64_t total = state_bytes;
  for (const auto& [storage, bytes] : placement.bytes) total += bytes;
  require_memory(total);

  arena_ = Buffer(static_cast<size_t>(placement.bytes[Storage::arena]));
  weights_ = Buffer(static_cast<size_t>(placement.bytes[Storage::weights]));
  parameters_ = Buffer(static_cast<size_t>(placement.bytes[Storage::parameters]));
  gradients_ = Buffer(static_cast<size_t>(placement.bytes[Storage::gradients]));
  state_ = Buffer(static_cast<size_t>(state_bytes));

  const std::map<Storage, std::byte*> bases = {
      {Storage::arena, arena_.data()},           {Storage::input, arena_.data()},
      {Storage::output, arena_.data()},          {Storage::weights, weights_.data()},
      {Storage::parameters, parameters_.data()}, {Storage::gradients, gradients_.data()}};
  for (size_t i = 0; i < assembly_.slots.size(); ++i) {
    addresses_.push_back(bases.at(assembly_.slots[i].storage) + placement.offsets[i]);
  }
  for (const std::unique_ptr<Step>& step : assembly_.steps) step->bind(addresses_, assembly_.engine);
  find_final_gradients();
  fill_constants(weights);
  for (const ParameterGradient& pair : graph.gradients)
    parameter_of_gradient_[pair.gradient] = pair.parameter;
}

// Steps finish a layer's gradients together, and slots lie in the order of the layers: kept gradients that
// lie side by side and end with the same step are one range, which reaches to the next one.
void NativePlan::find_final_gradients() {
  std::vector<size_t> end_steps(assembly_.slots.size(), assembly_.backward_begin);
  for (size_t i = assembly_.backward_begin; i < assembly_.steps.size(); ++i) {
    for (const SlotId slot : assembly_.steps[i]->slots()) end_steps[static_cast<size_t>(slot)] = i + 1;
  }
  const auto floats = [](const void* begin, const std::byte* end) {
    return static_cast<size_t>(end - static_cast<const std::byte*>(begin)) / sizeof(float);
  };
  const auto extend_last_to = [&](const std::byte* end) {
    if (!keeps_gradients_ || final_gradients_.empty()) return;
    std::span<float>& values = final_gradients_.back().values;
    values = {values.data(), floats(values.data(), end)};
  };
  for (const GradientPart& part : assembly_.gradient_parts) {
    const auto gradient = static_cast<size_t>(part.gradient), parameter = static_cast<size_t>(part.parameter);
    std::byte* const begin = addresses_[gradient];
    const size_t end_step = end_steps[gradient];
    extend_last_to(begin);
    if (keeps_gradients_ && !final_gradients_.empty() && final_gradients_.back().end_step == end_step)
      continue;
    final_gradients_.push_back(
        {end_step,
         std::max(end_step, end_steps[parameter]),
         {as<float>(begin), floats(begin, begin + assembly_.slots[gradient].bytes)},
         floats(parameters_.data(), addresses_[parameter]) + static_cast<size_t>(part.first)});
  }
  extend_last_to(gradients_.data() + gradients_.bytes());
  std::ranges::stable_sort(final_gradients_, {}, &FinalGradients::end_step);
  gradients_to_update_ = final_gradients_;
  std::ranges::stable_sort(gradients_to_update_, {}, &FinalGradients::update_step);
}

// The largest first, while little else is there: so the most that is held at once stays small.
void NativePlan::fill_constants(Weights& weights) {
  std::map<ValueId, int> uses;
  for (const PackedConstant& constant : assembly_.constants) {
    for (const ValueId id : constant.sources) ++uses[id];
  }
  const auto bytes = [](const PackedConstant& constant) { return constant.view.desc.get_size(); };
  std::ranges::stable_sort(assembly_.constants, std::ranges::greater(), bytes);
  for (const PackedConstant& constant : assembly_.constants) {
    constant.fill(
        {as<float>(address(constant.view)), [&](const Tensor& tensor) { pack(constant.view, tensor); }});
    for (const ValueId id : constant.sources) {
      if (--uses[id] == 0) weights.erase(values_[static_cast<size_t>(id)].name);
    }
  }
  assembly_.constants.clear();
  malloc_trim(0);  // the small ones leave holes in the heap
}

const View& NativePlan::find(ValueId value) const {
  const auto gradient = parameter_of_gradient_.find(value);
  if (keeps_gradients_ && gradient != parameter_of_gradient_.end())
    return assembly_.gradients.at(gradient->second);
  for (const auto* views : {&assembly_.readable, &assembly_.parameters, &assembly_.statistics}) {
    const auto found = views->find(value);
    if (found != views->end()) return found->second;
  }
  throw std::logic_error(
      fmt::format("[native] the plan does not keep {}", values_[static_cast<size_t>(value)].name));
}

void NativePlan::pack(const View& view, const Tensor& tensor) {
  reorder(plain_desc(dims_of(view.desc)), tensor.raw(), view.desc, address(view), assembly_.engine, stream_);
}

void NativePlan::write(ValueId value, const Tensor& tensor) {
  const Value& target = values_[static_cast<size_t>(value)];
  assert(tensor.shape() == target.shape && tensor.dtype() == target.dtype);
  const View& view = find(value);
  if (target.dtype == DType::f32) {
    pack(view, tensor);
  } else {
    std::memcpy(address(view), tensor.raw(), tensor.bytes());
  }
}

Tensor NativePlan::read(ValueId value) const {
  const Value& source = values_[static_cast<size_t>(value)];
  Tensor tensor(source.shape, source.dtype);
  read_into(value, tensor);
  return tensor;
}

void NativePlan::read_into(ValueId value, Tensor& tensor) const {
  const Value& source = values_[static_cast<size_t>(value)];
  assert(tensor.shape() == source.shape && tensor.dtype() == source.dtype);
  const View& view = find(value);
  if (source.dtype == DType::f32) {
    reorder(view.desc, address(view), plain_desc(dims_of(view.desc)), tensor.raw(), assembly_.engine,
            stream_);
  } else {
    std::memcpy(tensor.raw(), address(view), tensor.bytes());
  }
}

void NativePlan::run_steps(size_t begin, size_t end) {
  if (times_.empty()) {
    for (size_t i = begin; i < end; ++i) assembly_.steps[i]->run(stream_);
    return;
  }
  for (size_t i = begin; i < end; ++i) times_[i] = run_timed(i);
}

StepTime NativePlan::run_timed(size_t step) {
  StepTime time = {.begin_ms = now_ms()};
  assembly_.steps[step]->run(stream_);
  time.end_ms = now_ms();
  return time;
}

// Times of all chunks of a step are added up, and steps shown as if each had run on all of them in one go.
void NativePlan::run_in_chunks(const ChunkedSteps& steps) {
  int64_t& chunk = assembly_.state->chunk;
  chunk = 0;
  run_steps(steps.begin, steps.end);
  for (++chunk; chunk < steps.chunks; ++chunk) {
    if (times_.empty()) {
      run_steps(steps.begin, steps.end);
      continue;
    }
    for (size_t i = steps.begin; i < steps.end; ++i) {
      const StepTime time = run_timed(i);
      times_[i].end_ms += time.end_ms - time.begin_ms;
    }
  }
  if (times_.empty()) return;
  double at_ms = times_[steps.begin].begin_ms;
  for (StepTime& time : times_.subspan(steps.begin, steps.end - steps.begin)) {
    time = {at_ms, at_ms + time.end_ms - time.begin_ms};
    at_ms = time.end_ms;
  }
}

void NativePlan::forward() {
  size_t begin = 0;
  for (const ChunkedSteps& steps : assembly_.chunked) {
    run_steps(begin, steps.begin);
    run_in_chunks(steps);
    begin = steps.end;
  }
  run_steps(begin, assembly_.backward_begin);
  ++assembly_.state->pass;
}

void NativePlan::backward(GradientSink* sink) {
  size_t begin = assembly_.backward_begin;
  for (const FinalGradients& final : final_gradients_) {
    run_steps(begin, final.end_step);
    begin = final.end_step;
    if (sink != nullptr) sink->take(final.values);
  }
  run_steps(begin, assembly_.steps.size());
}

std::vector<std::span<float>> NativePlan::gradients() {
  std::vector<std::span<float>> ranges;
  for (const FinalGradients& final : final_gradients_) ranges.push_back(final.values);
  return ranges;
}

UpdateRule NativePlan::rule_at(std::optional<double> learning_rate) const {
  UpdateRule rule = update_;
  if (learning_rate) std::visit([&](auto& r) { r.learning_rate = *learning_rate; }, rule);
  return rule;
}

void NativePlan::apply(const UpdateRule& rule, const FinalGradients& final) {
  const size_t begin = final.parameters_begin;
  apply_update(rule, updates_, {as<float>(parameters_.data()) + begin, final.values.size()}, final.values,
               state_.bytes() > 0 ? as<float>(state_.data()) + begin : nullptr,
               static_cast<int64_t>(parameters_.bytes() / sizeof(float)));
}

void NativePlan::update(std::optional<double> learning_rate) {
  assert(keeps_gradients_);
  const UpdateRule rule = rule_at(learning_rate);
  ++updates_;
  for (const FinalGradients& final : final_gradients_) apply(rule, final);
}

double NativePlan::step(std::optional<double> learning_rate) {
  if (keeps_gradients_) return Plan::step(learning_rate);
  const UpdateRule rule = rule_at(learning_rate);
  ++updates_;
  double update_ms = 0;
  size_t begin = assembly_.backward_begin;
  for (const FinalGradients& final : gradients_to_update_) {
    run_steps(begin, final.update_step);
    begin = final.update_step;
    const double start = now_ms();
    apply(rule, final);
    update_ms += now_ms() - start;
  }
  run_steps(begin, assembly_.steps.size());
  return update_ms;
}

StepList NativePlan::steps() const {
  StepList list{assembly_.layers, {}};
  for (const std::unique_ptr<Step>& step : assembly_.steps) list.steps.push_back(step->info());
  return list;
}

void NativePlan::record_times(std::span<StepTime> times) {
  assert(times.empty() || times.size() == assembly_.steps.size());
  times_ = times;
}

std::array<std::span<const std::byte>, 3> NativePlan::weight_memory() const {
  const auto memory_of = [](const Buffer& buffer) { return std::span(buffer.data(), buffer.bytes()); };
  return {memory_of(weights_), memory_of(parameters_), memory_of(gradients_)};
}

std::byte* NativePlan::state_address(const View& parameter, int which) const {
  const std::ptrdiff_t offset = address(parameter) - parameters_.data();
  return const_cast<std::byte*>(state_.data()) + static_cast<size_t>(which) * parameters_.bytes() + offset;
}

Tensor NativePlan::read_state(ValueId parameter, int which) const {
  const View& view = assembly_.parameters.at(parameter);
  Tensor tensor(values_[static_cast<size_t>(parameter)].shape, DType::f32);
  reorder(view.desc, state_address(view, which), plain_desc(dims_of(view.desc)), tensor.raw(),
          assembly_.engine, stream_);
  return tensor;
}

void NativePlan::write_state(ValueId parameter, int which, const Tensor& tensor) {
  const View& view = assembly_.parameters.at(parameter);
  reorder(plain_desc(dims_of(view.desc)), tensor.raw(), view.desc, state_address(view, which),
          assembly_.engine, stream_);
}

void NativePlan::set_counters(const PlanCounters& counters) {
  assembly_.state->pass = counters.passes;
  updates_ = counters.updates;
}

int64_t NativePlan::memory_bytes() const {
  return static_cast<int64_t>(arena_.bytes() + weights_.bytes() + parameters_.bytes() + gradients_.bytes() +
                              state_.bytes());
}

}  // namespace tacho::native
