#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the tree: folders include only what lies below them, files are short and open with a licence line, and no
path of a machine stands in them."""
import pathlib
import re
import subprocess
import sys

ALLOWED = {  # folder: the folders whose headers it may include
    "cl_kernels": set(),
    "matrix": {"matrix", "cl_kernels"},
    "nn": {"matrix", "nn"},
    "ml": {"matrix", "ml"},
    "dist": {"matrix", "nn", "dist"},
    "wasm": {"matrix", "nn", "ml", "dist", "wasm"},
    "cli": {"matrix", "nn", "ml", "dist", "cli"},
}
LINES = {".cc": 500, ".h": 500, ".py": 500, ".cl": 250, ".cmake": 250}
CODE = set(LINES) | {".sh"}
INCLUDE = re.compile(r'^\s*#include "([a-z_]+)/', re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home/\w+|work)/\w+")


def problems():
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        path = pathlib.Path(name)
        if not path.is_file() or path.suffix not in CODE | {".md", ".json", ".txt"}:
            continue
        text = path.read_text(errors="replace")
        if MACHINE_PATH.search(text):
            yield f"{name}: a path of one machine: {MACHINE_PATH.search(text).group()}"
        if path.suffix not in CODE:
            continue
        lines = text.count("\n")
        if lines > LINES.get(path.suffix, 500):
            yield f"{name}: {lines} lines, expected at most {LINES.get(path.suffix, 500)}"
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n")[:3]):
            yield f"{name}: no SPDX line at the top"
        top = path.parts[0]
        for folder in INCLUDE.findall(text) if top in ALLOWED else []:
            if folder in ALLOWED and folder not in ALLOWED[top]:
                yield f"{name}: {top} may not include {folder}/"


found = list(problems())
print("\n".join(found) if found else "structure: no problem found")
sys.exit(bool(found))
