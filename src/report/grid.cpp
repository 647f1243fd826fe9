#include "report/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace tacho {
namespace {

constexpr size_t kGap = 2;  // between columns

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
    line += fmt::format("{:{}}{}", "", c == 0 ? 0 : kGap, pad(cells[c], widths[c], grid.columns[c].right));
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

size_t total_width(const Grid& grid) {
  const auto widths = column_widths(grid, 1);
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

std::string plain_table(const Grid& grid) {
  const auto widths = column_widths(grid, 1);
  std::string text = plain_line(grid, widths, headers(grid));
  std::vector<std::string> rule;
  for (size_t width : widths) rule.emplace_back(width, '-');
  text += plain_line(grid, widths, rule);
  for (const auto& row : grid.rows) text += plain_line(grid, widths, row);
  return text;
}

std::string names_and_values(const Grid& grid, size_t width) {
  const std::vector<std::string> names = headers(grid);
  // A long name, such as that of a run, must not push every value out of the window.
  const size_t longest = width_of(*std::ranges::max_element(names, {}, width_of));
  const size_t indent = std::min(longest, width / 2) + kGap;
  std::string text;
  for (size_t c = 0; c < names.size(); ++c) {
    const std::string& value = grid.rows[0][c];
    if (!value.empty())
      text +=
          wrap(pad(names[c], indent - kGap, false) + std::string(kGap, ' ') + value + "\n", width, indent);
  }
  return text;
}

// The last of those that say least.
size_t least_column(const Grid& grid) {
  const auto least =
      std::ranges::min_element(grid.columns.rbegin(), grid.columns.rend(), {}, &GridColumn::importance);
  return static_cast<size_t>(grid.columns.rend() - least) - 1;
}

void erase_column(size_t column, Grid& grid) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  grid.columns.erase(grid.columns.begin() + at);
  for (auto& row : grid.rows) row.erase(row.begin() + at);
}

std::string narrow_table(Grid grid, size_t width) {
  std::vector<std::string> left_out;
  while (total_width(grid) > width && grid.columns.size() > 1) {
    const size_t column = least_column(grid);
    left_out.push_back(grid.columns[column].header);
    erase_column(column, grid);
  }
  if (left_out.empty()) return plain_table(grid);
  return fmt::format(
      "{}\n{}", plain_table(grid),
      wrap(fmt::format("left out for the width: {}; --format md shows all\n", fmt::join(left_out, ", ")),
           width));
}

// One line, its first blanks kept.
std::string wrap_line(const std::string& line, size_t width, size_t indent) {
  std::string text, current;
  for (const std::string& word : split(line, ' ')) {
    if (trim(current).empty() || width_of(current) + 1 + width_of(word) <= width) {
      current += (current.empty() ? "" : " ") + word;
      continue;
    }
    text += current + "\n";
    current = std::string(indent, ' ') + word;
  }
  return text + current;
}

}  // namespace

std::string wrap(const std::string& text, size_t width, size_t indent) {
  if (width == 0) return text;
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (width_of(line) > width) line = wrap_line(line, width, indent);
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string render_plain(const Grid& grid, size_t width) {
  if (width == 0 || total_width(grid) <= width) return plain_table(grid);
  return grid.rows.size() == 1 ? names_and_values(grid, width) : narrow_table(grid, width);
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
