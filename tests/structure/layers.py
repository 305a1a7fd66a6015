#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the tree. Folders include only the folders below them. Files are short, begin with a license line, and contain no
path of a machine. One file reads environment variables. Folders of tests mirror the folders of sources. kaiseki/backend.h
includes every operation, and kaiseki/ml.h every model."""
import pathlib
import re
import subprocess
import sys

ALLOWED = {  # a folder: the folders from which it may include headers
    "base": {"base"},
    "cl_kernels": set(),
    "matrix": {"base", "matrix", "cl_kernels"},
    "nn": {"base", "matrix", "nn"},
    "ml": {"base", "matrix", "nn", "ml"},
    "dist": {"base", "matrix", "nn", "dist"},
    "wasm": {"base", "matrix", "nn", "ml", "dist", "wasm"},
    "cli": {"base", "matrix", "nn", "ml", "dist", "cli"},
}
# Inside these folders, a folder includes its own line and the lines above it.
LEVELS = {
    "matrix": [
        {"matrix", "matrix/memory"},
        {"matrix/backend"},  # the interface and the registry
        {"matrix/tune"},
        {"matrix/cost"},
        {"matrix/out_of_core"},
        {"matrix/conv"},
        {"matrix/conv/out_of_core"},
        {"matrix/backend/*"},
        {"matrix/ops"},
        {"matrix/linalg"},
    ],
    "nn": [
        {"nn/io", "nn/io/no_zlib"},
        {"nn/data"},
        {"nn", "nn/layers", "nn/onnx"},  # a layer knows its ONNX operator, and a network reads ONNX files
        {"nn/train"},
    ],
    "ml": [
        {"ml"},
        {"ml/metrics", "ml/preprocessing", "ml/table"},
        {"ml/cluster", "ml/decomposition", "ml/linear", "ml/model_selection"},
        {"ml/mixture", "ml/neighbors", "ml/online", "ml/svm", "ml/tree"},
        {"ml/ensemble", "ml/naive_bayes"},
        {"ml/model"},
    ],
    "dist": [
        {"dist/trust"},
        {"dist/wire"},
        {"dist/pool"},
        {"dist/train"},
        {"dist/cluster"},
        {"dist/net"},
        {"dist/net/beast"},
        {"dist/node"},
        {"dist/samples"},
    ],
}
# Folders of TESTED that need no tests of their own. The tests of dist/net test beast, and the build without zlib tests
# its stub. A backend needs none either, because the tests of operations run on every device.
TESTED = {"base", "matrix", "nn", "ml", "dist", "cli"}
UNTESTED = {"dist/net/beast", "nn/io/no_zlib"}
# Tests of no folder: the kernels, the programs of the pages, and a backend that is only for tests.
OWN_TESTS = {"cl_kernels", "docs", "matrix/backend/bare", "matrix/backend/no_bare"}
LINES = {".cc": 500, ".h": 500, ".py": 500, ".cl": 250, ".cmake": 250, ".ts": 500, ".tsx": 500, ".js": 500, ".mjs": 500}
CODE = set(LINES) | {".sh"}
INCLUDE = re.compile(r'^\s*#include "([a-z_]+)/', re.MULTILINE)
FOLDER_INCLUDE = re.compile(r'^\s*#include "((?:matrix|nn|ml|dist)(?:/[a-z_]+)*)/[^/"]+"', re.MULTILINE)
ENVIRONMENT = "base/environment.cc"  # the only file of the folders READ_NO_VARIABLES that may call getenv
READ_NO_VARIABLES = {"base", "matrix", "nn", "ml", "dist", "cli"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home/\w+|work)/\w+")


def backend(folder):
    """Returns matrix/backend/cpu for matrix/backend/cpu/conv, and matrix/backend for its operations/. Keeps other folders."""
    return "/".join(folder.removesuffix("/operations").split("/")[:3])


def level(folder):
    if folder.startswith("matrix/backend/"):
        folder = "matrix/backend/*"  # a backend, or its stub
    return next((i for i, line in enumerate(LEVELS[folder.split("/")[0]]) if folder in line), None)


def level_problems(path, text):
    own = backend(str(path.parent))
    if level(own) is None:
        yield f"{path}: {own} is not in the list of folders in tests/structure/layers.py"
        return
    for folder in map(backend, FOLDER_INCLUDE.findall(text)):
        if folder.split("/")[0] != path.parts[0]:
            if path.parts[0] == "ml" and folder.startswith("nn") and folder != "nn/io":
                yield f"{path}: ml/ may include nn/io/, and not {folder}/"
            continue
        other_backend = folder != own and folder.startswith("matrix/backend/")
        if level(folder) is None or level(folder) > level(own) or (other_backend and level(folder) == level(own)):
            yield f"{path}: {own} may not include {folder}/"


def mirror_problems(files):
    sources = {str(path.parent) for path in map(pathlib.PurePath, files) if path.suffix == ".cc" and path.parts[0] in TESTED}
    tests = {str(path.parent.relative_to("tests")) for path in map(pathlib.PurePath, files)
             if path.parts[0] == "tests" and path.name.endswith("_test.cc")}
    untested = {folder for folder in sources - tests if not folder.startswith("matrix/backend/")}
    for folder in sorted(untested ^ UNTESTED):
        yield f"{folder}: expected tests in tests/{folder}/, or its name in UNTESTED of tests/structure/layers.py, and not both"
    for folder in sorted(tests - sources ^ OWN_TESTS):
        yield f"tests/{folder}: expected sources in {folder}/, or its name in OWN_TESTS of tests/structure/layers.py, and not both"


def operation_problems(files):
    """A program that adds a backend needs every operation."""
    text = pathlib.Path("kaiseki/backend.h").read_text()
    headers = {name for name in files if name.startswith("matrix/backend/operations/")}
    for name in sorted(headers ^ set(re.findall(r'"(matrix/backend/operations/[^"]+)"', text))):
        yield f"kaiseki/backend.h: {name} is missing there, or is no file"


def model_problems():
    """Every model that has settings is for programs too."""
    headers = re.compile(r'"(ml/[^"]+)"')
    public = set(headers.findall(pathlib.Path("kaiseki/ml.h").read_text()))
    for name in headers.findall(pathlib.Path("ml/model/settings.h").read_text()):
        if name not in public and name != "ml/archive.h":
            yield f"kaiseki/ml.h: {name} is missing there"


def problems():
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    files = [name for name in files if pathlib.Path(name).is_file()]
    yield from mirror_problems(files)
    yield from operation_problems(files)
    yield from model_problems()
    for name in files:
        path = pathlib.Path(name)
        if path.suffix not in CODE | {".md", ".json", ".txt"}:
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
        if top in LEVELS:
            yield from level_problems(path, text)
        if top in READ_NO_VARIABLES and name != ENVIRONMENT and re.search(r"\bgetenv\b", text):
            yield f"{name}: getenv, expected only in {ENVIRONMENT}"
        for folder in INCLUDE.findall(text) if top in ALLOWED else []:
            if folder in ALLOWED and folder not in ALLOWED[top]:
                yield f"{name}: {top} may not include {folder}/"


found = list(problems())
print("\n".join(found) if found else "structure: no problem found")
sys.exit(bool(found))
