#include "train/phase_memory.h"

#include <algorithm>

#include "base/memory.h"

namespace tacho {

void PhaseMemory::enter(const std::string& phase) {
  sample();
  phase_ = phase;
  system_forgets_ = reset_peak_memory();
  sample();
}

void PhaseMemory::sample() {
  if (phase_.empty()) return;
  int64_t& peak = peaks_[phase_];
  peak = std::max(peak, system_forgets_ ? peak_memory_bytes() : resident_memory_bytes());
}

const std::map<std::string, int64_t>& PhaseMemory::peaks() {
  sample();
  return peaks_;
}

}  // namespace tacho
