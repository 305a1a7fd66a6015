# SPDX-License-Identifier: MIT
"""The tables of docs/classic-learning.md: the models of the command, and the settings of each with their defaults."""
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).resolve().parents[1] / "classic-learning.md"


def between(text, name, table):
    """Replaces the lines between the comments <!-- name --> and <!-- end -->."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    changed, count = pattern.subn(lambda match: match[1] + table + match[2], text)
    assert count == 1, f"{PAGE.name}: expected one <!-- {name} -->"
    return changed


def page(program):
    lines = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    models = "| model | task | what it is | `--use` |\n|---|---|---|---|\n"
    models += "".join(f"| `{name}` | {task} | {about} | {uses} |\n" for name, task, about, uses, _ in rows)
    settings = "| model | settings and their defaults |\n|---|---|\n"
    settings += "".join(f"| `{name}` | {values} |\n" for name, _, _, _, values in rows)
    return between(between(PAGE.read_text(), "models", models), "settings", settings)
