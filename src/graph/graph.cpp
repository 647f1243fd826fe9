#include "graph/graph.h"

#include <algorithm>

namespace tacho {

std::optional<ValueId> Graph::find(std::string_view value_name) const {
  const auto found = std::ranges::find(values, value_name, &Value::name);
  if (found == values.end()) return {};
  return static_cast<ValueId>(found - values.begin());
}

std::vector<ValueId> Graph::weights() const {
  std::vector<ValueId> ids;
  for (Role role : {Role::parameter, Role::statistic}) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].role == role) ids.push_back(static_cast<ValueId>(i));
    }
  }
  return ids;
}

}  // namespace tacho
