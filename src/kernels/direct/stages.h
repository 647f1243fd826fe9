#pragma once

#include "kernels/direct/backward_weights_plan.h"
#include "kernels/direct/gather_plan.h"

// What takes vectors of the kernels that direct.h offers.
namespace tacho::direct::TACHO_ISA {

void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads);

void run_gather(const GatherPlan& plan, const GatherArguments& arguments, float* scratch, int threads);

void run_backward_weights(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments,
                          float* scratch, int threads);

}  // namespace tacho::direct::TACHO_ISA
