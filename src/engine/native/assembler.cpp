#include "engine/native/assembler.h"

#include <algorithm>
#include <cassert>

#include "engine/native/emit.h"
#include "engine/native/onednn_limit.h"
#include "engine/native/plain_kernels.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {

using dnnl::memory;

namespace {

SplitFor repeated(SplitFor split, int64_t times) {
  return [split = std::move(split), times](int threads) {
    Split result = split(threads);
    for (Loop& loop : result.loops) {
      loop.work *= static_cast<double>(times);
      loop.rounds *= times;
    }
    return result;
  };
}

}  // namespace

Assembler::Assembler(const Program& program, const Weights& weights, const CompileOptions& options,
                     std::vector<ConvolutionKernel> kernels)
    : program_(program),
      weights_(weights),
      uses_(program),
      threads_(options.threads),
      batch_norm_sums_(options.batch_norm_sums),
      kernels_(std::move(kernels)) {
  result_.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  result_.state = std::make_shared<PassState>(PassState{options.seed, 0});
  for (const auto& [parameter, gradient] : program.gradients) {
    parameter_of_gradient_[gradient] = parameter;
    gradient_of_parameter_[parameter] = gradient;
  }
  homes_ = homes_of(program);
}

Assembly Assembler::assemble() {
  define_inputs();
  bool backward = false;
  int stretch = -1;
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    current_ = static_cast<int>(i);
    const Instruction& instruction = program_.instructions[i];
    if (instruction.backward && !backward) result_.backward_begin = result_.steps.size();
    backward = instruction.backward;
    if (instruction.stretch != stretch) {
      if (stretch >= 0) end_stretch(program_.stretches[static_cast<size_t>(stretch)]);
      stretch = instruction.stretch;
      if (stretch >= 0) begin_stretch(program_.stretches[static_cast<size_t>(stretch)]);
    }
    result_.layers.push_back(
        {instruction.name, std::string(name_of(instruction.op)), backward, instruction.flop});
    emit(instruction, *this);
    for (ValueId id : instruction.outputs) store(id);
  }
  if (stretch >= 0) end_stretch(program_.stretches[static_cast<size_t>(stretch)]);
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    const View output = view(program_.outputs[i]);
    result_.readable[program_.graph_outputs[i]] = output;
    Slot& slot = result_.slots[static_cast<size_t>(output.slot)];
    if (slot.storage == Storage::arena) slot.storage = Storage::output;
  }
  if (!backward) result_.backward_begin = result_.steps.size();
  return std::move(result_);
}

void Assembler::define_inputs() {
  for (ValueId id : program_.inputs) {
    const Value& value = program_.value(id);
    const int64_t bytes = elements(value.shape) * static_cast<int64_t>(size_of(value.dtype));
    const memory::desc desc = value.dtype == DType::f32 ? plain_desc(value.shape) : memory::desc();
    views_[id] = {new_slot(Storage::input, bytes), desc};
    result_.readable[id] = views_[id];
  }
}

void Assembler::begin_stretch(const Stretch& stretch) {
  assert(!homes_.of.contains(stretch.input));
  result_.layers.push_back({program_.value(stretch.whole_input).name, "chunk_of_batch"});
  const View whole = in_usual_layout(stretch.whole_input);
  const View chunk = define(stretch.input, layout_like(whole.desc, shape(stretch.input)));
  result_.chunked.push_back({result_.steps.size(), 0, stretch.chunks});
  chunks_ = stretch.chunks;
  copy_chunk(Copy::into_chunk, chunk, whole);
}

void Assembler::end_stretch(const Stretch& stretch) {
  assert(!homes_.of.contains(stretch.whole_result));
  result_.layers.push_back({program_.value(stretch.whole_result).name, "chunk_of_batch"});
  const View chunk = in_usual_layout(stretch.result);
  const View whole = define(stretch.whole_result, layout_like(chunk.desc, shape(stretch.whole_result)));
  copy_chunk(Copy::into_whole, chunk, whole);
  result_.chunked.back().end = result_.steps.size();
  chunks_ = 1;
}

// Images come one behind the other in every usual layout.
void Assembler::copy_chunk(Copy which, const View& chunk, const View& whole) {
  const auto bytes = static_cast<int64_t>(chunk.desc.get_size());
  assert(bytes * chunks_ == static_cast<int64_t>(whole.desc.get_size()));
  add_kernel("copy", copy_split(bytes), {chunk, View{whole.slot, chunk.desc}},
             [which, bytes, state = state()](std::span<std::byte* const> at) {
               std::byte* const of_whole = at[1] + state->chunk * bytes;
               which == Copy::into_chunk ? copy_bytes(of_whole, bytes, at[0])
                                         : copy_bytes(at[0], bytes, of_whole);
             });
}

dnnl::prop_kind Assembler::forward_kind() const {
  return is_training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
}

dnnl::primitive_attr Assembler::attributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

View Assembler::view(ValueId id) {
  const View existing = views_.at(id);
  return is_blocked(existing.desc) ? in_layout(id, blocked_desc(shape(id))) : existing;
}

View Assembler::in_layout(ValueId id, const memory::desc& desc) {
  const View existing = views_.at(id);
  if (existing.desc == desc) return existing;
  const View converted = temporary(desc);
  add_reorder(existing, converted);
  return converted;
}

View Assembler::in_plain(ValueId id) { return in_layout(id, plain_desc(shape(id))); }

View Assembler::in_usual_layout(ValueId id) {
  const View existing = view(id);
  return existing.desc == layout_like(existing.desc, shape(id)) ? existing : in_plain(id);
}

View Assembler::in_blocks(ValueId id) {
  const View existing = views_.at(id);
  return is_blocked(existing.desc) ? existing : in_layout(id, blocked_desc(shape(id)));
}

View Assembler::moved_to_blocks(ValueId id) {
  if (is_in_blocks(id)) return in_blocks(id);
  assert(!pending_stores_.contains(id) && !homes_.of.contains(id));
  return views_[id] = in_layout(id, blocked_desc(shape(id)));
}

SlotId Assembler::new_slot(Storage storage, int64_t bytes) {
  result_.slots.push_back({storage, bytes});
  return static_cast<SlotId>(result_.slots.size()) - 1;
}

View Assembler::define_bytes(ValueId id, int64_t bytes) {
  return views_[id] = {new_slot(Storage::arena, bytes), {}};
}

View Assembler::define(ValueId id, const memory::desc& desc) {
  const auto owner = parameter_of_gradient_.find(id);
  if (owner != parameter_of_gradient_.end()) {
    const View place = used_part(owner->second, result_.gradients.at(owner->second));
    views_[id] = place;
    if (place.desc == desc) return place;
    return pending_stores_[id] = temporary(desc);
  }
  if (homes_.of.contains(id)) {
    const View place = views_[id] = home_view(id);
    return place.desc == desc ? place : pending_stores_[id] = temporary(desc);
  }
  return views_[id] = temporary(desc);
}

View Assembler::define_part(ValueId gradient, int64_t first, int64_t floats) {
  const View whole = gradient_place(gradient);
  std::erase_if(result_.gradient_parts,
                [&](const GradientPart& part) { return part.gradient == whole.slot; });
  result_.slots[static_cast<size_t>(whole.slot)].bytes = 0;
  const View part = temporary(plain_desc({floats}));
  const View& parameter = result_.parameters.at(parameter_of_gradient_.at(gradient));
  result_.gradient_parts.push_back({part.slot, parameter.slot, first});
  return part;
}

View Assembler::define_in_blocks(ValueId id) {
  return define(id, homes_.of.contains(id) ? home_view(id).desc : blocked_desc(shape(id)));
}

View Assembler::home_view(ValueId id) {
  const Home home = homes_.home_of(id);
  const memory::desc whole = blocked_desc(shape(home.whole));
  if (!whole_slots_.contains(home.whole))
    whole_slots_[home.whole] = new_slot(Storage::arena, static_cast<int64_t>(whole.get_size()));
  return {whole_slots_.at(home.whole), channel_slice(whole, home.channel, shape(id)[1])};
}

bool Assembler::define_joined(ValueId id, const std::vector<ValueId>& parts) {
  if (!homes_.joined.contains(id)) return false;
  views_[id] = home_view(id);
  joined_parts_[id] = parts;
  const Home home = homes_.home_of(id);
  int64_t channel = home.channel;
  for (const ValueId part : parts) {
    const int64_t channels = shape(part)[1];
    const View place = {views_[id].slot, channel_slice(blocked_desc(shape(home.whole)), channel, channels)};
    const View existing = views_.at(part);
    const bool in_place = existing.slot == place.slot && existing.desc == place.desc;
    if (!in_place) add_copy(existing, place);
    channel += channels;
  }
  return true;
}

// oneDNN's reorder onto a slice runs on one thread per image.
void Assembler::add_copy(const View& from, const View& to) {
  if (!is_blocked(from.desc) || !is_blocked(to.desc)) return add_reorder(from, to);
  add_kernel("copy", blocked::sweep_split(sweep_of(to.desc)), {from, to},
             [sweep = sweep_of(to.desc), from_stride = batch_stride(from.desc),
              to_stride = batch_stride(to.desc)](std::span<std::byte* const> at) {
               blocked::copy(sweep, {as<const float>(at[0]), from_stride}, {as<float>(at[1]), to_stride});
             });
}

void Assembler::store(ValueId id) {
  const auto pending = pending_stores_.find(id);
  if (pending == pending_stores_.end()) return;
  add_copy(pending->second, views_.at(id));
  pending_stores_.erase(pending);
}

View Assembler::define_over(ValueId id, const View& input) {
  const bool has_place = parameter_of_gradient_.contains(id) || homes_.of.contains(id);
  if (!has_place && dies_here(input.slot)) return views_[id] = input;
  return define(id, is_blocked(input.desc) ? blocked_desc(shape(id)) : input.desc);
}

bool Assembler::dies_here(SlotId slot) const {
  if (result_.slots[static_cast<size_t>(slot)].storage != Storage::arena) return false;
  return std::ranges::all_of(views_, [&](const auto& entry) {
    return entry.second.slot != slot || uses_.last(entry.first) <= current_;
  });
}

View Assembler::temporary(const memory::desc& desc) {
  return {new_slot(Storage::arena, static_cast<int64_t>(desc.get_size())), desc};
}

View Assembler::scratch(const memory::desc& desc) {
  const View view = temporary(desc);
  result_.slots[static_cast<size_t>(view.slot)].scratch = true;
  return view;
}

const Tensor& Assembler::weight(ValueId id) const { return weights_.at(program_.value(id).name); }

View Assembler::constant(const memory::desc& desc, std::vector<ValueId> sources,
                         std::function<void(const Place&)> fill) {
  const View view{new_slot(Storage::weights, static_cast<int64_t>(desc.get_size())), desc};
  result_.constants.push_back({view, std::move(sources), std::move(fill)});
  return view;
}

PackedConstant Assembler::packed_weight(const View& view, ValueId id) const {
  return {view, {id}, [&tensor = weight(id)](const Place& place) { place.pack(tensor); }};
}

View Assembler::statistic(ValueId id) {
  const auto known = result_.statistics.find(id);
  if (known != result_.statistics.end()) return known->second;
  const memory::desc desc = plain_desc(shape(id));
  const View place{new_slot(Storage::weights, static_cast<int64_t>(desc.get_size())), desc};
  result_.constants.push_back(packed_weight(place, id));
  return result_.statistics[id] = place;
}

View Assembler::used_part(ValueId parameter, const View& whole) const {
  const auto part = program_.kernel_parts.find(parameter);
  if (part == program_.kernel_parts.end()) return whole;
  return {whole.slot, kernel_part(whole.desc, part->second.first, spatial(shape(parameter)))};
}

bool Assembler::is_used_up(ValueId parameter) const {
  const auto gradient = gradient_of_parameter_.find(parameter);
  const bool is_written = gradient != gradient_of_parameter_.end() && uses_.producer(gradient->second) >= 0;
  return !program_.keep_gradients && is_written && !program_.kernel_parts.contains(parameter);
}

View Assembler::keep_parameter(ValueId id, const memory::desc& wanted) {
  const auto part = program_.kernel_parts.find(id);
  const memory::desc desc =
      part == program_.kernel_parts.end() ? wanted : with_kernel(wanted, spatial(part->second.whole));
  const auto bytes = static_cast<int64_t>(desc.get_size());
  const View place{new_slot(Storage::parameters, bytes), desc};
  result_.constants.push_back(packed_weight(place, id));
  const View gradient{new_slot(is_used_up(id) ? Storage::arena : Storage::gradients, bytes), desc};
  result_.gradient_parts.push_back({gradient.slot, place.slot});
  result_.gradients[id] = gradient;
  return result_.parameters[id] = place;
}

View Assembler::parameter(ValueId id, const memory::desc& desc) {
  if (is_training()) {
    const auto kept = result_.parameters.find(id);
    const View place =
        used_part(id, kept == result_.parameters.end() ? keep_parameter(id, desc) : kept->second);
    if (place.desc == desc) return place;
    const View converted = temporary(desc);
    add_reorder(place, converted);
    return converted;
  }
  for (const auto& [packed_id, packed] : packed_parameters_) {
    if (packed_id == id && packed.desc == desc) return packed;
  }
  const View place{new_slot(Storage::weights, static_cast<int64_t>(desc.get_size())), desc};
  result_.constants.push_back(packed_weight(place, id));
  packed_parameters_.emplace_back(id, place);
  return place;
}

StepInfo Assembler::step_info(std::string kernel, std::span<const View> views) const {
  StepInfo info = {.layer = result_.layers.size() - 1, .kernel = std::move(kernel)};
  for (const View& view : views) {
    const Slot& slot = result_.slots[static_cast<size_t>(view.slot)];
    if (slot.scratch) continue;
    const int64_t bytes = content_bytes(view.desc);
    info.bytes += chunks_ * (bytes > 0 ? bytes : slot.bytes);
  }
  return info;
}

void Assembler::add_primitive(const dnnl::primitive& primitive, const memory::desc& scratchpad,
                              std::string kernel, std::vector<Argument> arguments) {
  if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch(scratchpad));
  std::vector<View> views;
  for (const auto& [argument, view] : arguments) {
    require_within_onednn_limit(result_.layers.back().name, kernel, view.desc);
    views.push_back(view);
  }
  result_.steps.push_back(
      std::make_unique<PrimitiveStep>(step_info(std::move(kernel), views), primitive, std::move(arguments)));
}

void Assembler::add_kernel(std::string kernel, SplitFor split, const std::vector<View>& views,
                           KernelStep::Kernel function) {
  StepInfo info = step_info(std::move(kernel), views);
  info.split = chunks_ == 1 ? std::move(split) : repeated(std::move(split), chunks_);
  result_.steps.push_back(std::make_unique<KernelStep>(std::move(info), views, std::move(function)));
}

void Assembler::add_kernel(std::string kernel, const Split& split, const std::vector<View>& views,
                           KernelStep::Kernel function) {
  add_kernel(std::move(kernel), SplitFor([split](int) { return split; }), views, std::move(function));
}

void Assembler::add_reorder(const View& from, const View& to) {
  const dnnl::reorder::primitive_desc pd(engine(), from.desc, engine(), to.desc, attributes());
  add_primitive(dnnl::reorder(pd), pd.scratchpad_desc(), "reorder",
                {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace tacho::native
