// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <span>

#include "base/error.h"
#include "cli/options.h"
#include "cli/options/nearest.h"
#include "cli/options/shared.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

constexpr const char* kAbout = "Kaiseki trains neural networks on any OpenCL GPU and any CPU.";

struct Commands {
  DevicesCommand devices;
  TrainCommand train;
  EvalCommand eval;
  PredictCommand predict;
  RunCommand run;
  SummaryCommand summary;
  TuneCommand tune;
  ExportCommand exported;
  FitCommand fit;
  ApplyCommand apply;
  BenchCommand bench;
  ServeCommand serve;
  JoinCommand join;
  CompletionCommand completion;
  std::optional<Command> chosen;
};

void add_commands(CLI::App& root, Commands& c) {
  root.set_version_flag("--version", "kaiseki " KAISEKI_VERSION);
  root.require_subcommand(1);
  root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  root.footer(
      "`kaiseki COMMAND --help` shows the options of a command, with examples.\n"
      "The exit status is 0 on success. On failure it is 1, and one line names the cause.");
  const auto add = [&](auto& command) {
    CLI::App* app = root.add_subcommand("new");
    OptionSet set(*app);
    const CommandText text = add_options(set, command);
    app->name(text.name)->description(text.description)->footer(text.footer);
    app->callback([&] { c.chosen = command; });
  };
  add(c.devices);
  add(c.train);
  add(c.eval);
  add(c.predict);
  add(c.run);
  add(c.summary);
  add(c.tune);
  add(c.exported);
  add(c.fit);
  add(c.apply);
  add(c.bench);
  add(c.serve);
  add(c.join);
  add(c.completion);
}

/// The members of a type such as "{bash,zsh}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}', open);
  if (close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

/// The options of a command and of its groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::App* inner : app.get_subcommands({}))
    if (inner->get_name().empty())
      for (const CLI::Option* option : options_of(*inner)) options.push_back(option);
  return options;
}

CommandHelp help_of(const CLI::App& app) {
  CommandHelp help{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* o : options_of(app))
    if (!help.name.empty() || o != app.get_help_ptr())
      help.options.push_back({o->get_name(o->get_positional(), true), o->get_description(),
                              choices_of(*o), o->get_positional(), o->get_items_expected_max() > 0,
                              o->get_default_str()});
  return help;
}

std::string with_suggestion(const std::string& what, const std::string& word,
                            const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return "unknown " + what + " '" + shortened(word) + "'" +
         (meant.empty() ? "" : "; did you mean " + meant + "?");
}

/// Describes an option that the command does not know, or an argument too many. Returns "" if there
/// is none.
std::string unknown_argument(const CLI::App& root, const CLI::App* chosen, bool only_options) {
  std::vector<std::string> options, commands;
  for (const OptionHelp& option : help_of(chosen ? *chosen : root).options)
    if (!option.positional) options.push_back(CLI::detail::split(option.names, ',').back());
  for (const CLI::App* app : root.get_subcommands({})) commands.push_back(app->get_name());
  commands.insert(commands.end(), {"--help", "--version"});
  std::vector<std::string> unknown = root.remaining();
  if (chosen)
    for (const std::string& argument : chosen->remaining()) unknown.push_back(argument);
  if (!chosen && !unknown.empty() && unknown[0][0] != '-')
    return with_suggestion("command", unknown[0], commands);
  for (const std::string& argument : unknown)
    if (chosen && std::ranges::find(options, argument) != options.end())
      return "expected the command before its option " + argument;
    else if (argument.size() > 1 && argument[0] == '-')
      return with_suggestion("option", argument.substr(0, argument.find('=')), options);
  if (unknown.empty() || only_options) return "";
  if (!chosen) return with_suggestion("command", unknown[0], commands);
  return "unexpected argument '" + shortened(unknown[0]) + "'";
}

std::string missing(const CLI::App& app) {
  for (const CLI::Option* option : options_of(app))
    if (option->get_required() && option->count() == 0)
      return option->get_positional() ? "missing argument '" + option->get_name(true) + "'"
                                      : "missing option " + option->get_name();
  return "expected more arguments";
}

/// Finds a flag with a value, else the last option, which has none.
std::string wrong_number_of_values(const CLI::App& app, std::span<char*> arguments) {
  std::string last;
  for (const std::string_view argument : arguments) {
    const std::string name(argument.substr(0, argument.find('=')));
    for (const CLI::Option* option : options_of(app)) {
      if (!name.starts_with('-') || !option->check_name(name)) continue;
      const bool has_value = name.size() < argument.size();
      if (has_value && option->get_items_expected_max() == 0)
        return name + ": expected no value, got one";
      last = name;
    }
  }
  return last + ": expected a value, got none";
}

/// Describes an error of CLI11 in our words.
std::string words_of(const CLI::ParseError& error, const CLI::App& app,
                     std::span<char*> arguments) {
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return wrong_number_of_values(app, arguments);
  if (dynamic_cast<const CLI::RequiredError*>(&error)) return missing(app);
  return error.what();
}

}  // namespace

std::vector<CommandHelp> describe_commands() {
  CLI::App root(kAbout, "kaiseki");
  Commands c;
  add_commands(root, c);
  std::vector<CommandHelp> all{help_of(root)};
  for (const CLI::App* app : root.get_subcommands({})) all.push_back(help_of(*app));
  return all;
}

std::optional<Command> parse_command_line(int argc, char** argv) {
  CLI::App root(kAbout, "kaiseki");
  Commands c;
  add_commands(root, c);
  std::string problem;
  bool bad_value = false;
  const auto chosen_command = [&]() -> const CLI::App* {
    const auto commands = root.get_subcommands();
    return commands.empty() ? nullptr : commands[0];
  };
  try {
    root.parse(argc, argv);
    return c.chosen;
  } catch (const CLI::Success& success) {
    root.exit(success);
    return std::nullopt;
  } catch (const OptionError& error) {
    problem = error.what();
    bad_value = true;
  } catch (const CLI::ParseError& error) {
    const CLI::App* command = chosen_command();
    problem =
        words_of(error, command ? *command : root, std::span(argv, static_cast<size_t>(argc)));
  }
  const CLI::App* chosen = chosen_command();
  const std::string unknown = unknown_argument(root, chosen, bad_value);
  if (!unknown.empty())
    problem = unknown;
  else if (!chosen)
    problem = "expected a command, got none";
  std::ranges::replace(problem, '\n', ' ');
  const std::string command = chosen ? "kaiseki " + chosen->get_name() : "kaiseki";
  throw Error(problem + (problem.ends_with('?') ? " See " : "; see ") + command + " --help");
}

}  // namespace kaiseki::cli
