#pragma once

#include <string>

#include "base/json.h"

namespace tacho {

// One file that needs nothing else: markup, style, Chart.js, the scripts of report/page/ and the data.
std::string html_page(const Json& data);

}  // namespace tacho
