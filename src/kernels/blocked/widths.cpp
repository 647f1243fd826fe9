#include "kernels/blocked/widths.h"

#include "base/cpu.h"
#include "kernels/peak/peak.h"

namespace tacho::blocked {

std::optional<std::string> why_unsupported(int64_t lanes) {
  if (lanes == 8 && widest_instruction_set() >= InstructionSet::avx2) return std::nullopt;
  if (lanes == 16 && widest_instruction_set() >= InstructionSet::avx512) return std::nullopt;
  if (lanes == 8) return "kernels on blocks of 8 channels need AVX2";
  if (lanes == 16) return "kernels on blocks of 16 channels need AVX-512";
  return "kernels are on blocks of 8 or 16 channels";
}

int64_t fastest_lanes() { return wide_vectors_pay() ? 16 : 8; }

bool supported() { return !why_unsupported(fastest_lanes()); }

}  // namespace tacho::blocked
