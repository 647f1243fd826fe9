#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
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

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line = "tacho";
  for (const std::string& argument : arguments) line += " " + shell_quoted(argument);
  return line;
}

int run(int argc, char** argv) {
  CLI::App app("Benchmarks deep learning on this machine.", "tacho");
  app.set_version_flag("--version", "tacho " TACHO_VERSION);
  CommandContext context = {.command = command_line({argv + 1, argv + argc})};
  try {
    add_commands(app, context);
    app.require_subcommand(0, 1);
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return complain("no command; 'tacho --help' lists them", kWrongCall);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ExtrasError& error) {
    return complain(fmt::format("{}; --help shows what is", error.what()), kWrongCall);
  } catch (const CLI::ParseError& error) {
    return complain(error.what(), kWrongCall);
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
