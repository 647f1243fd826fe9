#pragma once

#include <optional>

#include "base/machine_speed.h"

namespace tacho {

// Which of many short rounds count.
enum class Rounds {
  best,  // what the machine can do, whoever disturbs it
  all,   // what it does do: also where something holds it back from time to time
};

// Whether vectors of 512 bits compute notably more than those of 256: some CPUs take two steps for each, and
// some have none. Measured at the first call, in this thread alone.
bool wide_vectors_pay();

// All others place `threads` threads by use_threads() and leave them in use.

// 10^9 FLOP/s of single-precision multiply-adds (two each) from registers, with the widest instruction set.
double measure_fma_gflops(int threads, Rounds rounds = Rounds::best);

// The same of products of bf16 that are added up in single precision; nothing where the CPU has none.
std::optional<double> measure_bf16_gflops(int threads, Rounds rounds = Rounds::best);

// 10^9 bytes/s of the triad a = b + s * c over arrays far larger than the caches, with streaming stores. Two
// arrays read and one written are counted; write-allocation, which streaming stores avoid, would not be.
// Zero where the system has not the memory for it.
double measure_bandwidth_gbs(int threads, Rounds rounds = Rounds::best);

MachineSpeed measure_speed(int threads, Rounds rounds = Rounds::best);

}  // namespace tacho
