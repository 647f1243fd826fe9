#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

namespace tacho {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

namespace {

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  // A third of the letters may be wrong, so that short words do not match everything.
  size_t least = (word.size() + 2) / 3 + 1;
  std::string_view best;
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return std::string(best);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

std::optional<double> parse_quantity(std::string_view text) {
  constexpr std::string_view kThousands = "kMGT";
  double factor = 1;
  if (const size_t power = text.empty() ? std::string_view::npos : kThousands.find(text.back());
      power != std::string_view::npos) {
    factor = std::pow(1000.0, static_cast<double>(power + 1));
    text.remove_suffix(1);
  }
  const std::optional<double> number = parse_number(text);
  if (!number || *number < 0) return {};
  return *number * factor;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes);
  if (std::abs(amount) < 1024) return fmt::format("{} B", bytes);
  size_t unit = 0;
  // What would be printed as 1024.0 is 1.0 of the next unit.
  for (amount /= 1024; std::abs(amount) >= 1023.95 && unit + 1 < kUnits.size(); amount /= 1024) ++unit;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string format_duration_ms(double duration_ms) {
  if (!std::isfinite(duration_ms)) return "unknown";
  if (duration_ms < 0) return fmt::format("-{}", format_duration_ms(-duration_ms));
  if (duration_ms < 9.995) return fmt::format("{:.2f} ms", duration_ms);
  if (duration_ms < 99.95) return fmt::format("{:.1f} ms", duration_ms);
  if (duration_ms < 999.5) return fmt::format("{:.0f} ms", duration_ms);
  if (duration_ms < 59'950) return fmt::format("{:.1f} s", duration_ms / 1e3);
  const double seconds = std::round(duration_ms / 1e3);
  if (seconds < 3600)
    return fmt::format("{:.0f}m {:02.0f}s", std::floor(seconds / 60), std::fmod(seconds, 60));
  const double minutes = std::round(seconds / 60);
  if (minutes < 1440)
    return fmt::format("{:.0f}h {:02.0f}m", std::floor(minutes / 60), std::fmod(minutes, 60));
  const double hours = std::round(minutes / 60);
  return fmt::format("{:.0f}d {:02.0f}h", std::floor(hours / 24), std::fmod(hours, 24));
}

std::string format_thousands(int64_t number) {
  std::string text = fmt::format("{}", number);
  const int first_digit = number < 0 ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first_digit; at -= 3) text.insert(at, 1, ',');
  return text;
}

uint64_t stable_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace tacho
