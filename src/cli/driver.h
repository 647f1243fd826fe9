#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"
#include "results/record.h"
#include "session/item.h"

namespace tacho {

// Where results go, and how a run is gone on with.
struct KeepOptions {
  OutputOptions output;
  StoreOptions store;
  bool without_store = false;
  std::string system;                  // empty: the host's name
  std::optional<std::string> resumed;  // a run's id, or empty for the last one
};

// `file_option` as in add_output_options().
void add_keep_options(Command command, KeepOptions& options, std::string file_option = "-o,--output");
// --continue [RUN].
void add_continue_option(Command command, KeepOptions& options);

using Present = std::function<std::string(std::span<const Record>, const Layout&)>;

// What a call asks for, and how it is shown.
struct Job {
  std::vector<std::unique_ptr<WorkItem>> items;
  std::string suite = {};
  std::string first_result = "the first cell was finished";  // "interrupted before ..."
  std::string after_loss = {};       // of a rank: how to go on where no run of the store can be continued
  Present present = {};              // for people; a table of the records where empty
  Present present_to_programs = {};  // the records where empty
};

// Checks every item, runs those that the resumed run lacks, keeps each record in the store as it is finished,
// and shows them all, also after Ctrl-C. Throws UserError before the first one runs if any of them is wrong.
void run_job(const Job& job, const KeepOptions& options, CommandContext& context);

}  // namespace tacho
