#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace tacho {
namespace {

// COMMAND is the command that the words before the cursor chose, PREVIOUS the word before it.
// Where nothing is known to offer, the shell offers files.
constexpr std::string_view kScript = R"(# bash completion of tacho, printed by 'tacho completion bash'
_tacho() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=tacho options= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {commands}) command="$command ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{rows}  esac
  case "$current" in
    -*) words=$options ;;
  esac
  case "$command $previous" in
{values}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tacho tacho
)";

std::string all_options(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    if (!option.is_argument) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string words_in_place(const CommandDescription& command) {
  std::vector<std::string> words = command.subcommands;
  for (const OptionDescription& option : command.options) {
    if (option.is_argument) words.insert(words.end(), option.words.begin(), option.words.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string row_of(const CommandDescription& command) {
  return fmt::format("    '{}') options='{}' words='{}' ;;\n", command.name, all_options(command),
                     words_in_place(command));
}

std::string row_of_value(const std::string& command, const OptionDescription& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option.names) patterns.push_back(shell_quoted(command + " " + name));
  return fmt::format("    {}) words='{}' ;;\n", fmt::join(patterns, " | "), fmt::join(option.words, " "));
}

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  std::string rows, values;
  for (const CommandDescription& command : commands) {
    names.push_back(shell_quoted(command.name));
    rows += row_of(command);
    for (const OptionDescription& option : command.options) {
      if (!option.is_argument && option.takes_value) values += row_of_value(command.name, option);
    }
  }
  return fmt::format(fmt::runtime(kScript), fmt::arg("commands", fmt::join(names, " | ")),
                     fmt::arg("rows", rows), fmt::arg("values", values));
}

}  // namespace

void add_completion_command(Command app, CommandContext&) {
  auto shell = std::make_shared<std::string>();
  Command command = app.subcommand("completion", "Print what a shell needs to complete tacho's commands");
  command.option("shell", *shell, "bash").required().one_of({"bash"});
  // The option writes to what shell holds.
  command.on_run([app, shell] { print_result(bash_completion(app.describe())); });
}

}  // namespace tacho
