#pragma once

#include <string>
#include <vector>

namespace tacho {

struct GridColumn {
  std::string header;
  bool right = false;  // numbers
};

// Text in rows and columns, ready to be laid out.
struct Grid {
  std::vector<GridColumn> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as `columns`
};

// Aligned columns for a terminal.
std::string render_plain(const Grid& grid);

// Commas, with quotes where a cell needs them.
std::string render_csv(const Grid& grid);

// A pipe table, aligned too, that pastes into Markdown.
std::string render_markdown(const Grid& grid);

}  // namespace tacho
