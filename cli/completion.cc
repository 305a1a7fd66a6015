// SPDX-License-Identifier: MIT
// kaiseki completion: scripts for shells, and the manual page, from the options of the command
// line.
#include <cstdio>
#include <sstream>

#include "cli/commands.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

using Commands = std::vector<CommandHelp>;

/// "--help" and "-h" of "-h,--help".
std::vector<std::string> names_of(const OptionHelp& option) { return split(option.names, ','); }

std::string long_name(const OptionHelp& option) { return names_of(option).back(); }

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

/// Quotes the text for a shell.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::vector<std::string> option_names(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const OptionHelp& option : command.options)
    if (!option.positional)
      for (const std::string& name : names_of(option)) names.push_back(name);
  return names;
}

std::vector<std::string> positional_choices(const CommandHelp& command) {
  for (const OptionHelp& option : command.options)
    if (option.positional && !option.choices.empty()) return option.choices;
  return {};
}

std::string bash(const Commands& commands) {
  std::ostringstream out;
  std::vector<std::string> names;
  for (size_t i = 1; i < commands.size(); ++i) names.push_back(commands[i].name);
  out << "# bash completion of kaiseki, made by `kaiseki completion bash`.\n"
         "_kaiseki() {\n  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} "
         "words=\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \""
      << join(names, " ") << ' ' << join(option_names(commands[0]), " ")
      << "\" -- \"$word\"))\n    return\n  fi\n  case \"${COMP_WORDS[1]} $last\" in\n";
  for (size_t i = 1; i < commands.size(); ++i)
    for (const OptionHelp& option : commands[i].options)
      if (!option.positional && !option.choices.empty())
        out << "    '" << commands[i].name << ' ' << long_name(option) << "') words='"
            << join(option.choices, " ") << "' ;;\n";
  out << "    *) case \"${COMP_WORDS[1]}\" in\n";
  for (size_t i = 1; i < commands.size(); ++i)
    out << "      " << commands[i].name << ") words='" << join(option_names(commands[i]), " ")
        << ' ' << join(positional_choices(commands[i]), " ") << "' ;;\n";
  out << "    esac ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\ncomplete -o default -F _kaiseki kaiseki\n";
  return out.str();
}

std::string zsh_text(const std::string& text) {
  return replaced(replaced(replaced(text, "[", "("), "]", ")"), ":", "\\:");
}

std::string zsh(const Commands& commands) {
  std::ostringstream out;
  out << "#compdef kaiseki\n# Made by `kaiseki completion zsh`.\n_kaiseki() {\n"
         "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (size_t i = 1; i < commands.size(); ++i)
    out << "      " << quoted(commands[i].name + ":" + zsh_text(commands[i].description)) << '\n';
  out << "    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n"
         "  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (size_t i = 1; i < commands.size(); ++i) {
    out << "    " << commands[i].name << ") _arguments";
    for (const OptionHelp& option : commands[i].options) {
      if (option.positional) continue;
      std::string text = long_name(option) + "[" + zsh_text(option.description) + "]";
      if (!option.choices.empty())
        text += ":value:(" + join(option.choices, " ") + ")";
      else if (option.takes_value)
        text += ":value:_files";
      out << " \\\n      " << quoted(text);
    }
    const auto choices = positional_choices(commands[i]);
    out << " \\\n      "
        << quoted("*:argument:" + (choices.empty() ? "_files" : "(" + join(choices, " ") + ")"))
        << " ;;\n";
  }
  out << "  esac\n}\n_kaiseki \"$@\"\n";
  return out.str();
}

std::string fish(const Commands& commands) {
  std::ostringstream out;
  out << "# fish completion of kaiseki, made by `kaiseki completion fish`.\n";
  for (size_t i = 1; i < commands.size(); ++i) {
    const CommandHelp& command = commands[i];
    out << "complete -c kaiseki -n __fish_use_subcommand -f -a " << command.name << " -d "
        << quoted(command.description) << '\n';
    const std::string only =
        "complete -c kaiseki -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const OptionHelp& option : command.options) {
      if (option.positional) continue;
      out << only << " -l " << long_name(option).substr(2);
      if (option.takes_value) out << " -r";
      if (!option.choices.empty()) out << " -f -a '" << join(option.choices, " ") << "'";
      out << " -d " << quoted(option.description) << '\n';
    }
    if (const auto choices = positional_choices(command); !choices.empty())
      out << only << " -f -a '" << join(choices, " ") << "'\n";
  }
  return out.str();
}

/// For roff: no escapes, no requests at the beginning of a line.
std::string roff(const std::string& text) {
  const std::string plain = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return replaced("\\&" + plain, "\n", "\n\\&");
}

std::string manual(const Commands& commands) {
  std::ostringstream out;
  out << ".TH KAISEKI 1 \"\" \"kaiseki " KAISEKI_VERSION "\" \"User Commands\"\n.SH NAME\n"
      << "kaiseki \\- " << roff(commands[0].description)
      << "\n.SH SYNOPSIS\n.B kaiseki\n.I COMMAND\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n"
      << roff(commands[0].footer) << '\n';
  for (size_t i = 1; i < commands.size(); ++i) {
    out << ".SH KAISEKI " << roff(commands[i].name) << '\n'
        << roff(commands[i].description) << '\n';
    for (const OptionHelp& option : commands[i].options) {
      out << ".TP\n.B " << roff(replaced(option.names, ",", ", ")) << '\n'
          << roff(option.description);
      if (!option.choices.empty()) out << ": " << roff(join(option.choices, " "));
      if (!option.standard.empty()) out << " (default: " << roff(option.standard) << ")";
      out << '\n';
    }
    if (!commands[i].footer.empty()) out << ".PP\n.nf\n" << roff(commands[i].footer) << "\n.fi\n";
  }
  return out.str();
}

}  // namespace

int run_command(const CompletionCommand& c) {
  const Commands commands = describe_commands();
  const std::string text = c.shell == "bash"  ? bash(commands)
                           : c.shell == "zsh" ? zsh(commands)
                           : c.shell == "man" ? manual(commands)
                                              : fish(commands);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace kaiseki::cli
