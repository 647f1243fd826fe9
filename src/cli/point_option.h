#pragma once

#include <string>

#include "volume/box.h"

namespace tacho {

// "64,128,128": whole numbers along z, y and x, none negative. Throws UserError that names the option.
Point parse_point(const char* option, const std::string& text);

}  // namespace tacho
