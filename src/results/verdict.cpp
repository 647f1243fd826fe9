#include "results/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "results/statistics.h"

namespace tacho {
namespace {

constexpr size_t kFewSamples = 5;
constexpr double kMuchDriftPercent = 5;

struct Name {
  Verdict verdict;
  std::string_view name;
};

constexpr std::array kNames = {
    Name{Verdict::valid, "valid"},
    Name{Verdict::noisy, "noisy"},
    Name{Verdict::oversubscribed, "oversubscribed"},
    Name{Verdict::out_of_memory, "out_of_memory"},
    Name{Verdict::failed, "failed"},
    Name{Verdict::simulated, "simulated"},
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  const auto known = std::ranges::find(kNames, verdict, &Name::verdict);
  return known == kNames.end() ? std::string_view() : known->name;
}

std::string_view name_of(const Judgement& judgement) {
  return judgement.verdict == Verdict::unknown ? judgement.unknown_name : name_of(judgement.verdict);
}

void set_verdict(std::string_view name, Judgement& judgement) {
  const auto known = std::ranges::find(kNames, name, &Name::name);
  judgement.verdict = known == kNames.end() ? Verdict::unknown : known->verdict;
  judgement.unknown_name = known == kNames.end() ? name : "";
}

bool has_figures(const Judgement& judgement) {
  const Verdict verdict = judgement.verdict;
  return verdict != Verdict::failed && verdict != Verdict::out_of_memory && verdict != Verdict::unknown;
}

Judgement judge_samples(std::span<const double> samples_ms, int threads, int usable_cores) {
  if (samples_ms.empty()) return {Verdict::failed, "no pass was timed"};
  if (threads > usable_cores) {
    return {Verdict::oversubscribed, fmt::format("{} threads share {} usable cores", threads, usable_cores)};
  }
  const double center = median(samples_ms);
  const double share = center > 0 ? mad(samples_ms) / center : 0;
  if (share > kNoisyShare) {
    return {Verdict::noisy, fmt::format("MAD is {:.1f} % of the median", 100 * share)};
  }
  if (samples_ms.size() < kFewSamples) {
    return {Verdict::valid,
            fmt::format("only {} timed, noise is hardly known",
                        samples_ms.size() == 1 ? "one pass" : fmt::format("{} passes", samples_ms.size()))};
  }
  const double drift = drift_percent(samples_ms).value_or(0);
  if (std::abs(drift) > kMuchDriftPercent) {
    return {Verdict::valid, fmt::format("the second half of the passes was {:.1f} % {} than the first",
                                        std::abs(drift), drift > 0 ? "slower" : "faster")};
  }
  return {};
}

}  // namespace tacho
