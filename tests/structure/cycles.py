#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds C++ files that include each other in a cycle. A source and its header are one module. tests/structure/web_cycles.py checks
JavaScript and TypeScript."""
import pathlib
import re
import subprocess
import sys

CPP = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
TREES = ("base", "matrix", "nn", "ml", "dist", "wasm", "cli", "tests", "bench", "kaiseki", "kaiseki.h")


def module(name):
    return re.sub(r"\.(cc|h)$", "", name)


def graph():
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *TREES],
                           capture_output=True, text=True, check=True).stdout.split()
    edges = {}
    for path in map(pathlib.Path, files):
        if path.suffix in (".cc", ".h") and path.is_file():
            own = edges.setdefault(module(str(path)), set())
            own |= {module(name) for name in CPP.findall(path.read_text())} - {module(str(path))}
    return edges


def cycles(edges):
    """Tarjan's strongly connected components of more than one module."""
    order, low, stack, found = {}, {}, [], []

    def visit(one):
        order[one] = low[one] = len(order)
        stack.append(one)
        for other in sorted(edges.get(one, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[one] = min(low[one], low[other])
        if low[one] == order[one]:
            at = stack.index(one)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for one in sorted(edges):
        if one not in order:
            visit(one)
    return found


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    found = cycles(graph())
    for cycle in found:
        print("these files include each other in a circle:", ", ".join(cycle))
    if not found:
        print("cycles: none")
    sys.exit(bool(found))
