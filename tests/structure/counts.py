#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the tests and kernels that the steps of ./check ran, and prints the first errors of those that failed.

Fails if one count is below tests/structure/counts.json.
"""
import json
import pathlib
import re
import sys

CASES = re.compile(r"test cases:\s+(\d+) \|\s+(\d+) passed \|\s+(\d+) failed")
KERNELS = re.compile(r"^kernels: (\d+)", re.MULTILINE)
SKIPPED = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
FAILED = re.compile(r"^ *not ok \d+ - .*|^\s+\d+ - .* \((?:Failed|Timeout|SEGFAULT|Subprocess aborted)\)$", re.MULTILINE)
# The errors of doctest, sanitizers, compilers and Python, each with the lines that follow.
ERROR = re.compile(r"^.*(?: ERROR: |Sanitizer: |runtime error: | error: |^Traceback|is not up to date).*(?:\n.+){0,8}", re.MULTILINE)
MOST_ERRORS = 5
CHECKS = re.compile(r"^checks: (\d+) passed, (\d+) failed", re.MULTILINE)


def main():
    folder, steps = pathlib.Path(sys.argv[1]), sys.argv[2:]
    expected = json.loads((pathlib.Path(__file__).parent / "counts.json").read_text())
    passed = failed = 0
    skipped, fewer, names, errors = [], [], [], []
    for step in steps:
        logs = [folder / f"{step}.log", folder / f"{step}.tests"]
        log = "".join(file.read_text(errors="replace") for file in logs if file.exists())
        cases = CASES.findall(log) + [(0, *both) for both in CHECKS.findall(log)]
        step_passed = sum(int(p) for _, p, _ in cases)
        passed += step_passed
        failed += sum(int(f) for _, _, f in cases)
        found = FAILED.findall(log)
        names += [f"{step}: {name.strip()}" for name in found]
        if found:  # STEP.tests also has the output of the tests that passed
            seen = dict.fromkeys(ERROR.findall(logs[0].read_text(errors="replace")))
            errors += [f"{step}: {error}" for error in list(seen)[:MOST_ERRORS]]
        skipped += [f"{step}: {reason}" for reason in SKIPPED.findall(log)]
        kernels = max(map(int, KERNELS.findall(log)), default=0)
        for what, count in (("tests", step_passed), ("kernels", kernels)):
            least = expected.get(step, {}).get(what, 0)
            if least or count:
                print(f"{step}: {count} {what} (at least {least} expected)")
            if count < least:
                fewer.append(f"{step} ran {count} {what}, expected at least {least}")
    for line in skipped:
        print("skipped:", line)
    for line in fewer:
        print("FEWER THAN BEFORE:", line, "(if on purpose, change tests/structure/counts.json)")
    for line in names:
        print("failed:", line)
    for text in errors:
        print("error:", text)
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return bool(fewer or failed)


sys.exit(main())
