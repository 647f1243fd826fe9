#pragma once

namespace tacho {

// Both use `threads` threads as use_threads() places them, leave them in use, and take the best of many
// rounds.

// Single-precision multiply-adds from registers alone, with the widest instruction set: 10^9 FLOP/s, where a
// multiply-add is two.
double measure_fma_gflops(int threads);

// The triad a = b + s * c over arrays far larger than the caches, with streaming stores: 10^9 bytes/s. Two
// arrays read and one written are counted; write-allocation, which streaming stores avoid, would not be. Zero
// where the system has not the memory for it.
double measure_bandwidth_gbs(int threads);

}  // namespace tacho
