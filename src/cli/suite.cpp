#include <fmt/format.h>

#include <memory>

#include "base/cpu.h"
#include "base/text.h"
#include "bench/suites.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "report/zoo_table.h"
#include "results/selection.h"

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

// What a smaller scale left out, for the table.
std::string what_was_shrunk(const Case& whole, const Case& run) {
  if (run.repeat == whole.repeat && run.warmup == whole.warmup) return "";
  return fmt::format("shrunk by --scale: {} timed passes instead of {}, {} warm-up instead of {}\n\n",
                     run.repeat, whole.repeat, run.warmup, whole.warmup);
}

std::string present_zoo(std::span<const Record> records, Format format) {
  const std::vector<Record> published = select_records("reference:dgx1-v100", {}, "").records;
  const SystemInfo& system = records[0].system;
  return fmt::format(
      "{}: {}, {} cores; batch 16, 224x224; training is forward + backward, without the update; ~ is "
      "noisy\n\n{}",
      system.name, system.cpu, system.cores, render(zoo_table(records, published), format));
}

Job job_of(const Suite& suite, double scale) {
  const std::vector<Case> whole = suite.cases(usable_cores());
  Job job = {.cells = scaled(whole, scale), .suite = std::string(suite.name)};
  const std::string shrunk = what_was_shrunk(whole.front(), job.cells.front());
  job.present = [&suite, shrunk](std::span<const Record> records, Format format) {
    const bool as_zoo = suite.name == "zoo" && is_for_people(format);
    const std::string text = as_zoo ? present_zoo(records, format) : format_records(records, format);
    return is_for_people(format) ? shrunk + text : text;
  };
  return job;
}

}  // namespace

void add_suite_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SuiteOptions>();
  CLI::App* command = app.add_subcommand("suite", "Run a list of measurements that has a name");
  command->add_option("name", options->name, list_of_suites())->required();
  command->add_option("--scale", options->scale, "Run this share of the passes, from 0 to 1")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const auto share = parse_quantity(text);
        return share && *share > 0 && *share <= 1 ? "" : "--scale must lie above 0 and be at most 1";
      });
  add_measure_options(*command, options->measure);
  command->callback([options, &context] {
    const Job job = job_of(find_suite(options->name), options->scale);
    measure_and_report(job, options->measure, context);
  });
}

}  // namespace tacho
