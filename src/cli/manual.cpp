#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/output.h"

namespace tacho {
namespace {

// Text as roff takes it: a hyphen that can be copied, no escape and no request by chance.
std::string roff(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
  for (const char c : text) {
    if (c == '-') {
      result += "\\-";
    } else if (c == '\\') {
      result += "\\e";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", roff(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", roff(text)); }

std::string names_of(const OptionDescription& option) {
  std::string text;
  for (const std::string& name : option.names) {
    if (!text.empty()) text += ", ";
    text += option.is_argument ? italic(name) : bold(name);
  }
  return text;
}

std::string option_text(const OptionDescription& option) {
  std::string text = ".TP\n";
  text += names_of(option);
  if (!option.is_argument && option.takes_value) text.append(" ").append(italic(option.value));
  if (!option.fallback.empty()) text += roff(fmt::format(" (default: {})", option.fallback));
  if (option.required) text += " (required)";
  return fmt::format("{}\n{}\n", text, option.help.empty() ? "\\&" : roff(option.help));
}

std::string options_text(const CommandDescription& command) {
  std::string text;
  for (const bool arguments : {true, false}) {
    for (const OptionDescription& option : command.options) {
      if (option.is_argument == arguments) text += option_text(option);
    }
  }
  return text;
}

constexpr std::string_view kEnd = R"(.SH EXIT STATUS
.TP
0
Done.
.TP
1
Something that was measured failed; the rest is reported.
.TP
2
The call or an input is wrong.
.TP
130
Interrupted; what was finished is reported.
.SH FILES
.TP
.I $XDG_DATA_HOME/tacho/results.db
Every finished measurement; without that variable under
.IR ~/.local/share .
)";

std::string manual_page(const std::vector<CommandDescription>& commands) {
  const CommandDescription& program = commands.front();
  std::string page = fmt::format(
      ".TH TACHO 1 \"\" \"tacho {}\" \"User Commands\"\n.SH NAME\ntacho \\- {}\n"
      ".SH SYNOPSIS\n.B tacho\n.I command\n.RI [ arguments ]\n.RI [ options ]\n.SH OPTIONS\n{}.SH COMMANDS\n",
      roff(TACHO_VERSION), roff(program.purpose), options_text(program));
  for (const CommandDescription& command : commands) {
    if (&command == &program) continue;
    page += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.purpose));
    if (command.subcommands.empty()) page += options_text(command);
  }
  return page.append(kEnd);
}

}  // namespace

void add_manual_command(Command app, CommandContext&) {
  Command command = app.subcommand("manual", "Print the manual page; 'tacho manual | man -l -' shows it");
  command.on_run([app] { print_result(manual_page(app.describe())); });
}

}  // namespace tacho
