#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/machine_speed.h"
#include "distributed/world.h"
#include "engine/execution.h"
#include "results/record.h"

namespace tacho {

// Devices that compute at once, with so many threads each.
struct DeviceThreads {
  int devices = 1, threads = 1;

  auto operator<=>(const DeviceThreads&) const = default;
};

// GPUs that compute at once, in this precision.
struct GpusAtWork {
  int devices = 1;
  std::string engine = {}, device = {}, precision = {};

  auto operator<=>(const GpusAtWork&) const = default;
};

using DevicesAtWork = std::variant<DeviceThreads, GpusAtWork>;
using DeviceSpeeds = std::map<DevicesAtWork, DeviceSpeed>;

// What an item finds where it runs, and how it talks to whoever runs it.
struct ItemContext {
  World& world;
  const SystemInfo& system;
  const DeviceSpeeds& peaks;  // those of peaks_needed()
  std::filesystem::path kernel_cache;
  // The share of the item's work that is done; nothing while it is at something else.
  std::function<void(const std::string& where, std::optional<double> share_done)> progress;
  std::function<void(const std::string& line)> say;   // a line that stays, such as the figures of an epoch
  std::function<void(const std::string& text)> note;  // what the user should know
  std::function<bool()> should_stop;
};

// A piece of work that a call asks for: it is checked, described, and run to records. Every rank has the same
// items and runs them in the same order.
class WorkItem {
 public:
  virtual ~WorkItem() = default;

  // Throws UserError for what can never run as it is written. Once, before anything runs.
  virtual void check(const std::function<void(const std::string&)>& note) = 0;

  // FLOP: how long items take relative to each other. After check().
  virtual double work() const = 0;
  // How what it does is computed, each in its turn.
  virtual std::vector<Execution> executions() const = 0;
  // Of which devices the peak is to be measured before; none where that does not matter.
  virtual std::set<DevicesAtWork> peaks_needed() const { return {}; }
  // Whether where it is shall be said from time to time also where no terminal shows it.
  virtual bool is_long() const { return false; }
  // The record that it will make, as far as that is known before; nothing where such a run cannot be
  // continued.
  virtual std::optional<Record> description() const { return {}; }

  // Hands each record to `finish` as it is finished, on rank 0 alone; none where it was stopped before.
  // Throws UserError where something the user asked for could not be done.
  virtual void run(const ItemContext& context, const std::function<void(Record)>& finish) = 0;
};

}  // namespace tacho
