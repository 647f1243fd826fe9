#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tacho {

// With "=" at the end, as RFC 4648 has it.
std::string to_base64(std::span<const uint8_t> bytes);

// Whether the text is what to_base64() makes of so many bytes.
bool is_base64_of(std::string_view text, int64_t bytes);

}  // namespace tacho
