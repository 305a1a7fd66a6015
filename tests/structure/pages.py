#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks README.md, CONTRIBUTING.md, docs/ and bench/README.md. The files that they name must exist. The functions and classes
that the adding-a-* pages name must exist too. docs/wasm.md states the limits of tests/wasm/package.sh. tests/docs tests the pages' code, and tests/cli their commands."""
import pathlib
import posixpath
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                       text=True, check=True).stdout.split()
PAGES = ["README.md", "CONTRIBUTING.md", *(name for name in FILES if re.fullmatch(r"(docs|bench)/([\w-]+/)*[\w-]+\.md", name))]
FOLDERS = {str(parent) for name in FILES for parent in pathlib.PurePath(name).parents}
TOP = {name.split("/")[0] for name in FILES if "/" in name} - {"kaiseki"}  # also the npm package
EXAMPLES = re.compile(r"prefix_sum|square|NAME|PrefixSum|\*")  # names that the reader will choose
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!http)([^)#]+)")
TICKED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"[A-Za-z_]\w*")


def exists(path):
    return path.rstrip("/") in FOLDERS or path in FILES or path + ".cc" in FILES  # bench/vs_onednn is a program


def problems():
    code = "\n".join((ROOT / name).read_text(errors="replace") for name in FILES
                     if pathlib.Path(name).suffix in {".cc", ".h", ".cl", ".txt", ".py"})
    words = set(NAME.findall(code))
    for page in PAGES:
        text = FENCE.sub("", (ROOT / page).read_text())
        here = pathlib.PurePath(page).parent
        for target in LINK.findall(text):
            if not exists(posixpath.normpath(here / target)):
                yield f"{page}: a link to {target}, which is not there"
        for quoted in TICKED.findall(text):
            if EXAMPLES.search(quoted):
                continue
            path = quoted.removeprefix("./")
            if re.fullmatch(r"[\w.{},-]+(/[\w.{},-]+)*/?", path) and path.split("/")[0] in TOP and "/" in path:
                missing = [one for one in spread(path) if not exists(one)]
                if missing:
                    yield f"{page}: names {missing[0]}, which is not there"
            elif page.startswith("docs/adding-a") and re.search(r"_|::|\(|[a-z][A-Z]|^[A-Z]", quoted) and "{" not in quoted:
                for name in NAME.findall(re.sub(r'"[^"]*"|\B-D', "", quoted)):
                    if name not in words and name != "NAME":
                        yield f"{page}: names {name}, which no source has"


def spread(path):
    """Returns a/b.h and a/c.h for a/{b,c}.h."""
    found = re.search(r"\{([^}]*)\}", path)
    return [path[:found.start()] + one + path[found.end():] for one in found[1].split(",")] if found else [path]


def operations():
    """Checks the rules of docs/adding-an-operation.md: each public header has a source, a test and a line in kaiseki.h."""
    umbrella = (ROOT / "kaiseki.h").read_text()
    headers = [pathlib.PurePath(name) for name in FILES if re.fullmatch(r"matrix/ops/\w+\.h", name)]
    for header in headers:
        if header.stem == "check":  # helpers of the operations
            continue
        for part in (f"matrix/ops/{header.stem}.cc", f"tests/matrix/ops/{header.stem}_test.cc"):
            if part not in FILES:
                yield f"{header}: expected {part} beside it, got none"
        if f'#include "{header}"' not in umbrella:
            yield f"{header}: expected it in kaiseki.h"


def sizes():
    """Checks that docs/wasm.md states the limits of the modules' sizes."""
    page = (ROOT / "docs/wasm.md").read_text()
    for limit in re.findall(r"limit=(\d+)", (ROOT / "tests/wasm/package.sh").read_text()):
        if f"at most {int(limit) / 1000:.1f} kB" not in page:
            yield f"docs/wasm.md: expected the limit {limit} of tests/wasm/package.sh in kB, got none"


found = [*problems(), *operations(), *sizes()]
print("\n".join(found) if found else "pages: no problem found")
sys.exit(bool(found))
