# SPDX-License-Identifier: MIT
"""Makes the column of keys in the table of layers, docs/network-json.md. The program tests/docs/layer_settings.cc prints the keys of
every type. The other columns are written by hand: the type, and the shape of the output."""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "network-json.md"
HEADER = "| type | keys (default) | output for `[c, h, w]` |\n|---|---|---|\n"


def page(layer_settings):
    printed = subprocess.run([layer_settings], capture_output=True, text=True, check=True).stdout
    keys = dict(line.split("\t") for line in printed.splitlines())
    before, header, rest = PAGE.read_text().partition(HEADER)
    rows, _, after = rest.partition("\n\n")
    lines, listed = [], []
    for row in rows.splitlines():
        types, output = row.split("|")[1].strip(), row.split("|")[-2].strip()
        names = [name.strip("` ") for name in types.split(",")]
        listed += names
        if len({keys.get(name) for name in names}) > 1:
            sys.exit(f"{PAGE.name}: expected layers with the same keys in one row, got {types}")
        cells = [types, keys.get(names[0], ""), output]
        lines.append("".join(f"| {cell} " if cell else "| " for cell in cells) + "|")
    if sorted(listed) != sorted(keys):
        sys.exit(f"{PAGE.name}: expected one row for each type of layer, got a wrong number of rows for "
                 + ", ".join(sorted(set(keys) ^ set(listed)) or ["a type twice"]))
    return before + header + "\n".join(lines) + "\n\n" + after
