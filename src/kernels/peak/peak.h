#pragma once

#include "base/machine_speed.h"

namespace tacho {

// Both place `threads` threads by use_threads(), leave them in use, and take the best of many rounds.

// 10^9 FLOP/s of single-precision multiply-adds (two each) from registers, with the widest instruction set.
double measure_fma_gflops(int threads);

// 10^9 bytes/s of the triad a = b + s * c over arrays far larger than the caches, with streaming stores. Two
// arrays read and one written are counted; write-allocation, which streaming stores avoid, would not be.
// Zero where the system has not the memory for it.
double measure_bandwidth_gbs(int threads);

MachineSpeed measure_speed(int threads);

}  // namespace tacho
