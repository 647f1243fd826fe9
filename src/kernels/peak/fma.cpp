#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/cpu.h"
#include "kernels/peak/fma_chains.h"
#include "kernels/peak/peak.h"
#include "kernels/peak/time_threads.h"

namespace tacho {
namespace {

// Short, so that on a busy machine some rounds fall between other programs' turns.
constexpr double kRoundMs = 4;
constexpr int kRounds = 40;

FmaChains widest_f32_chains() {
  switch (widest_instruction_set()) {
    case InstructionSet::sse2: return fma_chains_f32_sse2();
    case InstructionSet::avx2: return fma_chains_f32_avx2();
    case InstructionSet::avx512: return fma_chains_f32_avx512();
  }
  return fma_chains_f32_sse2();
}

double time_chains_ms(const FmaChains& chains, int64_t length) {
  return time_threads_ms([&](int) {
    volatile float used = chains.run(length);
    static_cast<void>(used);
  });
}

int64_t length_for(const FmaChains& chains, double target_ms) {
  constexpr int kTries = 3;  // the first may wait for a thread to start
  int64_t length = 1 << 14;
  const auto try_once = [&](int) { return time_chains_ms(chains, length); };
  while (time_rounds_ms(kTries, Rounds::best, try_once) < target_ms / 2) length *= 2;
  return length;
}

double measure_gflops(const FmaChains& chains, int threads, Rounds rounds) {
  use_threads(threads);
  const int64_t length = length_for(chains, kRoundMs);
  const double ms = time_rounds_ms(kRounds, rounds, [&](int) { return time_chains_ms(chains, length); });
  const double flop = static_cast<double>(length) * chains.flop_per_round * threads;
  return flop / ms * 1e-6;
}

double ns_per_flop(const FmaChains& chains) {
  constexpr int64_t kLength = 1 << 14;
  const double begin = now_ms();
  volatile float used = chains.run(kLength);
  static_cast<void>(used);
  return (now_ms() - begin) * 1e6 / (static_cast<double>(kLength) * chains.flop_per_round);
}

// In turns, so that a clock that is still rising favours neither.
bool measure_whether_wide_vectors_pay() {
  constexpr int kTimes = 100;
  constexpr double kNotable = 1.3;
  double wide = std::numeric_limits<double>::infinity(), narrow = wide;
  for (int i = 0; i < kTimes; ++i) {
    wide = std::min(wide, ns_per_flop(fma_chains_f32_avx512()));
    narrow = std::min(narrow, ns_per_flop(fma_chains_f32_avx2()));
  }
  return narrow > kNotable * wide;
}

}  // namespace

bool wide_vectors_pay() {
  static const bool pay =
      widest_instruction_set() == InstructionSet::avx512 && measure_whether_wide_vectors_pay();
  return pay;
}

double measure_fma_gflops(int threads, Rounds rounds) {
  return measure_gflops(widest_f32_chains(), threads, rounds);
}

std::optional<double> measure_bf16_gflops(int threads, Rounds rounds) {
  if (!has_bf16_products()) return std::nullopt;
  return measure_gflops(dot_chains_bf16_avx512(), threads, rounds);
}

MachineSpeed measure_speed(int threads, Rounds rounds) {
  return {.threads = threads,
          .fma_gflops = measure_fma_gflops(threads, rounds),
          .bf16_gflops = measure_bf16_gflops(threads, rounds),
          .bandwidth_gbs = measure_bandwidth_gbs(threads, rounds)};
}

}  // namespace tacho
