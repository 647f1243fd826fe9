#include <memory>

#include "base/cpu.h"
#include "bench/suites.h"
#include "cli/commands.h"
#include "cli/measure.h"

namespace tacho {
namespace {

struct SuiteOptions {
  std::string name;
  double scale = 1;
  MeasureOptions measure;
};

std::string list_of_suites() {
  std::string text;
  for (const Suite& suite : suites()) {
    text += (text.empty() ? "" : "; ") + std::string(suite.name) + ": " + std::string(suite.purpose);
  }
  return text;
}

}  // namespace

void add_suite_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SuiteOptions>();
  CLI::App* command = app.add_subcommand("suite", "Run a list of measurements that has a name");
  command->add_option("name", options->name, list_of_suites())->required();
  command->add_option("--scale", options->scale, "Run this share of the passes, from 0 to 1")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  add_measure_options(*command, options->measure);
  command->callback([options, &context] {
    const Suite& suite = find_suite(options->name);
    const Job job = {.cells = scaled(suite.cases(usable_cores()), options->scale),
                     .suite = std::string(suite.name)};
    measure_and_report(job, options->measure, context);
  });
}

}  // namespace tacho
