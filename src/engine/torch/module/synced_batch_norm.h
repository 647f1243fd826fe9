#pragma once

#include <ATen/ATen.h>

#include "engine/engine.h"
#include "graph/op.h"

namespace tacho::torch_engine {

// The tensors of a batch norm.
struct BatchNormInputs {
  const at::Tensor &x, &weight, &bias;
  at::Tensor running_mean, running_variance;
};

// In training, with the statistics of all devices' batches: one sum over the devices here, and one in the
// backward pass.
at::Tensor synced_batch_norm(const BatchNorm& op, const BatchNormInputs& inputs, SumOverDevices& devices);

}  // namespace tacho::torch_engine
