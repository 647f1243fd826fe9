#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tacho {

enum class Verdict { valid, noisy, oversubscribed, out_of_memory, failed, simulated };

std::string_view name_of(Verdict verdict);
// Throws UserError for a name that is none.
Verdict parse_verdict(std::string_view name);

struct Judgement {
  Verdict verdict = Verdict::valid;
  std::string reason = {};  // in words; empty where there is nothing to say
};

// MAD/median above this is noisy.
inline constexpr double kNoisyShare = 0.05;

// What the samples of a finished measurement are worth.
Judgement judge_samples(std::span<const double> samples_ms, int threads, int usable_cores);

}  // namespace tacho
