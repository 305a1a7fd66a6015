#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes print.txt: arrays as NumPy prints them, for tests/matrix/ops/print_test.cc. A case is a line with type | shape | values, the
lines of the text, and a line "end". Values "range" are 0, 1, 2 ... times 0.5 for f32. Needs python3-numpy.

    tests/matrix/ops/numpy/print.py > tests/matrix/ops/numpy/print.txt"""
import math

import numpy as np

TYPES = {"bool": np.bool_, "u8": np.uint8, "i32": np.int32, "f32": np.float32}
NAN, INF = math.nan, math.inf
FLOATS = [
    [1, 2, 3], [0.5, -1.25, 3], [0.1, 0.2, 0.3], [1 / 3, 2 / 3, 1], [math.pi, -math.e, 100], [0], [-0.0, 0.0], [1e8, 1], [99999999, 1],
    [1e-4, 1], [9e-5, 1e-5], [1e10, 1.5], [1e-10, 1e10], [1000.5, 1], [1001, 1], [123456.789, 0.001], [NAN], [NAN, 1.5], [INF, -INF],
    [INF, 1], [-INF, 1.25], [NAN, -INF, 1e20], [3.4028235e38, 1.1754944e-38], [1e-45, 1], [0.12345678, 0.00012345678], [16777216, 16777217],
    [-1, 1], [-1.5, 10.25, -100.125], [1e7, 0.5], [5e-324], [2.5e-5], [0.1, 100.1, NAN], [1.0000001, 1], [123456789.0], [0.00015, 0.9],
]
INTEGERS = [[1, 2, 3], [-1, 10, 100], [2147483647, -2147483648], [0], [7, -7]]
SHAPES = [(0,), (0, 3), (2, 0), (1, 1), (2, 3), (3, 2, 2), (2, 2, 2, 2), (1, 1, 1), (30,), (100,), (3, 30), (1000,), (1001,), (2000,), (7, 200),
          (200, 7), (101, 10), (2, 600), (20, 10, 10), (5, 5, 50), (1, 1001), (1001, 1), (12, 7)]


def case(kind, shape, values, array):
    print(f"{kind}|{' '.join(map(str, shape))}|{values}\n{str(array)}\nend")


for values in FLOATS:
    array = np.array(values, np.float32)
    words = " ".join(map(str, array.tolist()))
    case("f32", array.shape, words, array)
    for value in array:
        case("f32", (), str(value), value)
for values in INTEGERS:
    array = np.array(values, np.int32)
    case("i32", array.shape, " ".join(map(str, values)), array)
    case("i32", (), str(values[0]), array[0])
case("u8", (4,), "0 7 200 255", np.array([0, 7, 200, 255], np.uint8))
case("bool", (2, 2), "1 0 0 1", np.array([[1, 0], [0, 1]], bool))
case("bool", (), "1", np.bool_(1))
case("bool", (), "0", np.bool_(0))
for shape in SHAPES:
    for kind, dtype in TYPES.items():
        count = math.prod(shape)
        numbers = np.arange(count) * 0.5 if kind == "f32" else np.arange(count) % (2 if kind == "bool" else 256 if kind == "u8" else 1 << 30)
        case(kind, shape, "range", numbers.astype(dtype).reshape(shape))
