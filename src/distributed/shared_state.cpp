#include "distributed/shared_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

std::string hash_of(const std::string& text) { return fmt::format("{:016x}", stable_hash(text)); }

void require_equal(Communicator& ranks, const std::string& what, const std::string& own,
                   const std::string& advice = "") {
  const std::vector<std::string> all = all_gather(ranks, own);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0])
      throw std::runtime_error(fmt::format("rank {} has other {} than rank 0{}", rank, what, advice));
  }
}

class SumOverRanks final : public SumOverDevices {
 public:
  explicit SumOverRanks(Communicator& ranks) : ranks_(ranks.first(ranks.size())) {}

  int devices() const override { return ranks_->size(); }

  void sum(std::span<double> values) override {
    const std::vector<double> all = all_gather(*ranks_, values);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 0;
      for (size_t at = i; at < all.size(); at += values.size()) values[i] += all[at];
    }
  }

 private:
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace

void broadcast_weights(Communicator& ranks, const Graph& graph, Weights& weights) {
  if (ranks.size() == 1) return;
  for (const ValueId id : graph.weights()) {
    const Value& value = graph.value(id);
    if (ranks.rank() > 0) weights.insert_or_assign(value.name, Tensor(value.shape, value.dtype));
    Tensor& tensor = weights.at(value.name);
    broadcast(ranks, {tensor.raw(), tensor.bytes()});
  }
}

void broadcast_state(Communicator& ranks, const Graph& graph, int states_per_parameter, Plan& plan) {
  if (ranks.size() == 1) return;
  const auto from_first = [&](Tensor tensor) {
    broadcast(ranks, {tensor.raw(), tensor.bytes()});
    return tensor;
  };
  for (const ValueId id : graph.weights()) plan.write(id, from_first(plan.read(id)));
  for (const auto& [parameter, gradient] : graph.gradients) {
    for (int which = 0; which < states_per_parameter; ++which)
      plan.write_state(parameter, which, from_first(plan.read_state(parameter, which)));
  }
  const PlanCounters own = plan.counters();
  plan.set_counters({static_cast<uint64_t>(broadcast(ranks, static_cast<int64_t>(own.passes))),
                     broadcast(ranks, own.updates)});
}

std::string kernels_of(const Plan& plan) {
  std::string names;
  for (const StepInfo& step : plan.steps().steps) names += fmt::format("{}\n", step.kernel);
  return hash_of(names);
}

void require_equal_plans(Communicator& ranks, Plan& plan) {
  require_equal(ranks, "kernels", kernels_of(plan), "; choose one with --kernel");
  std::string sizes;
  for (const std::span<float> range : plan.gradients()) sizes += fmt::format("{},", range.size());
  require_equal(ranks, "gradients", sizes);
}

void require_equal_parameters(Communicator& ranks, const Plan& plan, const Graph& graph) {
  if (ranks.size() == 1) return;
  std::string hashes;
  for (const auto& [parameter, gradient] : graph.gradients) {
    const Tensor tensor = plan.read(parameter);
    hashes += hash_of({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  require_equal(ranks, "weights", hash_of(hashes));
}

SharedFile::SharedFile(Communicator& ranks, fs::path own) : path_(std::move(own)) {
  if (ranks.size() == 1) return;
  const std::string content = broadcast(ranks, ranks.rank() == 0 ? read_file_if_present(path_) : "");
  if (ranks.rank() == 0) return;
  std::string pattern = (fs::temp_directory_path() / "tacho-XXXXXX").string();
  const int file = mkstemp(pattern.data());
  if (file < 0)
    throw UserError("cannot make a file in {}: {}", fs::temp_directory_path().string(), std::strerror(errno));
  close(file);
  path_ = pattern;
  write_file_atomically(path_, content);
  is_copy_ = true;
}

SharedFile::~SharedFile() {
  std::error_code ignored;
  if (is_copy_) fs::remove(path_, ignored);
}

std::unique_ptr<SumOverDevices> sum_over(Communicator& ranks) {
  return std::make_unique<SumOverRanks>(ranks);
}

}  // namespace tacho
