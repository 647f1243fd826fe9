#pragma once

#include <string>
#include <string_view>

namespace tacho {

// Significant digits in tables, of figures and of ratios between them.
inline constexpr int kFigureDigits = 4, kRatioDigits = 3;

// With `digits` significant digits, never as a power of ten and never cutting whole digits: 12345, 1.23,
// 0.000123.
std::string format_significant(double value, int digits);

// "45.23 ± 0.31": the deviation to the last digit of the value.
std::string format_with_deviation(double value, double deviation, int digits);

// The first 8 characters of an id, which people get to see.
std::string shown_id(std::string_view id);

}  // namespace tacho
