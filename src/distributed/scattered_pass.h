#pragma once

#include <vector>

#include "distributed/pass.h"

namespace tacho {

// How many of `total` images the devices get, as even as it goes.
std::vector<int64_t> share_out(int64_t total, int devices);

// Inference on one batch that is rank 0's: handed out, computed and gathered in every pass.
class ScatteredBatch {
 public:
  // `whole`: the images of all devices on rank 0, empty elsewhere; `plan` and `graph` are of this rank's
  // part.
  ScatteredBatch(Communicator& ranks, const Graph& graph, Tensor whole, std::vector<int64_t> images);

  PassTimes run_pass(Plan& plan);
  const Tensor& output() const { return output_; }  // of the whole batch, on rank 0

 private:
  std::vector<size_t> bytes_of(size_t bytes_per_image) const;

  Communicator& ranks_;
  ValueId input_id_, output_id_;
  std::vector<int64_t> images_;  // by rank
  Tensor whole_, part_, output_;
  std::vector<size_t> input_bytes_, output_bytes_;
  int64_t bytes_sent_ = 0;  // by this rank in a pass
};

}  // namespace tacho
