#pragma once

#include "kernels/direct/backward_weights_plan.h"
#include "kernels/direct/gather_plan.h"

// What direct.h offers, for CPUs with AVX2 and FMA.
namespace tacho::direct {

void pack_weights_f32_avx2(const Convolution& convolution, Direction direction, const float* weights,
                           float* packed, int threads);

void gather_f32_avx2(const GatherPlan& plan, const GatherArguments& arguments, float* scratch, int threads);

void backward_weights_f32_avx2(const BackwardWeightsPlan& plan, const BackwardWeightsArguments& arguments,
                               float* scratch, int threads);

}  // namespace tacho::direct
