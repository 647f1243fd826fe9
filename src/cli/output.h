#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "report/table.h"

namespace tacho {

struct OutputOptions {
  std::string format;  // empty: table on a terminal, md elsewhere
  std::optional<std::filesystem::path> file;
};

void add_output_options(CLI::App& command, OutputOptions& options);

Format chosen_format(const OutputOptions& options);

// Throws UserError where the file could not be written in the end, before anything was done in vain.
void check_output(const OutputOptions& options);

// To stdout, or as a whole into the file.
void write_output(const OutputOptions& options, const std::string& text);

}  // namespace tacho
