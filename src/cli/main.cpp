#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "capture/environment.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "distributed/launch.h"

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

void run_command(CommandContext& context, int argc, char** argv) {
  CommandLine line("tacho", "Benchmarks deep learning on this machine.", "tacho " TACHO_VERSION);
  add_commands(line.program(), context);
  const std::function<void()> command = line.parse(argc, argv);
  const bool for_all = argc > 1 && runs_on_all_ranks(argv[1]);
  if (context.ranks.is_first() || for_all) command();
}

// Rank 0 alone says what is wrong, whichever rank it is wrong on.
int run_on_ranks(CommandContext& context, int argc, char** argv) {
  std::optional<UserError> error;
  try {
    run_command(context, argc, argv);
  } catch (const UserError& thrown) {
    error = thrown;
  } catch (const std::exception& thrown) {
    if (context.ranks.world().size() == 1) throw;
    context.ranks.give_up(thrown.what(), kFailed);
  }
  // Also where a rank had nothing to do: another one may have found a mistake.
  if (!context.ranks.have_agreed()) {
    try {
      context.ranks.agree_to_start(error ? error->what() : "");
    } catch (const UserError& agreed) {
      error = agreed;
    }
  } else if (error && !context.ranks.have_refused() && !context.ranks.is_first()) {
    context.ranks.give_up(error->what(), kWrongCall);
  }
  context.ranks.finish();
  if (!context.ranks.is_first()) return 0;
  return error ? complain(error->what(), kWrongCall) : context.exit_status;
}

int run(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string call = typed_line(arguments);
  try {
    Ranks ranks(fmt::format("{} ({})", call, build_name()));
    CommandContext context = {.command = call, .arguments = arguments, .ranks = ranks};
    return run_on_ranks(context, argc, argv);
  } catch (const UserError& error) {
    return is_first_launched() ? complain(error.what(), kWrongCall) : kWrongCall;
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
}

}  // namespace
}  // namespace tacho

int main(int argc, char** argv) {
  tacho::keep_ignoring_hang_up();
  const int status = tacho::run(argc, argv);
  if (status != 0) tacho::let_words_pass();
  return status;
}
