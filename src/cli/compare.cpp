#include "report/compare.h"

#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"

namespace tacho {
namespace {

struct CompareOptions {
  StoreOptions store;
  OutputOptions output;
  std::vector<std::string> names;
  std::string model, mode;  // empty: all
};

std::vector<Selection> selections(const CompareOptions& options) {
  std::vector<Selection> selected = select_all(options.names, options.store);
  for (Selection& selection : selected) {
    std::erase_if(selection.records, [&](const Record& record) {
      return (!options.model.empty() && record.model != options.model) ||
             (!options.mode.empty() && record.mode != options.mode);
    });
  }
  return selected;
}

}  // namespace

void add_compare_command(Command app, CommandContext&) {
  auto options = std::make_shared<CompareOptions>();
  Command command =
      app.subcommand("compare", "Set runs, systems, engines and published results side by side");
  command.option("names", options->names, kSelectionHelp).required().expected(2, 100);
  command.option("--model", options->model, "Only this network");
  command.option("--mode", options->mode, "Only infer or only train");
  add_store_options(command, options->store);
  add_output_options(command, options->output);
  command.on_run([options] {
    const Format format = chosen_format(options->output);
    check_output(options->output);
    write_output(options->output, format_comparison(selections(*options), format));
  });
}

}  // namespace tacho
