#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace tacho {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongCall = 2;

int complain(std::string text, int status) {
  std::ranges::replace(text, '\n', ' ');
  fmt::print(stderr, "tacho: {}\n", text);
  return status;
}

std::string typed_line(const std::vector<std::string>& arguments) {
  std::string line = "tacho";
  for (const std::string& argument : arguments) line.append(" ").append(shell_quoted(argument));
  return line;
}

int run(int argc, char** argv) {
  CommandContext context = {.command = typed_line({argv + 1, argv + argc})};
  try {
    CommandLine line("tacho", "Benchmarks deep learning on this machine.", "tacho " TACHO_VERSION);
    add_commands(line.program(), context);
    const std::function<void()> command = line.parse(argc, argv);
    command();
  } catch (const UserError& error) {
    return complain(error.what(), kWrongCall);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
  return context.exit_status;
}

}  // namespace
}  // namespace tacho

int main(int argc, char** argv) { return tacho::run(argc, argv); }
