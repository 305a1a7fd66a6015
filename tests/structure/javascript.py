#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that JavaScript has every operation of matrix/ops/ and matrix/linalg/: wasm/bindings/arrays/ uses it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A type, a name and a parenthesis at the beginning of a line declare a function of the namespace.
FUNCTION = re.compile(r"^(?:inline )?\w[\w:<>, ]*&? (\w+)\(", re.M)
# Functions that no program in JavaScript calls.
OTHERS = {
    "pooling2d_shape": "the size of an output, which JavaScript reads from the output",
    "check_normalization": "a check of the arguments, which the operations call",
    "pooling_args": "what operations pass to a backend",
    "conv_problem": "the size of an output, which JavaScript reads from the output",
}


def public_headers():
    return re.findall(r'#include "(matrix/(?:ops|linalg)/\w+\.h)"', (ROOT / "kaiseki.h").read_text())


def functions(header):
    """The names of the declared functions. A form that ends in _into has the name of the operation before."""
    text = re.sub(r"//.*", "", (ROOT / header).read_text())
    return {name.removesuffix("_into") for name in FUNCTION.findall(text) if not name.startswith("operator")}


def main():
    bindings = "".join(path.read_text() for path in (ROOT / "wasm" / "bindings" / "arrays").glob("*.cc"))
    used = set(re.findall(r"\w+", re.sub(r"//.*", "", bindings)))
    headers = public_headers()
    if len(headers) < 10:
        sys.exit("javascript.py: expected public headers of operations, got " + str(headers))
    found = 0
    missing = []
    for header in headers:
        for name in sorted(functions(header)):
            found += 1
            if name not in used and name not in OTHERS:
                missing.append(f"{header}: {name} is missing in wasm/bindings/arrays/")
    if missing:
        sys.exit("\n".join(missing))
    print(f"JavaScript: {found} operations")


main()
