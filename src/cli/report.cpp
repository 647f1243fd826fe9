#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/os.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"
#include "report/markdown.h"
#include "report/page.h"
#include "results/store.h"

namespace tacho {
namespace {

struct ReportOptions {
  StoreOptions store;
  OutputOptions output = {.format = "html", .file = {}};
  std::string model, system;  // empty: all
};

void check(const ReportOptions& options) {
  const std::string& format = options.output.format;
  if (format != "html" && format != "md") {
    throw UserError("--format '{}': unknown format; a report is html or md", format);
  }
  if (format == "html" && !options.output.file) {
    throw UserError("-o is missing: name the file of the page, as in 'tacho report -o report.html'");
  }
  check_output(options.output);
}

std::vector<Record> chosen_records(const ReportOptions& options) {
  const std::filesystem::path store = store_path(options.store);
  std::vector<Record> records = Store(store).all();
  std::erase_if(records, [&](const Record& record) {
    return (!options.model.empty() && record.model != options.model) ||
           (!options.system.empty() && record.system.name != options.system);
  });
  if (records.empty()) {
    throw UserError("nothing to report in {}: measure first, as with 'tacho suite quick'", store.string());
  }
  return records;
}

std::string utc_now() {
  return fmt::format("{:%FT%TZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

void report(const ReportOptions& options, const std::string& command) {
  check(options);
  const std::vector<Record> records = chosen_records(options);
  if (options.output.format == "md") return write_output(options.output, markdown_report(records));
  const PageOrigin origin = {
      .generated = utc_now(), .version = TACHO_VERSION, .command = command, .machine = machine_id()};
  write_output(options.output, html_page(page_data(records, origin)));
}

}  // namespace

void add_report_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "One page with tables and charts of what was measured");
  add_store_options(*command, options->store);
  command->add_option("--model", options->model, "Only this network's");
  command->add_option("--system", options->system, "Only this machine's");
  command->add_option("--format", options->output.format, "html or md")->capture_default_str();
  command->add_option("-o,--output", options->output.file, "The file to write; html needs one");
  command->callback([options, &context] { report(*options, context.command); });
}

}  // namespace tacho
