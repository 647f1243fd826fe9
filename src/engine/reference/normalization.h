#pragma once

#include <span>

#include "base/tensor.h"
#include "engine/engine.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h.
namespace tacho::reference {

// Whose batches a batch norm's statistics are of: this device's alone where there are no sums.
struct Devices {
  SumOverDevices* sums = nullptr;
  std::span<double> numbers = {};  // to be added up: two for each channel

  int count() const { return sums == nullptr ? 1 : sums->devices(); }
};

void batch_norm_inference(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean, const Tensor& running_var, Tensor& y);
void batch_norm_training(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         Tensor& running_mean, Tensor& running_var, Tensor& y, Tensor& mean,
                         Tensor& inverse_deviation, const Devices& devices = {});
void batch_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& mean,
                         const Tensor& inverse_deviation, const Tensor& dy, Tensor& dx, Tensor& dweight,
                         Tensor& dbias, const Devices& devices = {});

}  // namespace tacho::reference
