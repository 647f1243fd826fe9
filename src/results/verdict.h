#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tacho {

enum class Verdict {
  valid,
  noisy,
  oversubscribed,
  out_of_memory,
  failed,
  simulated,  // computed from other measurements
  unknown,    // a newer program's: what its figures are worth cannot be told
};

struct Judgement {
  Verdict verdict = Verdict::valid;
  std::string reason = {};        // in words; empty where there is nothing to say
  std::string unknown_name = {};  // of Verdict::unknown
};

std::string_view name_of(Verdict verdict);  // empty of an unknown one
std::string_view name_of(const Judgement& judgement);
void set_verdict(std::string_view name, Judgement& judgement);

// Whether there is something to compare.
bool has_figures(const Judgement& judgement);

// MAD/median above this is noisy.
inline constexpr double kNoisyShare = 0.05;

// What the samples of a finished measurement are worth.
Judgement judge_samples(std::span<const double> samples_ms, int threads, int usable_cores);

}  // namespace tacho
