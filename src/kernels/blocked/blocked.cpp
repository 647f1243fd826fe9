#include "kernels/blocked/blocked.h"

#include "base/cpu.h"
#include "kernels/blocked/sum_channels.h"

namespace tacho::blocked {

// Apart from the sweeps: this file is compiled for every CPU.
bool supported() { return widest_instruction_set() >= InstructionSet::avx2; }

Split sweep_split(const Sweep& sweep) {
  const int64_t planes = sweep.batch * channel_blocks(sweep.channels);
  return {{{.items = planes, .work = static_cast<double>(planes * sweep.cells)}}};
}

Split pooling_split(const Pooling& pooling) {
  return {{{.items = pooling.batch * channel_blocks(pooling.channels)}}};
}

Loop sum_channels_loop(const ActivationLayout& layout, int64_t batch) {
  return {.items = layout.blocks,
          .work = static_cast<double>(batch * layout.blocks * layout.block_stride / kLanes)};
}

}  // namespace tacho::blocked
