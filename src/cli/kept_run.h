#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/driver.h"
#include "results/record.h"
#include "results/store.h"

namespace tacho {

// The records of one call: what they share, and the store that keeps each as it is finished.
class KeptRun {
 public:
  KeptRun(const KeepOptions& options, std::string suite, std::string command);

  // Says on stderr what disturbs the machine; the records hold it too.
  void observe_machine();
  // A store that fails in the middle must not cost what was measured: it is given up, and said so.
  void keep(Record& record);
  // What can be read of the store, the rest is a note; nothing where nothing is kept.
  std::optional<std::vector<Record>> stored();
  // Goes on with an earlier run.
  void continue_as(const std::string& id) { id_ = id; }

  const SystemInfo& system() const { return system_; }
  const std::string& id() const { return id_; }
  bool is_kept() const { return store_.has_value(); }
  void say_where() const;
  // Beside the store, so that a first look ends in a page to open. What was measured counts more than that.
  void write_page();

 private:
  // A newer program's store is left alone, and what is measured is still printed.
  void open_store();

  std::filesystem::path path_;
  std::string suite_, command_, id_;
  SystemInfo system_;
  std::optional<Store> store_;
};

// Whether any of them could not be measured.
bool something_failed(std::span<const Record> records);

}  // namespace tacho
