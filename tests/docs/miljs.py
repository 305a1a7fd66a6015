#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the tables of docs/miljs.md: miljs.py [PAGE]. Each row has an original name, Kaiseki's name, and the tests that show it.
No cell is empty. Names in backticks must exist in the tree, and tests must exist in their file. Rows of ml/ wait until ml/ is there."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/miljs.md"
CODE = {".h", ".cc", ".cl", ".ts", ".tsx", ".js", ".mjs", ".json", ".py", ".cmake", ".yaml", ".txt"}
HEADER = ["original", "Kaiseki", "tests"]
NUMPY = "tests/reference/make_array_cases.py"
TICKED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"(\w+)\(")
WITHOUT = re.compile(r"(not yet|left out): \S+ \S+ \S+")  # with a reason
# A row that a broken page could have, and the words of the problem.
BROKEN = [("| a |  | `tests/nn/weights_test.cc: weights: every format keeps every bit` |", "empty cell"),
          ("| a | `det()` | |", "empty cell"), ("| a | `det()` |", "3 cells"),
          ("| a | `no_such_function_here()` | `numpy: tile` |", "no_such_function_here"),
          ("| a | `NoSuchType` | `numpy: tile` |", "NoSuchType"), ("| a | `--no-such-option` | `numpy: tile` |", "--no-such-option"),
          ("| a | `nn/no_such_file.cc` | `numpy: tile` |", "nn/no_such_file.cc"), ("| a | det | `numpy: tile` |", "a name in backticks"),
          ("| a | `det()` | `tests/nn/weights_test.cc: weights: no such case` |", "no such case"),
          ("| a | `det()` | `tests/nn/no_test.cc: weights` |", "no_test.cc"), ("| a | `det()` | none |", "a test"),
          ("| a | `det()` | `numpy: no_such_case` |", "no_such_case"), ("| a | not yet | none |", "a reason"),
          ("| a | not yet: it is not written | `numpy: tile` |", "none")]


class Tree:
    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.split("\n")
        self.files = {name for name in listed if name and (ROOT / name).exists()}
        self.folders = {str(parent) for name in self.files for parent in pathlib.PurePath(name).parents}
        own = [name for name in self.files if pathlib.PurePath(name).suffix in CODE and not name.startswith(("tests/", "docs/"))]
        texts = {name: (ROOT / name).read_text(errors="replace") for name in own}
        self.words = set(NAME.findall("\n".join(texts.values())))
        self.calls = set(CALL.findall("\n".join(text for name, text in texts.items() if name.endswith((".h", ".ts", ".tsx")))))
        self.options = (ROOT / "docs/cli.md").read_text()
        self.ml = "ml/CMakeLists.txt" in self.files
        self.cases = {}

    def cases_of(self, file):
        """Returns the names of the tests in a file."""
        if file not in self.cases:
            text = (ROOT / file).read_text()
            if file.endswith(".cc"):
                found = re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', text)
                names = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', one)) for one in found]
            elif file.endswith(".py"):
                names = re.findall(r"^def (\w+)\(", text, re.MULTILINE)
            else:
                names = [name for _, name in re.findall(r"""\b(?:test|it)\(\s*(['"`])(.*?)\1""", text)]
            self.cases[file] = set(names)
        return self.cases[file]


def test_problem(tree, quoted):
    file, _, case = quoted.partition(": ")
    if file == "numpy":
        return "" if re.search(rf'\bcase\(\s*"{case}"', (ROOT / NUMPY).read_text()) else f"{NUMPY} has no case {case}"
    if file not in tree.files:
        return f"the test {file} is not there"
    if case:
        return "" if case in tree.cases_of(file) else f"{file} has no test {case}"
    return "" if file.endswith((".py", ".sh")) else f"expected a test of {file}, got the file"


def name_problem(tree, quoted):
    if quoted in tree.files or quoted.rstrip("/") in tree.folders:
        return ""
    if "/" in quoted and re.fullmatch(r"[\w./-]+\.\w+|[\w./-]+/", quoted):
        return f"{quoted} is not there"
    if quoted.startswith(("kaiseki ", "--")):
        missing = [word for word in re.findall(r"--[\w-]+|kaiseki \w+", quoted) if not re.search(rf"{word}\b", tree.options)]
        return f"the command has no {missing[0]}" if missing else ""
    call = re.fullmatch(r"(?:\w+(?:::|\.))*(\w+)\(.*\)", quoted)
    if call and call[1] not in tree.calls:
        return f"no header declares {call[1]}()"
    text = re.sub(r'"[^"]*"', "", quoted)
    missing = [word for word in NAME.findall(text) if len(word) > 1 and word not in tree.words]
    return f"no source has the name {missing[0]}" if missing else ""


def row_problem(tree, cells):
    if len(cells) != 3:
        return f"expected 3 cells, got {len(cells)}"
    if not all(cells):
        return "empty cell"
    _, ours, tests = cells
    if ours.startswith(("not yet", "left out")):
        if not WITHOUT.match(ours):
            return "expected a reason"
        if ours.startswith("not yet") and tests != "none":
            return "expected none as the test"
        return "" if tests == "none" else next(filter(None, (test_problem(tree, one) for one in TICKED.findall(tests))), "")
    if not TICKED.findall(ours):
        return "expected a name in backticks"
    if not TICKED.findall(tests):
        return "expected a test"
    found = [name_problem(tree, one) for one in TICKED.findall(ours)] + [test_problem(tree, one) for one in TICKED.findall(tests)]
    return next(filter(None, found), "")


def cells_of(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:].removesuffix("|"))]


def main():
    tree, page = Tree(), pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    for line, words in BROKEN:
        if words not in row_problem(tree, cells_of(line)):
            sys.exit(f"miljs: expected a problem with {words} in {line}, got {row_problem(tree, cells_of(line))!r}")
    passed, problems, open_rows, left_out, waiting, sections = 0, [], [], 0, 0, set()
    section = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("|") or not section[:1].isdigit() or cells_of(line) == HEADER or set(line) <= set("|-: "):
            continue
        cells = cells_of(line)
        sections.add(section)
        if section.endswith("ml/") and not tree.ml and len(cells) == 3 and all(cells) and not cells[1].startswith("not yet"):
            waiting += 1
            continue
        problem = row_problem(tree, cells)
        if problem:
            problems.append(f"{page.name}:{number}: {cells[0]}: {problem}")
            continue
        passed += 1
        left_out += cells[1].startswith("left out")
        if cells[1].startswith("not yet"):
            open_rows.append(f"not yet: {cells[0]}: {cells[1].partition(': ')[2]}")
    if {section[0] for section in sections} != set("12345"):
        problems.append(f"expected tables in the sections 1 to 5, got {sorted(sections)}")
    print("\n".join([*open_rows, *problems]))
    print(f"miljs: {passed} rows, of them {len(open_rows)} not yet and {left_out} left out; {waiting} rows wait for ml/")
    print(f"checks: {passed} passed, {len(problems)} failed")
    return bool(problems)


sys.exit(main())
