#include "kernels/blocked/blocked.h"

#include "base/cpu.h"

namespace tacho::blocked {

// Apart from the sweeps: this file is compiled for every CPU.
bool supported() { return widest_instruction_set() >= InstructionSet::avx2; }

}  // namespace tacho::blocked
