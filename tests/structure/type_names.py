#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds two types with the same name and namespace. Two such types in one program are undefined behavior, which the linker does not
report. Also finds two headers of the library whose types share a name, in any namespaces."""
import collections
import pathlib
import re
import subprocess
import sys

OPENS = re.compile(r"namespace( [\w:]+)? \{")
CLOSES = re.compile(r"\}  // namespace")
DEFINES = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : .*)? ?\{")

LIBRARY = ("base", "matrix", "nn", "ml", "dist", "cli")


def types(text):
    """Returns the types that a file defines outside of functions, classes and unnamed namespaces, with their namespaces."""
    names = []
    for line in text.split("\n"):
        if opens := OPENS.match(line):
            names.append((opens[1] or "").strip())
        elif CLOSES.match(line):
            names.pop()
        elif (defines := DEFINES.match(line)) and all(names):
            yield "::".join([*names, defines[1]])


def problems():
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cc", "*.h"],
                           capture_output=True, text=True, check=True).stdout.split()
    places = collections.defaultdict(set)
    for path in filter(pathlib.Path.is_file, map(pathlib.Path, files)):
        for name in types(path.read_text()):
            places[name].add(str(path))
    for name, paths in sorted(places.items()):
        # Each benchmark and example is a separate program.
        if len(paths) > 1 and not all(path.startswith(("bench/", "examples/", "tests/packaging/")) for path in paths):
            yield f"{name} is defined in {' and in '.join(sorted(paths))}: rename one of them"
    headers = collections.defaultdict(set)
    for name, paths in places.items():
        headers[name.split("::")[-1]].update(path for path in paths if path.endswith(".h") and path.split("/")[0] in LIBRARY)
    for name, paths in sorted(headers.items()):
        if len(paths) > 1:
            yield f"{name} is defined in {' and in '.join(sorted(paths))}: give each type a name of its own"


found = list(problems())
print("\n".join(found) if found else "no two types of a namespace or of the headers share a name")
sys.exit(bool(found))
