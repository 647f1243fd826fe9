#pragma once

#include <ATen/ATen.h>

#include <map>
#include <vector>

#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho::torch_engine {

// A parameter that is trained, and where it is in each of the flat arrays.
struct Trained {
  ValueId parameter = {}, gradient = {};
  int64_t offset = 0, count = 0;
  at::Tensor value;  // a leaf of the autograd graph, whose memory is part of the flat array
};

// All trained parameters in one array, their gradients in a second and each array of the optimizer's state in
// another: an update is a few operations over all of them, and what devices exchange lies side by side. They
// lie in the order in which a backward pass reaches them, each in the plain layout whatever that of the
// activations: devices that chose otherwise can still exchange them.
class FlatParameters {
 public:
  // `staged`: gradients are exchanged in an array of their own in the host's memory.
  FlatParameters(const Graph& graph, const UpdateRule& rule, const at::Device& device, bool staged);

  const std::vector<Trained>& trained() const { return trained_; }
  const Trained* find(ValueId parameter) const;

  at::Tensor gradient(const Trained& of) const { return view(gradients_, of); }
  at::Tensor state(const Trained& of, int which) const {
    return view(state_[static_cast<size_t>(which)], of);
  }
  // Where devices exchange them: the gradients themselves, or where they are staged as they were last
  // fetched.
  std::span<float> gradient_span(const Trained& of) const;
  void multiply_gradients(double by) { gradients_.mul_(by); }
  bool gradients_are_finite() const { return gradients_.isfinite().all().item<bool>(); }
  // Where they are staged.
  void fetch_gradients();
  void put_back_gradients();

  void zero_gradients() { gradients_.zero_(); }
  // The `step`-th update, counted from 1.
  void update(const UpdateRule& rule, int64_t step);
  int64_t bytes() const;

 private:
  void update_by(const Sgd& rule, int64_t step);
  void update_by(const Adam& rule, int64_t step);
  at::Tensor view(const at::Tensor& flat, const Trained& of) const;

  std::vector<Shape> shapes_;
  std::vector<Trained> trained_;
  std::map<ValueId, size_t> index_;
  at::Tensor values_, gradients_, exchanged_, scratch_;
  std::vector<at::Tensor> state_;
};

}  // namespace tacho::torch_engine
