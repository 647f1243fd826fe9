#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "results/record.h"

namespace tacho {

// A figure of a record for a table that has published ones beside ours: ours with `digits` significant
// digits, published ones digit for digit, with the corrected figure in brackets behind them.
std::string figure_text(const Record& record, const std::string& field, const std::optional<double>& value,
                        int digits);

// Empty where a published row does not say it.
std::string count_text(int64_t count);

// What a table says behind a row: the verdict of ours where it is not simply valid, and of a published one
// the number of its known error among those of `published`.
std::string note_on(const Record& record, std::span<const Record> published);

// These errors with their corrections, a line each, for below the table.
std::string known_errors(std::span<const Record> published);

}  // namespace tacho
