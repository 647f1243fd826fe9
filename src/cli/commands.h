#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/ranks.h"

namespace tacho {

// What main tells a command, and a command main. A command throws UserError for a wrong call or input: main
// prints it, status 2.
struct CommandContext {
  std::string command;                 // as it was typed, ready to be typed again
  std::vector<std::string> arguments;  // the same, word by word
  Ranks& ranks;                        // that run this call together
  int exit_status = 0;
};

// Each adds one subcommand with its options.
void add_models_command(Command app, CommandContext& context);
void add_system_command(Command app, CommandContext& context);
void add_bench_command(Command app, CommandContext& context);
void add_suite_command(Command app, CommandContext& context);
void add_profile_command(Command app, CommandContext& context);
void add_train_command(Command app, CommandContext& context);
void add_data_command(Command app, CommandContext& context);
void add_results_command(Command app, CommandContext& context);
void add_compare_command(Command app, CommandContext& context);
void add_plan_command(Command app, CommandContext& context);
void add_report_command(Command app, CommandContext& context);
void add_infer_command(Command app, CommandContext& context);
void add_predict_command(Command app, CommandContext& context);
void add_weights_command(Command app, CommandContext& context);
void add_export_command(Command app, CommandContext& context);
void add_manual_command(Command app, CommandContext& context);
void add_completion_command(Command app, CommandContext& context);

// Adds it below `tacho data`.
void add_data_load_command(Command data);

// Every command of the program, in the order of --help.
void add_commands(Command app, CommandContext& context);

// Whether every rank of a launcher has a part in the command; otherwise it is rank 0's alone.
bool runs_on_all_ranks(std::string_view command);

}  // namespace tacho
