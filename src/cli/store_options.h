#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

namespace tacho {

struct StoreOptions {
  std::optional<std::filesystem::path> file;  // default: default_store_path()
};

void add_store_options(CLI::App& command, StoreOptions& options);

std::filesystem::path store_path(const StoreOptions& options);

}  // namespace tacho
