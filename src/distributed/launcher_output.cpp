#include "distributed/launcher_output.h"

#include <fmt/format.h>

#include <regex>

#include "base/text.h"

namespace tacho {
namespace {

// Open MPI 5 breaks the sentence into lines.
const std::regex& rank_ended_by_signal() {
  static const std::regex sentence(
      R"(process\s+rank\s+(\d+)\s+with\s+PID\s+\d+\s+on\s+node\s+(\S+)\s+exited\s+on\s+signal\s+(\d+)\s+\(([^)]*)\))");
  return sentence;
}

}  // namespace

std::vector<std::string> own_lines(const std::string& output) {
  std::vector<std::string> lines = split(output, '\n');
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("tacho: "); });
  return lines;
}

std::string loss_in(const std::string& output) {
  std::smatch found;
  if (std::regex_search(output, found, rank_ended_by_signal())) {
    return fmt::format("rank {} on host {} was ended by signal {} ({})", found[1].str(), found[2].str(),
                       found[3].str(), found[4].str());
  }
  static const std::regex by_mpi(R"(\*\*\* (MPI_ERR_\w+: [^\n]*))");
  return std::regex_search(output, found, by_mpi) ? "the ranks were ended by MPI, " + found[1].str() : "";
}

bool was_ended_by(int signal, const std::string& output) {
  std::smatch found;
  return std::regex_search(output, found, rank_ended_by_signal()) && parse_integer(found[3].str()) == signal;
}

}  // namespace tacho
