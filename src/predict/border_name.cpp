#include "predict/border_name.h"

#include "base/error.h"

namespace tacho {

std::string_view name_of(Border border) { return border == Border::reflect ? "reflect" : "network"; }

Border parse_border(std::string_view name) {
  for (const Border border : {Border::reflect, Border::network}) {
    if (name == name_of(border)) return border;
  }
  throw UserError("--border '{}': reflect or network", name);
}

}  // namespace tacho
