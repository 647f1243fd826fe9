#include "base/base64.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? bytes[at + i] : 0u);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[(group >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

bool is_base64_of(std::string_view text, int64_t bytes) {
  if (static_cast<int64_t>(text.size()) != (bytes + 2) / 3 * 4) return false;
  const auto padding = static_cast<size_t>((3 - bytes % 3) % 3);
  const std::string_view digits = text.substr(0, text.size() - padding);
  return text.substr(digits.size()) == std::string_view("==").substr(0, padding) &&
         std::ranges::all_of(digits, [](char c) { return kDigits.find(c) != std::string_view::npos; });
}

}  // namespace tacho
