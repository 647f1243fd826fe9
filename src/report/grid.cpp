#include "report/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {
namespace {

// Characters, not bytes: everything we print is one column wide.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(const std::string& text, size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

std::vector<size_t> column_widths(const Grid& grid, size_t least) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < grid.columns.size(); ++c) {
    size_t width = std::max(least, width_of(grid.columns[c].header));
    for (const auto& row : grid.rows) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> headers(const Grid& grid) {
  std::vector<std::string> texts;
  for (const GridColumn& column : grid.columns) texts.push_back(column.header);
  return texts;
}

std::string plain_line(const Grid& grid, const std::vector<size_t>& widths,
                       const std::vector<std::string>& cells) {
  std::string line;
  for (size_t c = 0; c < cells.size(); ++c) {
    line += fmt::format("{}{}", c == 0 ? "" : "  ", pad(cells[c], widths[c], grid.columns[c].right));
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string markdown_line(const Grid& grid, const std::vector<size_t>& widths,
                          const std::vector<std::string>& cells) {
  std::string line = "|";
  for (size_t c = 0; c < cells.size(); ++c)
    line += fmt::format(" {} |", pad(cells[c], widths[c], grid.columns[c].right));
  return line + "\n";
}

std::string markdown_rule(const Grid& grid, const std::vector<size_t>& widths) {
  std::string line = "|";
  for (size_t c = 0; c < widths.size(); ++c) {
    const std::string dashes(widths[c] + 1, '-');
    line += grid.columns[c].right ? fmt::format("{}:|", dashes) : fmt::format(":{}|", dashes);
  }
  return line + "\n";
}

std::string csv_cell(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2))
    text.insert(at, 1, '"');
  return fmt::format("\"{}\"", text);
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t c = 0; c < cells.size(); ++c)
    line += fmt::format("{}{}", c == 0 ? "" : ",", csv_cell(cells[c]));
  return line + "\n";
}

// A pipe inside a cell would end it.
Grid with_escaped_pipes(Grid grid) {
  for (auto& row : grid.rows) {
    for (std::string& cell : row) {
      for (size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
        cell.insert(at, 1, '\\');
    }
  }
  return grid;
}

}  // namespace

std::string render_plain(const Grid& grid) {
  const auto widths = column_widths(grid, 1);
  std::string text = plain_line(grid, widths, headers(grid));
  std::vector<std::string> rule;
  for (size_t width : widths) rule.emplace_back(width, '-');
  text += plain_line(grid, widths, rule);
  for (const auto& row : grid.rows) text += plain_line(grid, widths, row);
  return text;
}

std::string render_csv(const Grid& grid) {
  std::string text = csv_line(headers(grid));
  for (const auto& row : grid.rows) text += csv_line(row);
  return text;
}

std::string render_markdown(const Grid& unescaped) {
  const Grid grid = with_escaped_pipes(unescaped);
  const auto widths = column_widths(grid, 3);
  std::string text = markdown_line(grid, widths, headers(grid)) + markdown_rule(grid, widths);
  for (const auto& row : grid.rows) text += markdown_line(grid, widths, row);
  return text;
}

}  // namespace tacho
