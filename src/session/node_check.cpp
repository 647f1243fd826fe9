#include "session/node_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/prepared_case.h"
#include "distributed/collectives.h"
#include "distributed/link.h"
#include "engine/engines.h"
#include "kernels/peak/peak.h"

namespace tacho {
namespace {

constexpr int kPassesPerRound = 4;

// Small, so that a round takes well below a second, and of the kind that machines are bought for.
Case training_case(int threads) {
  return {.model = "resnet18",
          .mode = Mode::train,
          .execution = {.engine = default_engine(), .threads = threads, .kernel = {}},
          .batch = 4,
          .image = {64, 64}};
}

// A network that is ready to train, on one host.
class Training {
 public:
  explicit Training(int threads)
      : cell_(training_case(threads)),
        workload_(build_workload(cell_)),
        prepared_(cell_, workload_, first_weights(cell_, workload_.graph), default_kernel_cache(), false,
                  *ranks_, *group_) {
    prepared_.run_pass();
  }

  // Over some passes: what holds a host back from time to time counts.
  double images_per_s() {
    const double begin = now_ms();
    for (int pass = 0; pass < kPassesPerRound; ++pass) prepared_.run_pass();
    return static_cast<double>(kPassesPerRound * cell_.batch) / (now_ms() - begin) * 1e3;
  }

 private:
  std::unique_ptr<Communicator> ranks_ = alone();
  std::unique_ptr<Group> group_ = single_group();
  Case cell_;
  Workload workload_;
  PreparedCase prepared_;
};

struct Measure {
  std::string what, unit;
  std::function<double()> run;
};

// The ranks that stand for a host, in the order of the hosts.
std::vector<int> first_ranks(const World& world) {
  std::vector<int> ranks;
  std::vector<std::string> seen;
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::string& host = world.hosts()[static_cast<size_t>(rank)];
    if (std::ranges::find(seen, host) != seen.end()) continue;
    seen.push_back(host);
    ranks.push_back(rank);
  }
  return ranks;
}

// Everybody's figure of this moment, by host; `own` of ranks that stand for none does not count.
std::vector<double> of_hosts(World& world, const std::vector<int>& ranks, double own) {
  const std::vector<double> all = all_gather(world.all(), std::span(&own, 1));
  std::vector<double> figures;
  for (const int rank : ranks) figures.push_back(all[static_cast<size_t>(rank)]);
  return figures;
}

class Check {
 public:
  Check(World& world, const NodeCheckOptions& options,
        const std::function<void(const std::string&, double)>& progress)
      : world_(world), options_(options), progress_(progress), ranks_(first_ranks(world)) {
    use_cores(0, 0);
    use_threads(options.threads);
    if (stands_for_host()) training_.emplace(options.threads);
    for (const int rank : ranks_) result_.hosts.push_back(world.hosts()[static_cast<size_t>(rank)]);
  }

  NodeCheck run() {
    const std::vector<Measure> measures = {
        {"FMA", "GFLOP/s", [&] { return measure_fma_gflops(options_.threads, Rounds::all); }},
        {"memory", "GB/s", [&] { return measure_bandwidth_gbs(options_.threads, Rounds::all); }},
        {"training", "images/s", [&] { return training_->images_per_s(); }}};
    steps_ = 2 * static_cast<double>(measures.size()) + 1;
    for (const Measure& measure : measures) measure_together(measure);
    for (const Measure& measure : measures) measure_alone(measure);
    measure_links();
    return std::move(result_);
  }

 private:
  bool stands_for_host() const { return std::ranges::find(ranks_, world_.rank()) != ranks_.end(); }

  HostFigures& add(const std::string& what, const std::string& unit) {
    progress_(what, static_cast<double>(result_.figures.size()) / steps_);
    return result_.figures.emplace_back(
        HostFigures{what, unit, std::vector<std::vector<double>>(ranks_.size())});
  }

  static void add_round(const std::vector<double>& round, HostFigures& figures) {
    for (size_t host = 0; host < round.size(); ++host) figures.samples[host].push_back(round[host]);
  }

  void measure_together(const Measure& measure) {
    HostFigures& figures = add(measure.what + " at once", measure.unit);
    for (int round = 0; round < options_.rounds; ++round) {
      barrier(world_.all());
      add_round(of_hosts(world_, ranks_, stands_for_host() ? measure.run() : 0), figures);
    }
  }

  void measure_alone(const Measure& measure) {
    HostFigures& figures = add(measure.what + " alone", measure.unit);
    for (int round = 0; round < options_.rounds; ++round) {
      std::vector<double> figures_of_round(ranks_.size());
      for (size_t host = 0; host < ranks_.size(); ++host) {
        const double own = world_.rank() == ranks_[host] ? measure.run() : 0;
        figures_of_round[host] = of_hosts(world_, ranks_, own)[host];
      }
      add_round(figures_of_round, figures);
    }
  }

  // A host's link is as good as that to the partner it reaches best: so a slow one does not spoil the
  // others'.
  void measure_links() {
    HostFigures& figures = add("exchange with its best partner", "MB/s");
    const std::unique_ptr<Communicator> ranks = world_.all().first(world_.size());
    for (int round = 0; round < options_.rounds; ++round) {
      std::vector<double> best(ranks_.size());
      for (size_t a = 0; a < ranks_.size(); ++a) {
        for (size_t b = a + 1; b < ranks_.size(); ++b) {
          const double own = 1e3 * measure_link(*ranks, ranks_[a], ranks_[b]).bandwidth_gbs;
          const double rate = of_hosts(world_, ranks_, own)[a];
          best[a] = std::max(best[a], rate);
          best[b] = std::max(best[b], rate);
        }
      }
      add_round(best, figures);
    }
  }

  World& world_;
  const NodeCheckOptions& options_;
  const std::function<void(const std::string&, double)>& progress_;
  std::vector<int> ranks_;
  std::optional<Training> training_;
  NodeCheck result_;
  double steps_ = 1;
};

}  // namespace

NodeCheck check_nodes(World& world, const NodeCheckOptions& options,
                      const std::function<void(const std::string&, double)>& progress) {
  return Check(world, options, progress).run();
}

}  // namespace tacho
