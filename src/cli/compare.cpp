#include "report/compare.h"

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"

namespace tacho {
namespace {

struct CompareOptions {
  StoreOptions store;
  OutputOptions output;
  std::vector<std::string> names;
  std::string model, mode;                    // empty: all
  std::optional<std::string> fail_if_slower;  // percent
};

// "5%" and "5" are 0.05.
double parse_share(std::string_view text) {
  const std::string_view number = trim(text.ends_with('%') ? text.substr(0, text.size() - 1) : text);
  const std::optional<double> percent = parse_number(number);
  if (!percent || *percent < 0) {
    throw UserError("--fail-if-slower '{}': must be a percentage that is not negative, as in 5%", text);
  }
  return *percent / 100;
}

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

void add_compare_command(Command app, CommandContext& context) {
  auto options = std::make_shared<CompareOptions>();
  Command command =
      app.subcommand("compare", "Set runs, systems, engines and published results side by side");
  command.option("names", options->names, kSelectionHelp).required().expected(2, 100);
  command.option("--model", options->model, "Only this network");
  command.option("--mode", options->mode, "Only infer or only train");
  command.option("--fail-if-slower", options->fail_if_slower,
                 "Status 1 where the first name is slower than another by more than this, as in 5%: the "
                 "answer is `slower` and it takes more than 1.05 times as long");
  add_store_options(command, options->store);
  add_output_options(command, options->output);
  command.on_run([options, &context] {
    const Layout layout = chosen_layout(options->output);
    check_output(options->output);
    const std::optional<double> tolerated =
        options->fail_if_slower ? std::optional(parse_share(*options->fail_if_slower)) : std::nullopt;
    const std::vector<Selection> selected = selections(*options);
    write_output(options->output, format_comparison(selected, layout));
    if (tolerated && any_slower(selected, *tolerated)) context.exit_status = 1;
  });
}

}  // namespace tacho
