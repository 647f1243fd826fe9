#include "engine/torch/module/flat_parameters.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace tacho::torch_engine {
namespace {

// Backward passes reach those of the last layer first.
std::vector<ParameterGradient> in_backward_order(const Graph& graph) {
  std::map<ValueId, size_t> first_use;
  for (size_t i = graph.backward_begin; i-- > 0;) {
    for (const ValueId input : graph.nodes[i].inputs) first_use[input] = i;
  }
  std::vector<ParameterGradient> order = graph.gradients;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](const ParameterGradient& pair) { return first_use[pair.parameter]; });
  return order;
}

}  // namespace

FlatParameters::FlatParameters(const Graph& graph, const UpdateRule& rule, const at::Device& device,
                               bool staged) {
  int64_t count = 0;
  for (const auto& [parameter, gradient] : in_backward_order(graph)) {
    const int64_t size = elements(graph.shape(parameter));
    index_[parameter] = trained_.size();
    shapes_.push_back(graph.shape(parameter));
    trained_.push_back({parameter, gradient, count, size, {}});
    count += size;
  }
  const auto array = [&] { return at::zeros({count}, at::TensorOptions(device)); };
  values_ = array();
  gradients_ = array();
  exchanged_ = staged ? at::zeros({count}) : gradients_;
  if (staged && device.is_cuda()) exchanged_ = exchanged_.pin_memory();
  for (int i = 0; i < state_per_parameter(rule); ++i) state_.push_back(array());
  if (std::holds_alternative<Adam>(rule)) scratch_ = array();
  for (Trained& each : trained_) {
    each.value = view(values_, each).detach();
    each.value.set_requires_grad(true);
    each.value.mutable_grad() = gradient(each);
  }
}

const Trained* FlatParameters::find(ValueId parameter) const {
  const auto found = index_.find(parameter);
  return found == index_.end() ? nullptr : &trained_[found->second];
}

at::Tensor FlatParameters::view(const at::Tensor& flat, const Trained& of) const {
  return flat.narrow(0, of.offset, of.count).view(shapes_[index_.at(of.parameter)]);
}

std::span<float> FlatParameters::gradient_span(const Trained& of) const {
  return {exchanged_.data_ptr<float>() + of.offset, static_cast<size_t>(of.count)};
}

void FlatParameters::fetch_gradients() { exchanged_.copy_(gradients_); }
void FlatParameters::put_back_gradients() { gradients_.copy_(exchanged_); }

void FlatParameters::update(const UpdateRule& rule, int64_t step) {
  const at::NoGradGuard no_gradients;
  std::visit([&](const auto& of) { update_by(of, step); }, rule);
}

void FlatParameters::update_by(const Sgd& rule, int64_t) {
  if (state_.empty()) {
    values_.mul_(1 - rule.learning_rate * rule.weight_decay).add_(gradients_, -rule.learning_rate);
    return;
  }
  at::Tensor& velocity = state_[0];
  velocity.mul_(rule.momentum).add_(gradients_);
  if (rule.weight_decay != 0) velocity.add_(values_, rule.weight_decay);
  if (!rule.nesterov) {
    values_.add_(velocity, -rule.learning_rate);
    return;
  }
  values_.mul_(1 - rule.learning_rate * rule.weight_decay);
  values_.add_(gradients_, -rule.learning_rate).add_(velocity, -rule.learning_rate * rule.momentum);
}

void FlatParameters::update_by(const Adam& rule, int64_t step) {
  at::Tensor &mean = state_[0], &square = state_[1];
  at::add_out(scratch_, gradients_, values_, rule.weight_decay);
  mean.mul_(rule.beta1).add_(scratch_, 1 - rule.beta1);
  square.mul_(rule.beta2).addcmul_(scratch_, scratch_, 1 - rule.beta2);
  const double mean_share = 1 - std::pow(rule.beta1, static_cast<double>(step)),
               square_share = 1 - std::pow(rule.beta2, static_cast<double>(step));
  at::sqrt_out(scratch_, square).mul_(1 / std::sqrt(square_share)).add_(rule.epsilon);
  values_.addcdiv_(mean, scratch_, -rule.learning_rate / mean_share);
}

int64_t FlatParameters::bytes() const {
  int64_t arrays = 2 + static_cast<int64_t>(state_.size()) + (scratch_.defined() ? 1 : 0) +
                   (exchanged_.is_same(gradients_) ? 0 : 1);
  return arrays * static_cast<int64_t>(values_.nbytes());
}

}  // namespace tacho::torch_engine
