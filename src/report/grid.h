#pragma once

#include <string>
#include <vector>

#include "results/importance.h"

namespace tacho {

struct GridColumn {
  std::string header;
  bool right = false;  // numbers
  Importance importance = Importance::some;
};

// Text in rows and columns, ready to be laid out.
struct Grid {
  std::vector<GridColumn> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as `columns`
};

// Aligned columns for a terminal. Where they are wider than `width`, a single row is turned into lines of
// name and value, and several rows leave out the columns that say least, the last of them first, and name
// them below. 0: as wide as it comes.
std::string render_plain(const Grid& grid, size_t width = 0);

// Lines that are longer than `width` are broken at blanks, and go on after `indent` blanks. 0: left as they
// are.
std::string wrap(const std::string& text, size_t width, size_t indent = 0);

// Commas, with quotes where a cell needs them.
std::string render_csv(const Grid& grid);

// A pipe table, aligned too, that pastes into Markdown.
std::string render_markdown(const Grid& grid);

}  // namespace tacho
