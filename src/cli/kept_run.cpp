#include "cli/kept_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "capture/bench_record.h"
#include "capture/environment.h"
#include "cli/page.h"
#include "results/format.h"

namespace tacho {

KeptRun::KeptRun(const KeepOptions& options, std::string suite, std::string command)
    : suite_(std::move(suite)), command_(std::move(command)), id_(unique_id()) {
  if (!options.without_store) {
    path_ = store_path(options.store);
    open_store();
  }
  system_ = capture_system(options.system);
}

void KeptRun::observe_machine() {
  system_.warnings = noise_warnings();
  for (const std::string& warning : system_.warnings) fmt::print(stderr, "tacho: warning: {}\n", warning);
}

void KeptRun::open_store() {
  store_.emplace(path_);
  try {
    store_->check_writable();
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: results are not kept: {}\n", error.what());
    store_.reset();
  }
}

void KeptRun::keep(Record& record) {
  record.run = id_;
  record.suite = suite_;
  record.command = command_;
  if (!store_) return;
  try {
    store_->add(record);
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: this and further results are not kept: {}\n", error.what());
    store_.reset();
  }
}

std::optional<std::vector<Record>> KeptRun::stored() {
  if (!store_) return std::nullopt;
  RecordList list = store_->all();
  note_unread(list.unread, path_);
  return std::move(list.records);
}

void KeptRun::say_where() const {
  if (!store_) return;
  fmt::print(stderr, "tacho: note: kept in {} as run {} (`tacho results list`)\n", path_.string(),
             shown_id(id_));
}

void KeptRun::write_page() {
  if (!store_) return;
  const std::filesystem::path page = std::filesystem::absolute(path_).replace_extension(".report.html");
  try {
    tacho::write_page(
        page, *stored(), true,
        fmt::format("tacho report --db {} -o {}", shell_quoted(path_.string()), shell_quoted(page.string())));
    fmt::print(stderr, "tacho: note: the page to open in a browser is {}\n", page.string());
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: no page was written: {}\n", error.what());
  }
}

bool something_failed(std::span<const Record> records) {
  return std::ranges::any_of(records, [](const Record& record) {
    return record.judgement.verdict == Verdict::failed || record.judgement.verdict == Verdict::out_of_memory;
  });
}

}  // namespace tacho
