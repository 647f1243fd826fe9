#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "results/record.h"

namespace tacho {

// Writes the HTML page of the records, and of the published results to set them beside where asked for.
void write_page(const std::filesystem::path& file, std::span<const Record> records, bool with_references,
                const std::string& command);

}  // namespace tacho
