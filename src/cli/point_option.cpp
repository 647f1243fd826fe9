#include "cli/point_option.h"

#include "base/error.h"
#include "base/text.h"

namespace tacho {

Point parse_point(const char* option, const std::string& text) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const std::vector<std::string> parts = split(text, ',');
  Point point = {};
  bool right = parts.size() == point.size();
  for (size_t axis = 0; right && axis < point.size(); ++axis) {
    point[axis] = parse_integer(parts[axis]).value_or(-1);
    right = point[axis] >= 0 && point[axis] <= kMost;
  }
  if (!right) throw UserError("{} '{}': write sections, rows and columns as z,y,x: 64,128,128", option, text);
  return point;
}

}  // namespace tacho
