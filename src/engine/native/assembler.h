#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/native/convolution_kernel.h"
#include "engine/native/homes.h"
#include "engine/native/layout.h"
#include "engine/native/program.h"
#include "engine/native/step.h"

namespace tacho::native {

// What a pass may look at while it runs and the plan changes between passes.
struct PassState {
  uint64_t seed = 0;
  uint64_t pass = 0;  // forward passes before this one
  int64_t chunk = 0;  // of the batch, in steps that take it in chunks
};

// Where a constant goes.
struct Place {
  float* data;
  std::function<void(const Tensor&)> pack;  // a row-major tensor into it, in the place's layout
};

// A constant that `fill` writes into its place from weights of these ids.
struct PackedConstant {
  View view;
  std::vector<ValueId> sources;
  std::function<void(const Place&)> fill;
};

// A gradient of a parameter's floats from `first` on: of all of them, or of a part.
struct GradientPart {
  SlotId gradient, parameter;
  int64_t first = 0;
};

// Steps [begin, end) that run on one chunk of the batch after the other.
struct ChunkedSteps {
  size_t begin, end;
  int64_t chunks;
};

// Everything the assembler decided; the plan allocates it and runs it.
struct Assembly {
  dnnl::engine engine;  // primitives, memory and stream must share one
  std::vector<Slot> slots;
  std::vector<LayerInfo> layers;
  std::vector<std::unique_ptr<Step>> steps;
  size_t backward_begin = 0;  // index of a step
  std::vector<ChunkedSteps> chunked;
  std::map<ValueId, View> readable;
  std::vector<PackedConstant> constants;
  std::map<ValueId, View> parameters, gradients, statistics;  // of a training program, by the graph's ids
  std::vector<GradientPart> gradient_parts;
  std::shared_ptr<PassState> state;
};

// Turns the instructions of a program into steps, one after the other: it keeps the layout in which each
// value exists, inserts a reorder where a step wants another one, and lets a step overwrite an input that
// dies there.
class Assembler {
 public:
  // `kernels`: one per instruction.
  Assembler(const Program& program, const Weights& weights, const CompileOptions& options,
            std::vector<ConvolutionKernel> kernels);

  Assembly assemble();

  const Program& program() const { return program_; }
  const dnnl::engine& engine() const { return result_.engine; }
  const Shape& shape(ValueId id) const { return program_.shape(id); }
  int threads() const { return threads_; }
  // Chosen for the instruction under way.
  ConvolutionKernel kernel() const { return kernels_[static_cast<size_t>(current_)]; }
  bool is_training() const { return program_.training; }
  SumOverDevices* batch_norm_sums() const { return batch_norm_sums_; }
  dnnl::prop_kind forward_kind() const;
  // Attributes of every primitive: its scratchpad is planned with everything else.
  dnnl::primitive_attr attributes() const;
  std::shared_ptr<const PassState> state() const { return result_.state; }

  // The value in whatever layout it exists, but densely filled; in the wanted layout; in row-major order; in
  // Our own blocks, where it may be a slice of a wider value.
  View view(ValueId id);
  View in_layout(ValueId id, const dnnl::memory::desc& desc);
  // The value in our own blocks, in which it is kept from now on: others that want it so need not turn it
  // around again.
  View moved_to_blocks(ValueId id);
  View in_plain(ValueId id);
  // The value in a layout that tensors of other shapes can have too.
  View in_usual_layout(ValueId id);
  View in_blocks(ValueId id);
  bool is_in_blocks(ValueId id) const { return is_blocked(views_.at(id).desc); }
  // Made in a concatenation, where it stays.
  bool has_home(ValueId id) const { return homes_.of.contains(id); }

  // Where a step shall store a value. store() must follow the step that fills it: it moves what had to be
  // made in another layout than its place has.
  View define(ValueId id, const dnnl::memory::desc& desc);
  // In our own blocks, perhaps as a slice of a concatenation.
  View define_in_blocks(ValueId id);
  View define_bytes(ValueId id, int64_t bytes);
  // Where the gradient of a parameter goes, in the parameter's own layout.
  const View& gradient_place(ValueId gradient) const {
    return result_.gradients.at(parameter_of_gradient_.at(gradient));
  }
  // Whether it may be made in parts, each of which is used up before the next: nobody reads the whole.
  bool may_be_in_parts(ValueId gradient) const { return is_used_up(parameter_of_gradient_.at(gradient)); }
  // Its floats from `first` on, in place of the whole.
  View define_part(ValueId gradient, int64_t first, int64_t floats);
  // On top of `input` where that dies at this instruction, elsewhere otherwise; in the layout of `input`.
  View define_over(ValueId id, const View& input);
  void store(ValueId id);
  // The concatenation of values that are slices of it already, or will be: true where it can be one.
  bool define_joined(ValueId id, const std::vector<ValueId>& parts);
  // Those that a value was made of so, in the order of their channels; none of others.
  std::span<const ValueId> joined_parts(ValueId id) const {
    const auto found = joined_parts_.find(id);
    return found == joined_parts_.end() ? std::span<const ValueId>() : found->second;
  }
  // The value is `view` seen in another way; no step is needed.
  void define_as(ValueId id, const View& view) { views_[id] = view; }
  View temporary(const dnnl::memory::desc& desc);
  // Memory that one step alone uses, and only while it runs.
  View scratch(const dnnl::memory::desc& desc);

  // A parameter in the layout that a step wants. In training the first to ask decides how the parameter is
  // kept.
  View parameter(ValueId id, const dnnl::memory::desc& desc);
  View statistic(ValueId id);
  View constant(const dnnl::memory::desc& desc, std::vector<ValueId> sources,
                std::function<void(const Place&)> fill);
  const Tensor& weight(ValueId id) const;

  void add_primitive(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                     std::string kernel, std::vector<Argument> arguments);
  void add_kernel(std::string kernel, SplitFor split, const std::vector<View>& views,
                  KernelStep::Kernel function);
  // One whose split is the same for any number of threads.
  void add_kernel(std::string kernel, const Split& split, const std::vector<View>& views,
                  KernelStep::Kernel function);
  void add_reorder(const View& from, const View& to);

  // What backward steps ask of forward ones, by a value that both know: the layout that an argmax or a mask
  // goes by, and a primitive.
  std::map<ValueId, dnnl::memory::desc> forward_layouts;
  std::map<ValueId, dnnl::batch_normalization_forward::primitive_desc> batch_norm_hints;

  // Those that a batch norm found of a value: mean and variance.
  std::map<ValueId, std::pair<View, View>> batch_statistics;

 private:
  View home_view(ValueId id);
  void add_copy(const View& from, const View& to);
  SlotId new_slot(Storage storage, int64_t bytes);
  bool dies_here(SlotId slot) const;
  StepInfo step_info(std::string kernel, std::span<const View> views) const;
  PackedConstant packed_weight(const View& view, ValueId id) const;
  View keep_parameter(ValueId id, const dnnl::memory::desc& desc);
  // The part that the program knows of a parameter or gradient that is kept whole.
  View used_part(ValueId parameter, const View& whole) const;
  // Whether its memory may be used again once the parameter is updated: a gradient that no step writes, or
  // not all of, is zero there in every pass.
  bool is_used_up(ValueId parameter) const;
  void define_inputs();
  // Before and behind the instructions that take the batch in chunks.
  void begin_stretch(const Stretch& stretch);
  void end_stretch(const Stretch& stretch);
  enum class Copy { into_chunk, into_whole };
  void copy_chunk(Copy which, const View& chunk, const View& whole);

  const Program& program_;
  const Weights& weights_;
  Uses uses_;
  Assembly result_;
  int threads_;
  SumOverDevices* batch_norm_sums_;
  std::vector<ConvolutionKernel> kernels_;
  int current_ = -1;    // instruction
  int64_t chunks_ = 1;  // that the steps under way run on
  std::map<ValueId, View> views_;
  Homes homes_;
  std::map<ValueId, SlotId> whole_slots_;  // of concatenations whose parts are slices
  std::map<ValueId, std::vector<ValueId>> joined_parts_;
  std::map<ValueId, ValueId> parameter_of_gradient_, gradient_of_parameter_;
  std::map<ValueId, View> pending_stores_;
  std::vector<std::pair<ValueId, View>> packed_parameters_;  // inference: one copy per parameter and layout
};

}  // namespace tacho::native
