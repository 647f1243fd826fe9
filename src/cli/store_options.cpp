#include "cli/store_options.h"

#include "results/store.h"

namespace tacho {

void add_store_options(CLI::App& command, StoreOptions& options) {
  command.add_option("--db", options.file,
                     "Where results are kept; default: $XDG_DATA_HOME/tacho/results.db, or "
                     "~/.local/share/tacho/results.db");
}

std::filesystem::path store_path(const StoreOptions& options) {
  return options.file ? *options.file : default_store_path();
}

}  // namespace tacho
