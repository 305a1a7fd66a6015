// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

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

CommandHelp help_of(const CLI::App& app) {
  CommandHelp help{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* o : app.get_options())
    if (!help.name.empty() || o != app.get_help_ptr())
      help.options.push_back({o->get_name(o->get_positional(), true), o->get_description(),
                              choices_of(*o), o->get_positional(), o->get_items_expected_max() > 0,
                              o->get_default_str()});
  for (const CLI::App* inner : app.get_subcommands({}))
    if (inner->get_name().empty())
      for (OptionHelp& option : help_of(*inner).options) help.options.push_back(option);
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

/// The text of an error of CLI11, in our words. CLI11's texts begin with the option's name.
std::string words_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find_first_of(": "));
  if (text.ends_with("flag override")) return "--" + name + ": expected no value, got one";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return name + ": expected a value, got none";
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    return name.starts_with('-') ? "missing option " + name : "missing argument '" + name + "'";
  return text;
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
    problem = words_of(error);
  }
  const auto commands = root.get_subcommands();
  const CLI::App* chosen = commands.empty() ? nullptr : commands[0];
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
