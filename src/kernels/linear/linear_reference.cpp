#include "kernels/linear/linear_reference.h"

#include <algorithm>

namespace tacho::linear {

template<typename Real>
void forward_reference(const Layer& layer, const float* src, const float* weights, const float* bias,
                       bool relu, Real* dst) {
  for (int64_t image = 0; image < layer.batch; ++image) {
    for (int64_t output = 0; output < layer.outputs; ++output) {
      Real sum = bias != nullptr ? bias[output] : 0;
      for (int64_t input = 0; input < layer.inputs; ++input) {
        sum += static_cast<Real>(src[image * layer.inputs + input]) *
               static_cast<Real>(weights[output * layer.inputs + input]);
      }
      dst[image * layer.outputs + output] = relu ? std::max<Real>(sum, 0) : sum;
    }
  }
}

template void forward_reference(const Layer&, const float*, const float*, const float*, bool, float*);
template void forward_reference(const Layer&, const float*, const float*, const float*, bool, double*);

void weight_gradient_reference(const WeightGradient& task, double* gradient) {
  for (int64_t row = 0; row < task.rows; ++row) {
    for (int64_t column = 0; column < task.columns; ++column) {
      double sum = 0;
      for (int64_t image = 0; image < task.batch; ++image) {
        sum += static_cast<double>(task.of_rows[image * task.of_rows_stride + row]) *
               static_cast<double>(task.of_columns[image * task.of_columns_stride + column]);
      }
      gradient[row * task.columns + column] = sum;
    }
  }
}

}  // namespace tacho::linear
