#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "distributed/launch.h"

namespace tacho {
namespace {

// 0: unknown.
size_t terminal_width() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void add_output_options(Command command, OutputOptions& options, std::string_view formats,
                        std::string file_option) {
  command.option("--format", options.format,
                 fmt::format("{}; default: table on a terminal, md elsewhere", formats));
  command.option(std::move(file_option), options.file, "Write the result to this file instead of stdout");
}

Layout chosen_layout(const OutputOptions& options) {
  const bool on_terminal = !options.file && isatty(STDOUT_FILENO);
  const Format usual = on_terminal ? Format::table : Format::md;
  return {options.format.empty() ? usual : parse_format(options.format), on_terminal ? terminal_width() : 0};
}

void check_output_file(std::string_view option, const std::filesystem::path& file) {
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (file.empty()) throw UserError("{}: the name of the file is empty", option);
  if (file.filename().string().size() > NAME_MAX) {
    throw UserError("{}: the name of the file is longer than {} characters", option, NAME_MAX);
  }
  if (std::filesystem::is_directory(file, ignored)) {
    throw UserError("{} {}: is a directory; name a file", option, file.string());
  }
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UserError("{} {}: there is no directory {}; make it first", option, file.string(), folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw UserError("{} {}: the directory {} cannot be written; choose another", option, file.string(),
                    folder.string());
  }
}

void check_output(const OutputOptions& options) {
  if (options.file) check_output_file("-o", *options.file);
}

void print_result(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw UserError("cannot write to stdout: {}", std::strerror(errno));
  let_words_pass();
}

void write_output(const OutputOptions& options, const std::string& text) {
  if (options.file) {
    write_file_atomically(*options.file, text);
  } else {
    print_result(text);
  }
}

}  // namespace tacho
