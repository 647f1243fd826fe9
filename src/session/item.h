#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/machine_speed.h"
#include "results/record.h"

namespace tacho {

// What an item finds where it runs, and how it talks to whoever runs it.
struct ItemContext {
  const SystemInfo& system;
  const std::map<int, MachineSpeed>& peaks;  // by threads, for those of peak_threads()
  std::filesystem::path kernel_cache;
  std::function<void(const std::string& where, double share_done)> progress;
  std::function<void(const std::string& line)> say;   // a line that stays, such as the figures of an epoch
  std::function<void(const std::string& text)> note;  // what the user should know
  std::function<bool()> should_stop;
};

// A piece of work that a call asks for: it is checked, described, and run to records.
class WorkItem {
 public:
  virtual ~WorkItem() = default;

  // Throws UserError for what can never run as it is written. Once, before anything runs.
  virtual void check(const std::function<void(const std::string&)>& note) = 0;

  // FLOP: how long items take relative to each other. After check().
  virtual double work() const = 0;
  // On how many threads the machine's peak is to be measured before; none where that does not matter.
  virtual std::set<int> peak_threads() const { return {}; }
  // Whether where it is shall be said from time to time also where no terminal shows it.
  virtual bool is_long() const { return false; }
  // The record that it will make, as far as that is known before; nothing where such a run cannot be
  // continued.
  virtual std::optional<Record> description() const { return {}; }

  // Hands each record to `finish` as it is finished; none where it was stopped before. Throws UserError where
  // something the user asked for could not be done.
  virtual void run(const ItemContext& context, const std::function<void(Record)>& finish) = 0;
};

}  // namespace tacho
