#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tacho {

struct CommandLineState;

// An option or positional argument of a command: a handle, cheap to copy.
class Option {
 public:
  Option(CommandLineState& state, CLI::Option* option) : state_(&state), option_(option) {}

  Option& required();
  // In the help: the target's value at this moment.
  Option& show_default();
  Option& range(int64_t least, int64_t most);
  Option& one_of(std::vector<std::string> words);
  // Gives what is wrong with the text, or nothing.
  Option& check(std::function<std::string(const std::string&)> what_is_wrong);
  Option& excludes(const Option& other);
  // How many values it takes.
  Option& expected(int least, int most);
  Option& type_name(std::string name);
  // What a shell may offer as its value; others are right too.
  Option& suggest(std::vector<std::string> words);

 private:
  CommandLineState* state_;
  CLI::Option* option_;
};

// What the help knows of an option or positional argument.
struct OptionDescription {
  std::vector<std::string> names;  // with their dashes, the short one first
  bool is_argument = false, takes_value = true, required = false;
  std::string value;     // its kind, such as TEXT
  std::string fallback;  // empty: none is shown
  std::string help;
  std::vector<std::string> words;  // of its value, where they are known
};

struct CommandDescription {
  std::string name;  // from the program on: "tacho data make"
  std::string purpose;
  std::vector<OptionDescription> options;
  std::vector<std::string> subcommands;  // the last word of their names
};

// A command of the program, or the program itself: a handle, cheap to copy.
class Command {
 public:
  Command(CommandLineState& state, CLI::App& app) : state_(&state), app_(&app) {}

  Command subcommand(std::string name, std::string purpose);
  // A call must go on with one of the subcommands.
  void require_subcommand();

  // Of std::string, std::filesystem::path, int, int64_t, uint64_t, double, std::optional of these,
  // and std::vector<std::string>. A name without dashes is a positional argument.
  template<typename T>
  Option option(std::string names, T& target, std::string help = "");
  Option option(std::string names, std::function<void(const std::string&)> take, std::string help);
  Option flag(std::string names, bool& target, std::string help);

  // What the command does, once the whole command line is known to be right.
  void on_run(std::function<void()> action);
  // How often the option was given.
  size_t count(const std::string& option) const;

  // This command, then all under it in the order of --help.
  std::vector<CommandDescription> describe() const;

 private:
  CommandLineState* state_;
  CLI::App* app_;
};

// The program's commands and options: the only place that knows the library that reads them.
class CommandLine {
 public:
  CommandLine(std::string program, std::string purpose, std::string version);
  ~CommandLine();

  Command program();

  // What the call asks for; printing help or version is such a thing too. Throws UserError for a wrong call.
  std::function<void()> parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CommandLineState> state_;
};

}  // namespace tacho
