#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the data sets of the tests in tests/ml: iris, digits and breast cancer (UCI), as scikit-learn has them. A row of digits.txt
has one letter from A (0) to Q (16) for each of 64 pixels, and then the label."""
from ml_cases import Cases, FOLDER, cancer, digits, iris

for name, (x, y) in {"iris": iris(), "cancer": cancer()}.items():
    cases = Cases(name + ".txt")
    cases.add("x", x)
    cases.add("y", y)
    cases.write()
x, y = digits()
lines = ["".join(chr(65 + int(v)) for v in row) + str(label) for row, label in zip(x, y)]
(FOLDER / "digits.txt").write_text("\n".join(lines) + "\n")
