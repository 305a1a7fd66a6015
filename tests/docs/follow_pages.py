#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows docs/adding-a-layer.md, adding-an-operation.md, adding-a-solver.md and adding-a-backend.md: follow_pages.py
[BUILD_FOLDER]. It makes the pages' changes of the library in a copy of the tree, and runs the checks of the structure and
of the pages there. It also checks that the existing parts are in each file that a page names. BUILD_FOLDER is a configured
build. With it, the compiler checks each new or changed source."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = ["structure/layers.py", "structure/cycles.py", "structure/type_names.py", "structure/pages.py", "docs/links.py"]
TICKED = re.compile(r"`([^`\n]+)`")
SOURCE = re.compile(r"^  [\w/]+\.cc$")  # a line of a CMakeLists.txt
FILE = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)  # a file's name, and its contents
passed, problems = 0, []


def check(right, place, problem):
    global passed
    if right:
        passed += 1
    else:
        problems.append(f"{place}: {problem}")


class Page:
    def __init__(self, name):
        self.name = f"docs/{name}.md"
        self.text = (ROOT / self.name).read_text()
        self.lines = self.text.splitlines()

    def place(self, text):
        """Returns PAGE:LINE of a text. Ends the test if the page does not have it."""
        at = self.text.find(text)
        if at < 0:
            sys.exit(f"{self.name}:1: expected the page to contain {text!r}")
        return f"{self.name}:{self.text.count(chr(10), 0, at) + 1}"

    def between(self, before, after):
        """Returns the text after `before` and up to `after`."""
        self.place(before)
        return self.text.partition(before)[2].partition(after)[0]

    def rows(self, header):
        """Yields PAGE:LINE and the cells of each row of the table that begins with `header`."""
        first = int(self.place(header).rpartition(":")[2])
        for number, line in enumerate(self.lines[first + 1:], first + 2):
            if not line.strip().startswith("|"):
                return
            yield f"{self.name}:{number}", [cell.strip() for cell in line.strip()[1:-1].split("|")]

    def named(self, example):
        """Yields PAGE:LINE and the path of each file or folder whose name contains `example`."""
        for number, line in enumerate(self.lines, 1):
            for path in TICKED.findall(line):
                if example in path and re.fullmatch(r"[\w.]+/[\w./]*", path):
                    yield f"{self.name}:{number}", path

    def states_number(self, pattern, expected):
        """Checks a number of files in a sentence of the page."""
        found = re.search(pattern, self.text) or sys.exit(f"{self.name}:1: expected a sentence {pattern!r}")
        check(found[1] == str(expected), self.place(found[0]), f"expected {expected} files, as in the table, got {found[1]}")


class Tree:
    """The copy in which the pages are followed."""

    def __init__(self, folder):
        self.folder, self.places = pathlib.Path(folder), {}
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.splitlines()
        for name in listed:
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.folder / name)

    def read(self, place, name):
        if not (self.folder / name).is_file():
            sys.exit(f"{place}: names the file {name}, which is not there")
        return (self.folder / name).read_text()

    def write(self, place, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
        self.places[name] = place  # of the page

    def make(self, place, name, text):
        """Makes a new source file with a license and a purpose."""
        check(not (self.folder / name).exists(), place, f"expected {name} to be a new file")
        mark = "#" if name.endswith(".txt") else "//"
        self.write(place, name, f"{mark} SPDX-License-Identifier: MIT\n{mark} A file of {place}.\n{text}")

    def insert(self, place, name, line, anchor):
        """Inserts a line before the first line that contains `anchor`, or matches it."""
        matches = anchor.search if isinstance(anchor, re.Pattern) else lambda text: anchor in text
        lines = self.read(place, name).splitlines()
        at = next((i for i, old in enumerate(lines) if matches(old)), None)
        if at is None:
            sys.exit(f"{place}: expected a place for a line in {name}, before {getattr(anchor, 'pattern', anchor)!r}")
        self.write(place, name, "\n".join([*lines[:at], line, *lines[at:], ""]))

    def replace(self, place, name, old, new):
        text = self.read(place, name)
        if old not in text:
            sys.exit(f"{place}: expected {old!r} in {name}")
        self.write(place, name, text.replace(old, new))

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def names_of(cell):
    """The files that a cell names. "`CMakeLists.txt` of `a`, `b`" are two files."""
    lists = "`CMakeLists.txt` of" in cell
    paths = [path for path in TICKED.findall(cell) if re.fullmatch(r"[\w./-]+", path) and path != "CMakeLists.txt"]
    return [f"{path}/CMakeLists.txt" if lists and "." not in path else path for path in paths
            if "/" in path or lists or path == "kaiseki.h"]


def follow(table, edits, example, model, only_checked=()):
    """Follows a table of files: `table` yields PAGE:LINE, and a cell with files. `edits` has a function for each file. With the
    name `model` instead of `example`, each file must exist, and a list must contain it. Files of `only_checked` stay as they are.
    Returns the files."""
    seen = []
    for place, cell in table:
        for name in names_of(cell):
            if name in seen:
                continue
            seen.append(name)
            own = name.replace(example, model)
            text = (ROOT / own).read_text() if (ROOT / own).is_file() else None
            check(text is not None, place, f"names the file {name}, and there is no {own}")
            check(text is None or own != name or model in text, place, f"expected {name} to have each part, got none of {model}")
            if name in edits:
                edits[name](place, name)
            else:
                check(name in only_checked, place, f"names the file {name}, which this test does not change")
    for name in sorted({*edits, *only_checked} - set(seen)):
        check(False, table[0][0], f"expected a row for {name}, which the change needs")
    return seen


def layer(tree):
    page = Page("adding-a-layer")
    code = page.between("## The class\n\n```cpp\n", "```").replace("using namespace kaiseki;\n", "", 1)
    test = (ROOT / "tests/docs/adding_a_layer_test.cc").read_text()
    test = test[test.index("  test::check_layers("):test.index("  const std::string json =")]
    rows = list(page.rows("| step | file |"))
    function = next((name for name in TICKED.findall(rows[0][1][0]) if "make_scaled_square()" in name), "")
    check(function, rows[0][0], "expected the function make_scaled_square()")
    headers = re.findall(r"`([\w/]+\.h)`", page.between("* A file in `nn/layers/` includes", "\n* "))

    def source(place, name):
        includes = "".join(f'#include "{header}"\n' for header in sorted(headers))
        tree.make(place, name, f"{includes}\nnamespace kaiseki::nn {{\nnamespace {{\n{code}\n}}  // namespace\n\n{function}\n\n"
                  "}  // namespace kaiseki::nn\n")

    edits = {
        "nn/layers/scaled_square.cc": source,
        "nn/layers/CMakeLists.txt": lambda place, name: tree.insert(place, name, "  scaled_square.cc", SOURCE),
        "nn/registry.cc": lambda place, name: tree.insert(place, name, "  X(scaled_square) \\", "  X(relu)"),
        "docs/network-json.md": lambda place, name: tree.insert(
            place, name, "| `scaled_square` | | the same shape |", "| `relu`"),
        "tests/nn/layers/layers_test.cc": lambda place, name: tree.write(
            place, name, tree.read(place, name) + f'\nTEST_CASE("scaled_square") {{\n{test}}}\n'),
        "tests/nn/layers/declarations_test.cc": lambda place, name: tree.insert(
            place, name, '    R"("scaled_square")",', '    R"("sigmoid")",'),
        "tests/nn/onnx/export_test.cc": lambda place, name: tree.replace(
            place, name, "export_only = {}", 'export_only = {R"({"name": "q", "type": "scaled_square"})"}'),
        "docs/onnx.md": lambda place, name: tree.insert(
            place, name, "| `scaled_square` | `Mul` twice |", "| `convolution` | `Conv`"),
    }
    optional = ["nn/onnx/operators.cc", "tests/reference/make_torch_cases.py"]
    seen = follow([(place, cells[1]) for place, cells in rows], edits, "scaled_square", "softmax", optional)
    page.states_number(r"These are (\w+) files for a layer", len(set(seen) - set(optional)))


def operation(tree):
    page = Page("adding-an-operation")
    files = dict(FILE.findall(page.text))

    def block(place, name):
        check(name in files, place, f"expected the contents of {name} in the section about the files of prefix_sum")
        tree.make(place, name, files.get(name, ""))

    def insert(line, anchor):
        return lambda place, name: tree.insert(place, name, line, anchor)

    def kernels(place, name):
        tree.insert(place, name, "void add_prefix_sum(KernelTable& kernels);", "void add_softmax(")
        tree.replace(place, name, "add_softmax, ", "add_prefix_sum, add_softmax, ")

    def call(place, name):
        tree.insert(place, name, '#include "matrix/ops/prefix_sum.h"', "matrix/ops/softmax.h")
        line = '{"prefix_sum", [](Device d) { return prefix_sum(random_tensor({3, 4}, 1, d)); }},'
        tree.insert(place, name, "      " + line, '{"softmax",')

    edits = {name: block for name in files}
    edits |= {
        "kaiseki/backend.h": insert('#include "matrix/backend/operations/prefix_sum.h"', "operations/softmax.h"),
        "kaiseki.h": insert('#include "matrix/ops/prefix_sum.h"', "matrix/ops/softmax.h"),
        "matrix/backend/cpu/kernels.h": kernels,
        "tests/support/operations.h": call,
        "matrix/ops/CMakeLists.txt": insert("  prefix_sum.cc", "  softmax.cc"),
        "matrix/backend/cpu/CMakeLists.txt": insert("  prefix_sum.cc", "  softmax.cc"),
        "tests/matrix/CMakeLists.txt": insert("  ops/prefix_sum_test.cc", "  ops/softmax_test.cc"),
        "docs/cpp.md": insert("| `matrix/ops/prefix_sum.h` | sums along an axis |", "| `matrix/ops/sort.h`"),
        "docs/indexing.md": insert("`prefix_sum` is NumPy's `cumsum` along the last axis.\n", "`sort`, `argsort`"),
    }
    opencl = ["cl_kernels/prefix_sum.cl", "matrix/backend/opencl/prefix_sum.cc", "matrix/backend/opencl/kernels.h",
              "tests/cl_kernels/compile_test.cc", "tests/cl_kernels/run_test.cc", "matrix/backend/opencl/CMakeLists.txt",
              "cl_kernels/CMakeLists.txt"]
    table = [(place, cells[1]) for place, cells in page.rows("| step | file | content |")]
    seen = follow(table, edits, "prefix_sum", "sort", opencl)
    page.states_number(r"These are (\w+) files for an operation", len(set(seen) - set(opencl)))
    page.states_number(r"only on the CPU, and (\w+) with OpenCL", len(set(seen)))
    page.states_number(r"\[JavaScript\]\(#javascript\) has (\w+) more", len(list(page.rows("| step | file |\n"))))


def solver(tree):
    page = Page("adding-a-solver")
    code = page.between("This solver is complete.", "\n## ").partition("```cpp\n")[2].partition("```")[0]
    code = code.replace("using namespace kaiseki;\n", "namespace kaiseki {\nnamespace {\n", 1)
    rows = {cells[0]: (place, cells[1:]) for place, cells in page.rows("    | | CPU | OpenCL |")}
    function = TICKED.findall(rows["its function"][1][0])[0].replace("NAME", "product_of_images")
    tables = [[(place, cells[column]) for place, cells in rows.values()] for column in (0, 1)]

    def source(place, name):
        tree.make(place, name.replace("NAME", "product_of_images"), f"{code}\n}}  // namespace\n\n{function} {{\n"
                  "  static const Pointwise solver;\n  return solver;\n}\n\n}  // namespace kaiseki\n")

    folder = "matrix/backend/cpu/conv"
    edits = {
        f"{folder}/NAME.cc": source,
        f"{folder}/solvers.h": lambda place, name: tree.insert(place, name, f"{function};", "ConvSolver& pointwise_solver();"),
        f"{folder}/solvers.cc": lambda place, name: tree.replace(
            place, name, "&pointwise_solver(),", "&product_of_images_solver(), &pointwise_solver(),"),
        f"{folder}/CMakeLists.txt": lambda place, name: tree.insert(place, name, "  product_of_images.cc", SOURCE),
    }
    cpu = follow(tables[0], edits, "NAME", "depthwise")
    opencl = follow(tables[1], {}, "NAME", "depthwise", [name for _, cell in tables[1] for name in names_of(cell)])
    documented = page.place("3. **Document it**")
    tree.insert(documented, "docs/tuning.md", "| `product_of_images` | `forward` | filters of 1 x 1 |", "| `pointwise` |")
    directions = "tests/matrix/conv/directions.h"
    tree.insert(page.place(f"`{directions}`"), directions, '      {"product_of_images", {forward}},', '{"scatter_gemm"')
    place = page.place("| all directions, known cases |")
    for got, files in zip(re.findall(r"\d+", page.between("| all directions, known cases |", "\n")), (cpu, opencl)):
        check(got == str(len(files) + 1), place, f"expected {len(files) + 1} files with docs/tuning.md, got {got}")


def backend(tree):
    """The backend of tests/matrix/backend/bare/, with another name."""
    page = Page("adding-a-backend")
    folder = "tests/matrix/backend/bare"
    kernel = re.compile(r'void BareBackend::add_fill\(\) \{.*?^}\n|  void add_fill\(\);\n|#include "matrix/with_type.h"\n',
                        re.M | re.S)
    for step, suffix in ((1, "h"), (2, "cc")):
        code = kernel.sub("", tree.read(page.place(f"`{folder}/`"), f"{folder}/bare_backend.{suffix}"))  # step 6 is not followed
        code = code.replace(f"{folder}/bare_backend.h", "matrix/backend/bare/backend.h")
        code = code.replace("bare", "spare").replace("Bare", "Spare")
        tree.make(page.place(f"{step}. **"), f"matrix/backend/spare/backend.{suffix}", code)
    line = TICKED.findall(page.between("3. **Add the folder's `CMakeLists.txt`**", "\n"))[0]
    tree.make(page.place("3. **"), "matrix/backend/spare/CMakeLists.txt", line + "\n")
    tree.insert(page.place("4. **"), "cmake/backends.cmake", "  spare", re.compile("^  opencl$"))
    tree.insert(page.place("5. **"), "docs/start.md", "| `KAISEKI_SPARE` | ON | a backend of this test |", "| `KAISEKI_OPENCL` |")
    got = len(TICKED.findall(page.between("These are six files:", "\n")))
    check(got == 6, page.place("These are six files:"), f"expected the names of six files, got {got}")
    for place, name in page.named("NAME"):
        check((ROOT / name.replace("NAME", "opencl")).exists(), place, f"names {name}, which the backend opencl does not have")


def compile_changed(tree, build):
    """Compiles each new or changed source and header with the flags of a source in the nearest folder."""
    build = pathlib.Path(build).resolve()
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        base = build if file.is_relative_to(build) else ROOT
        if file.is_relative_to(base):
            commands[file.relative_to(base).parts] = entry["command"]

    def compiled(name):
        parts = pathlib.PurePath(name).parts
        nearest = max(commands, key=lambda other: len(os.path.commonprefix([parts, other])))
        words = shlex.split(commands[nearest])
        words = words["ccache" in words[0]:words.index("-o")]
        words = [word if str(build) in word else word.replace(str(ROOT), str(tree.folder)) for word in words]
        done = subprocess.run([*words, "-fsyntax-only", "-x", "c++", "-"], input=f'#include "{name}"\n', cwd=build,
                              capture_output=True, text=True)
        return name, done.returncode == 0, done.stderr

    sources = [name for name in tree.places if name.endswith(".cc")]
    included = re.findall(r'#include "(.*)"', "".join((tree.folder / name).read_text() for name in sources))
    names = sources + [name for name in tree.places if name.endswith(".h") and name not in included]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, right, errors in pool.map(compiled, names):
            check(right, tree.places[name], f"{name} does not compile:\n{errors[:2000]}")


def main():
    with tempfile.TemporaryDirectory(prefix="kaiseki-pages-") as folder:
        tree = Tree(folder)
        for part in (layer, operation, solver, backend):
            part(tree)
        tree.run("git", "init", "--quiet")
        tree.run("git", "add", "--all")
        for script in CHECKS:
            status, output = tree.run(sys.executable, f"tests/{script}")
            places = {place for name, place in tree.places.items() if name in output}
            check(status == 0, ", ".join(sorted(places)) or "docs/adding-*.md", f"after the changes, {script} finds:\n{output}")
        if len(sys.argv) > 1:
            compile_changed(tree, sys.argv[1])
        print("\n".join(problems) if problems else f"the pages were followed: {len(tree.places)} files made or changed")
        print(f"checks: {passed} passed, {len(problems)} failed")
        sys.exit(bool(problems))


main()
