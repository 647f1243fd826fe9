#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tacho {

// What a command tells main. A command throws UserError for a wrong call or input: main prints it, status 2.
struct CommandContext {
  std::string command;  // as it was typed, ready to be typed again
  int exit_status = 0;
};

// Each adds one subcommand with its options; the command runs while the command line is parsed.
void add_models_command(CLI::App& app, CommandContext& context);
void add_system_command(CLI::App& app, CommandContext& context);
void add_bench_command(CLI::App& app, CommandContext& context);
void add_suite_command(CLI::App& app, CommandContext& context);
void add_profile_command(CLI::App& app, CommandContext& context);
void add_train_command(CLI::App& app, CommandContext& context);
void add_data_command(CLI::App& app, CommandContext& context);
void add_results_command(CLI::App& app, CommandContext& context);
void add_compare_command(CLI::App& app, CommandContext& context);
void add_plan_command(CLI::App& app, CommandContext& context);
void add_report_command(CLI::App& app, CommandContext& context);
void add_infer_command(CLI::App& app, CommandContext& context);
void add_weights_command(CLI::App& app, CommandContext& context);
void add_export_command(CLI::App& app, CommandContext& context);

// Every command of the program, in the order of --help.
void add_commands(CLI::App& app, CommandContext& context);

}  // namespace tacho
