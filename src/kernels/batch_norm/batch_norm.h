#pragma once

#include "kernels/blocked/blocked.h"

// Batch norm in training on activations in blocks, which may be slices: statistics of a batch in one sweep
// through memory, and gradients whose ReLU mask is computed again rather than kept. Results do
// not depend on the number of threads.
namespace tacho::batch_norm {

using blocked::Source;
using blocked::Sweep;
using blocked::Target;

// Per channel, as many as `channels`, in the order of the tensor.
struct Statistics {
  float* mean;
  float* variance;  // of the batch: divided by its count
};

int64_t scratch_floats(const Sweep& sweep);

// How threads share statistics() and moments(); normalize(); normalize_batch(); backward();
// backward_parameters(); backward_data().
Split statistics_split(const Sweep& sweep);
Split normalize_split(const Sweep& sweep);
Split normalize_batch_split(const Sweep& sweep, int threads);
Split backward_split(const Sweep& sweep, int threads);
Split backward_parameters_split(const Sweep& sweep);
Split backward_data_split(const Sweep& sweep);

void statistics(const Sweep& sweep, Source x, const Statistics& result, float* scratch);

// The statistics of several devices' batches, all of one size, in two parts: the moments of each batch, which
// are 2 * channels doubles, and what follows from their sums over all devices.
void moments(const Sweep& sweep, Source x, double* result, float* scratch);
void statistics_of_sums(const Sweep& sweep, const double* sums, int devices, const Statistics& result);

struct Parameters {
  const float* weight;
  const float* bias;
  const float* mean;
  const float* variance;
  double epsilon;
  bool relu;  // behind the norm
};

// y = relu(weight * (x - mean) / deviation + bias).
void normalize(const Sweep& sweep, Source x, const Parameters& parameters, Target y, float* scratch);

// By the statistics of x, found first: `parameters` names the same memory as `result`.
void normalize_batch(const Sweep& sweep, Source x, const Parameters& parameters, const Statistics& result,
                     Target y, float* scratch);

struct Gradients {
  Target dx;  // may be dy, or `added`
  float* dweight;
  float* dbias;
  Source added = {};  // to dx, or none
};

void backward(const Sweep& sweep, Source x, Source dy, const Parameters& parameters, const Gradients& result,
              float* scratch);

// The same in two parts, where `parameters` has the statistics of several devices' batches: dweight and dbias
// are those of the device's own batch, and dx depends on their sums over all devices.
void backward_parameters(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                         float* dweight, float* dbias, float* scratch);

struct BackwardSums {
  const float* dweight;
  const float* dbias;
  int devices;  // whose batches they are over, all of one size
};

// `added` as in Gradients.
void backward_data(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                   const BackwardSums& sums, Source added, Target dx, float* scratch);

}  // namespace tacho::batch_norm
