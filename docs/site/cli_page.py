# SPDX-License-Identifier: MIT
"""Makes the page docs/cli.md from the output of `kaiseki COMMAND --help`."""
import re
import subprocess

HEAD = """# Command line

`kaiseki COMMAND` trains, evaluates and exports networks, and runs pools. This page lists every option of every command.

```sh
kaiseki train lenet --data digits --epochs 3 --save lenet.safetensors
```

The script `docs/site/reference cli KAISEKI` makes this page from `kaiseki COMMAND --help`.
An option of the command line has priority over the [environment variable](environment.md) for the same setting.
The exit status is 0 on success. On failure it is 1, and the last line on standard error names the cause.
"""
KINDS = {"NUMBER": "number", "FILE": "file", "DIR": "folder"}


def limits(text):
    """Returns '0..1024', from INT[0..1024], in words."""
    least, dots, most = text.partition("..")
    above, least = least.startswith(">"), least.removeprefix(">")
    if not most:
        return f"above {least}" if above else f"{least} or more"
    return f"{'above ' * above}{least} to {'below ' * most.startswith('<')}{most.removeprefix('<')}"


def value_of(words):
    """Returns the value and the default in a text such as 'INT[0..1024]=8 REQUIRED'."""
    default = "required" if "REQUIRED" in words else ""
    words = words.replace("REQUIRED", "").strip()
    many = words.endswith("...")
    words = words.removesuffix("...").strip()
    found = re.fullmatch(r"([^=]*?)=(\S*)", words) if words != "NAME=NUMBER" else None
    if found:
        words, default = found[1], f"`{found[2]}`"
    number = re.fullmatch(r"(INT|NUMBER)\[(.*)\]", words)
    if number:
        kind = ("whole number, " if number[1] == "INT" else "number, ") + limits(number[2])
    elif words.startswith("{"):
        kind = ", ".join(f"`{one}`" for one in words.strip("{}").split(","))
    else:
        kind = KINDS.get(words, f"`{words}`".replace("|", "` or `") if words else "")
    return kind + (", several" if many else ""), default


def rows_of(text):
    """Yields (group, name, value, default, meaning) of each option and positional."""
    group, column = "", 30  # the column where meanings begin; in a group they begin two columns later
    lines = text.splitlines() + [""]
    for line, following in zip(lines, lines[1:]):
        found = re.match(r"\[Option Group: (.*)\]", line)
        group, column = (found[1], 32) if found else (group, column)
        if not re.match(rf" {{{column - 28}}}(-|\w+ .*(REQUIRED|\.\.\.))", line) or line.startswith("  kaiseki"):
            continue
        wraps = following.startswith(" " * column)  # if the left part is long, the meaning is on the next line
        left, meaning = (line, following) if wraps else (line[:column], line[column:])
        name, _, rest = left.strip().partition(" ")
        rest, _, needs = rest.partition("Needs: ")
        meaning = meaning.strip() + (f"; needs `{needs.strip()}`" if needs else "")
        yield group, name, *value_of(rest.strip()), meaning.replace("|", "\\|")


def section(command, text):
    summary, _, rest = text.partition("\n")
    options, _, footer = rest.partition("\n\nExamples:\n")
    footer = footer.partition("\nModels:\n")[0]  # classic-learning.md has a table of them
    usage = re.search(r"^Usage: (.*)$", options, re.MULTILINE)[1]
    lines = [f"## kaiseki {command}", "", f"{summary.strip()}.", ""]
    if footer:
        lines += ["```sh", *(line.removeprefix("  ") for line in footer.strip("\n").splitlines()), "```", ""]
    lines += [f"Usage: `{usage}`", ""]
    last = None
    for group, name, value, default, meaning in rows_of(options):
        if name == "-h,--help":
            continue
        if group != last:
            lines += ["" if last is not None else None, f"{group}:" if group else None, "" if group else None,
                      "| option | value | default | meaning |", "|---|---|---|---|"]
            last = group
        lines.append(f"| `{name}` | {value} | {default} | {meaning} |")
    note = re.split(r"\n\n", options)[-1]
    if not re.match(r"(Usage|Options|Positionals| |\[)", note):
        lines += ["", " ".join(note.split())]
    return "\n".join(line for line in lines if line is not None) + "\n"


def page(kaiseki):
    def help_of(*command):
        return subprocess.run([kaiseki, *command, "--help"], capture_output=True, text=True, check=True).stdout

    commands = re.findall(r"^  (\w+) {2,}(.*)$", help_of().partition("Subcommands:\n")[2], re.MULTILINE)
    table = ["| command | what it does |", "|---|---|"]
    table += [f"| [`{name}`](#kaiseki-{name}) | {what} |" for name, what in commands]
    return "\n".join([HEAD, *table, "", *(section(name, help_of(name)) for name, _ in commands)])
