#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Whether two ASCII characters are the same letter, or the same otherwise, without regard to case.
bool same_letter(char a, char b);

// The candidate that `word` was most likely meant to be, by edit distance without regard to case; empty if
// none is near. Of equally near candidates the first wins.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

// The parts between separators, empty ones included: "a,,b" has three, "" has one.
std::vector<std::string> split(std::string_view text, char separator);

// Without blanks and line ends on either side.
std::string_view trim(std::string_view text);

// A whole decimal number and nothing else.
std::optional<int64_t> parse_integer(std::string_view text);

// A finite decimal number and nothing else: "-0.5", "1e-4".
std::optional<double> parse_number(std::string_view text);

// A number with an optional k, M, G or T for its thousands: "100k", "8.1T", "50000". Not negative.
std::optional<double> parse_quantity(std::string_view text);

// As a shell takes it for one word: in quotes where it needs them.
std::string shell_quoted(std::string_view word);

// "512 B", "1.2 GiB".
std::string format_bytes(int64_t bytes);

// "0.35 ms", "4.2 s", "1m 20s", "2h 05m", "3d 04h".
std::string format_duration_ms(double duration_ms);

// "11,689,512".
std::string format_thousands(int64_t number);

// FNV-1a: the same on every machine and in every version, so it may be written to disk.
uint64_t stable_hash(std::string_view text);

}  // namespace tacho
