#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds two types with the same name and namespace. Two such types in one program are undefined behavior, which the linker does not
report. Also finds two headers of the library whose types share a name, in any namespaces and classes."""
import collections
import pathlib
import re
import subprocess
import sys

OPENS = re.compile(r"namespace( [\w:]+)? \{")
CLOSES = re.compile(r"\}  // namespace")
DEFINES = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : .*)? ?\{")

# Names of a class's parts. Readers see them with the name of the class, such as Json::Kind.
PARTS = {"Close", "Kind", "State"}
LIBRARY = ("base", "matrix", "nn", "ml", "dist", "cli")


def types(text):
    """Returns the types that a file defines outside of functions and unnamed namespaces, with their namespaces and classes."""
    names, classes = [], []
    for line in text.split("\n"):
        depth, rest = (len(line) - len(line.lstrip(" "))) // 2, line.lstrip(" ")
        if opens := OPENS.match(line):
            names.append((opens[1] or "").strip())
        elif CLOSES.match(line):
            names.pop()
        elif rest.startswith("}"):
            del classes[depth:]
        elif (defines := DEFINES.match(rest)) and depth == len(classes) and all(names):  # deeper: in a function
            if not classes or defines[1] not in PARTS:
                yield "::".join([*names, *classes, defines[1]])
            if line.count("{") > line.count("}"):
                classes.append(defines[1])


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
