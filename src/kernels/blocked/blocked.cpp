#include "kernels/blocked/blocked.h"

#include "base/cpu.h"
#include "kernels/blocked/sum_channels.h"

namespace tacho::blocked {

// Apart from the sweeps: this file is compiled for every CPU.
bool supported() { return widest_instruction_set() >= InstructionSet::avx2; }

Loop loop_over(const PlaneParts& parts, double work) {
  const int64_t pieces = parts.planes * parts.pieces;
  return {.items = parts.items(), .work = work * static_cast<double>(pieces), .pieces = pieces};
}

Split sweep_split(const Sweep& sweep) { return {{loop_over(parts_of(sweep))}}; }

Split pooling_split(const Pooling& pooling) { return {{loop_over(parts_of(pooling))}}; }

int64_t channel_sums_floats(const ActivationLayout& layout, int64_t batch) {
  return ChannelSums(layout, batch).parts.items() * kLanes * int64_t{sizeof(double) / sizeof(float)};
}

Loop sum_channels_loop(const ActivationLayout& layout, int64_t batch) {
  const ChannelSums sums(layout, batch);
  const double chunk = static_cast<double>(layout.plane_stride) / static_cast<double>(kLanes * sums.chunks);
  return loop_over(sums.parts, chunk);
}

}  // namespace tacho::blocked
