#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/store_options.h"
#include "report/markdown.h"

namespace tacho {
namespace {

struct ReportOptions {
  StoreOptions store;
  OutputOptions output = {.format = "html", .file = {}};
  RecordFilter filter;
  bool without_references = false;
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
  const std::vector<Record> all = stored_records(options.store);
  if (all.empty()) {
    throw UserError("nothing to report in {}: measure first, as with 'tacho suite quick'",
                    store_path(options.store).string());
  }
  std::vector<Record> records = filtered(all, options.filter);
  if (records.empty()) throw UserError("nothing to report: no result has that model and system");
  return records;
}

void report(const ReportOptions& options, const std::string& command) {
  check(options);
  const std::vector<Record> records = chosen_records(options);
  if (options.output.format == "md") return write_output(options.output, markdown_report(records));
  write_page(*options.output.file, records, !options.without_references, command);
}

}  // namespace

void add_report_command(Command app, CommandContext& context) {
  auto options = std::make_shared<ReportOptions>();
  Command command = app.subcommand("report", "One page with tables and charts of what was measured");
  add_store_options(command, options->store);
  add_filter_options(command, options->filter);
  command.flag("--no-references", options->without_references,
               "Leave out the published results that the page can set beside one's own");
  command.option("--format", options->output.format, "html or md").show_default();
  command.option("-o,--output", options->output.file, "The file to write; html needs one");
  command.on_run([options, &context] { report(*options, context.command); });
}

}  // namespace tacho
