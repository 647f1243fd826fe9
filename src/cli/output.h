#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "report/table.h"

namespace tacho {

struct OutputOptions {
  std::string format;  // empty: table on a terminal, md elsewhere
  std::optional<std::filesystem::path> file;
};

inline constexpr std::string_view kFormats = "table, md, csv, json or jsonl";

// `file_option` where --output means something else to the command.
void add_output_options(Command command, OutputOptions& options, std::string_view formats = kFormats,
                        std::string file_option = "-o,--output");

// As wide as the terminal, where a table goes to one.
Layout chosen_layout(const OutputOptions& options);

// Throw UserError where the file could not be written in the end, before anything was done in vain.
void check_output(const OutputOptions& options);
void check_output_file(std::string_view option, const std::filesystem::path& file);

// Throws UserError where stdout does not take it all.
void print_result(std::string_view text);

// To stdout, or as a whole into the file.
void write_output(const OutputOptions& options, const std::string& text);

}  // namespace tacho
