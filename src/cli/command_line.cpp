#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tacho {

struct CommandLineState {
  CLI::App app;
  std::map<const CLI::App*, std::function<void()>> actions = {};
  std::map<const CLI::Option*, std::vector<std::string>> words = {};
};

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::range(int64_t least, int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(words));
  return suggest(std::move(words));
}

Option& Option::check(std::function<std::string(const std::string&)> what_is_wrong) {
  option_->check(std::move(what_is_wrong));
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::expected(int least, int most) {
  option_->expected(least, most);
  return *this;
}

Option& Option::type_name(std::string name) {
  option_->type_name(std::move(name));
  return *this;
}

Option& Option::suggest(std::vector<std::string> words) {
  state_->words[option_] = std::move(words);
  return *this;
}

Command Command::subcommand(std::string name, std::string purpose) {
  return {*state_, *app_->add_subcommand(std::move(name), std::move(purpose))};
}

void Command::require_subcommand() { app_->require_subcommand(1); }

template<typename T>
Option Command::option(std::string names, T& target, std::string help) {
  return {*state_, app_->add_option(std::move(names), target, std::move(help))};
}

template Option Command::option(std::string, std::string&, std::string);
template Option Command::option(std::string, std::filesystem::path&, std::string);
template Option Command::option(std::string, int&, std::string);
template Option Command::option(std::string, int64_t&, std::string);
template Option Command::option(std::string, uint64_t&, std::string);
template Option Command::option(std::string, double&, std::string);
template Option Command::option(std::string, std::optional<std::string>&, std::string);
template Option Command::option(std::string, std::optional<std::filesystem::path>&, std::string);
template Option Command::option(std::string, std::optional<int>&, std::string);
template Option Command::option(std::string, std::optional<int64_t>&, std::string);
template Option Command::option(std::string, std::optional<uint64_t>&, std::string);
template Option Command::option(std::string, std::optional<double>&, std::string);
template Option Command::option(std::string, std::vector<std::string>&, std::string);

Option Command::option(std::string names, std::function<void(const std::string&)> take, std::string help) {
  return {*state_, app_->add_option_function(std::move(names), std::move(take), std::move(help))};
}

Option Command::flag(std::string names, bool& target, std::string help) {
  return {*state_, app_->add_flag(std::move(names), target, std::move(help))};
}

void Command::on_run(std::function<void()> action) { state_->actions[app_] = std::move(action); }

size_t Command::count(const std::string& option) const { return app_->count(option); }

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The command that the call ends in: 'make' of 'tacho data make'.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen_command(*parsed.front());
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

// A word stands where one of the commands should.
void refuse_unknown_command(const CLI::App& app) {
  const std::vector<const CLI::App*> known = commands_of(app);
  const std::vector<std::string> left = app.remaining();
  if (!known.empty() && !left.empty() && !left.front().starts_with('-')) {
    std::vector<std::string_view> names;
    for (const CLI::App* command : known) names.push_back(command->get_name());
    const std::string guess = nearest(left.front(), names);
    throw UserError("unknown command '{}'{}", left.front(),
                    guess.empty() ? fmt::format("; '{} --help' lists them", full_name(app))
                                  : fmt::format(", did you mean '{}'?", guess));
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_unknown_command(*command);
}

OptionDescription description_of(const CLI::Option& option) {
  OptionDescription result = {.names = {},
                              .is_argument = option.get_positional(),
                              .takes_value = option.get_items_expected_max() > 0,
                              .required = option.get_required(),
                              .value = option.get_type_name(),
                              .fallback = option.get_default_str(),
                              .help = option.get_description(),
                              .words = {}};
  if (result.is_argument) result.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  return result;
}

}  // namespace

std::vector<CommandDescription> Command::describe() const {
  std::vector<CommandDescription> result(1);
  result[0] = {
      .name = full_name(*app_), .purpose = app_->get_description(), .options = {}, .subcommands = {}};
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    result[0].options.push_back(description_of(*option));
    const auto words = state_->words.find(option);
    if (words != state_->words.end()) result[0].options.back().words = words->second;
  }
  for (CLI::App* subcommand : app_->get_subcommands([](const CLI::App*) { return true; })) {
    result[0].subcommands.push_back(subcommand->get_name());
    for (CommandDescription& under : Command(*state_, *subcommand).describe()) {
      result.push_back(std::move(under));
    }
  }
  return result;
}

CommandLine::CommandLine(std::string program, std::string purpose, std::string version)
    : state_(new CommandLineState{.app = CLI::App(std::move(purpose), std::move(program))}) {
  state_->app.set_version_flag("--version", std::move(version));
  state_->app.require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return {*state_, state_->app}; }

std::function<void()> CommandLine::parse(int argc, const char* const* argv) {
  CLI::App& app = state_->app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return [&app, help_or_version] { app.exit(help_or_version); };
  } catch (const CLI::ParseError& error) {
    refuse_unknown_command(app);
    const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    throw UserError("{}{}", error.what(), unexpected ? "; --help shows what is" : "");
  }
  const CLI::App& chosen = chosen_command(app);
  if (&chosen == &app) throw UserError("no command; '{} --help' lists them", app.get_name());
  return state_->actions.at(&chosen);
}

}  // namespace tacho
