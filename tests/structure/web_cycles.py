#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the JavaScript and TypeScript modules of web/ and wasm/: no module imports itself through others.

Imports of types count too. `web_cycles.py [FOLDER...]` checks other folders.
"""
import pathlib
import re
import subprocess
import sys

from cycles import cycles

ENDINGS = (".js", ".ts", ".tsx", ".mjs", ".d.ts")
IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.{1,2}/[^"'?]+)""")
COMMENT = re.compile(r"^\s*//[^\n]*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
PACKAGE = {"kaiseki": "wasm/src/index.js", "kaiseki/sync": "wasm/src/sync.js", "kaiseki/learn": "wasm/src/learn.js"}
PACKAGE_IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](kaiseki(?:/sync|/learn)?)["']""")


def modules(folders):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
                            capture_output=True, text=True, check=True).stdout.split()
    return [name for name in listed if name.endswith(ENDINGS) and pathlib.Path(name).is_file()]


def resolve(importer, target, files):
    """Returns the file that an import names. Vite adds an extension, and the types of x.js are in x.d.ts."""
    path = pathlib.PurePosixPath(importer).parent
    for part in target.split("/"):
        path = path.parent if part == ".." else path / part
    base = str(path)
    candidates = [base, *(base + ending for ending in ENDINGS)]
    if importer.endswith(".d.ts") and base.endswith(".js"):
        candidates.insert(0, base[:-3] + ".d.ts")
    return next((name for name in candidates if name in files), None)


def graph(names):
    files = set(names)
    edges = {}
    for name in names:
        text = COMMENT.sub("", pathlib.Path(name).read_text())
        targets = {resolve(name, target, files) for target in IMPORT.findall(text)}
        targets |= {PACKAGE[package] for package in PACKAGE_IMPORT.findall(text) if PACKAGE[package] in files}
        edges[name] = sorted(targets - {None})
    return edges


def main():
    names = modules(sys.argv[1:] or ["web", "wasm"])
    found = cycles(graph(names))
    for component in found:
        print(f"cycle of imports: {', '.join(component)}")
    print(f"web modules: {len(names)} files, {len(found)} cycles")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
