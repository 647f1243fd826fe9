#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

// The axes of a sweep as a user writes them. `option` ("--batch") only names the place in errors (UserError).
namespace tacho {

// "a,b,c" without empty parts.
std::vector<std::string> parse_words(std::string_view option, std::string_view text);

// The same where every word must be one of `choices`.
std::vector<std::string> parse_choices(std::string_view option, std::string_view text,
                                       std::initializer_list<std::string_view> choices);

// A comma list of numbers and ranges: "16,32", "1-8", "16-2048*2", "16-64+16". All values are in [1,
// `largest`].
std::vector<int64_t> parse_axis(std::string_view option, std::string_view text, int64_t largest);

// One number.
int64_t parse_count(std::string_view option, std::string_view text, int64_t largest, int64_t least);

// A comma list of image sizes: "224" (that many along every axis), "224x160", "40x216x216", "32-256*2".
std::vector<Extents> parse_image_axis(std::string_view option, std::string_view text);

// The same, but one size only.
Extents parse_image(std::string_view option, std::string_view text);

}  // namespace tacho
