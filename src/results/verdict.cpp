#include "results/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "results/statistics.h"

namespace tacho {
namespace {

constexpr size_t kFewSamples = 5;
constexpr double kMuchDriftPercent = 5;

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::valid: return "valid";
    case Verdict::noisy: return "noisy";
    case Verdict::oversubscribed: return "oversubscribed";
    case Verdict::out_of_memory: return "out_of_memory";
    case Verdict::failed: return "failed";
    case Verdict::simulated: return "simulated";
  }
  return "?";
}

Verdict parse_verdict(std::string_view name) {
  for (const Verdict verdict : {Verdict::valid, Verdict::noisy, Verdict::oversubscribed,
                                Verdict::out_of_memory, Verdict::failed, Verdict::simulated}) {
    if (name_of(verdict) == name) return verdict;
  }
  throw UserError("'{}' is no verdict", name);
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
