#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "base/file.h"

namespace tacho {

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_option("--format", options.format,
                     "table, md, csv, json or jsonl; default: table on a terminal, md elsewhere");
  command.add_option("-o,--output", options.file, "Write the result to this file instead of stdout");
}

Format chosen_format(const OutputOptions& options) {
  if (!options.format.empty()) return parse_format(options.format);
  return !options.file && isatty(STDOUT_FILENO) ? Format::table : Format::md;
}

void check_output(const OutputOptions& options) {
  if (!options.file) return;
  const std::filesystem::path& file = *options.file;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(file)) {
    throw UserError("-o {}: is a directory; name a file", file.string());
  }
  if (!std::filesystem::is_directory(folder)) {
    throw UserError("-o {}: there is no directory {}; make it first", file.string(), folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw UserError("-o {}: the directory {} cannot be written; choose another", file.string(),
                    folder.string());
  }
}

void write_output(const OutputOptions& options, const std::string& text) {
  if (options.file) {
    write_file_atomically(*options.file, text);
  } else {
    fmt::print("{}", text);
    std::fflush(stdout);
  }
}

}  // namespace tacho
