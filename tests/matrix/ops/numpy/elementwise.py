#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes elementwise.txt: elementwise expressions with NumPy's results, for tests/matrix/ops/elementwise_types_test.cc.
A line is: expression | types of x and y | type of the result | relative tolerance | x | y | result. The shapes of x and y are [n, 1] and
[m], so a binary case is the table of all pairs. Functions of f32 are computed in double and rounded. Needs python3-numpy.

    tests/matrix/ops/numpy/elementwise.py > tests/matrix/ops/numpy/elementwise.txt"""
import math

import numpy as np

np.seterr(all="ignore")
TYPES = {"bool": np.bool_, "u8": np.uint8, "i32": np.int32, "f32": np.float32}
ORDER = list(TYPES)
VALUES = {
    "bool": [0, 1],
    "u8": [0, 1, 2, 7, 31, 100, 128, 254, 255],
    "i32": [0, 1, -1, 2, -3, 7, 32, 255, 65536, 123456789, 2147483647, -2147483648],
    "f32": [0, -0.0, 1, -1, 0.5, -2.5, 7.25, 255, 1e10, -3e38, 1e-30, math.nan, math.inf, -math.inf],
}
EXACT = 0
ROUNDED = 4e-7  # a division in OpenCL: 2.5 units in the last place, which are at most 3e-7
FUNCTION = 1e-6  # 4 to 8 units in the last place, in OpenCL and Highway
LOOSE = 2.5e-6  # 16 units in the last place: OpenCL's pow, erf and erfc


def promote(a, b):
    return ORDER[max(ORDER.index(a), ORDER.index(b))]


def number(kind):
    return "i32" if kind == "bool" else kind


def integer_power(a, b, kind):
    bits = 8 if kind == "u8" else 32

    def one(x, n):
        x, n = int(x), int(n)
        value = pow(x, n, 1 << bits) if n >= 0 else {1: 1, -1: -1 if n % 2 else 1}.get(x, 0)
        return value - (1 << 32) if kind == "i32" and value >= 1 << 31 else value

    return np.frompyfunc(one, 2, 1)(a, b).astype(TYPES[kind])


def remainder(a, b, kind):
    return np.fmod(a, b) if kind == "f32" else np.where(b == 0, 0, np.fmod(a.astype(np.int64), np.where(b == 0, 1, b))).astype(a.dtype)


def in_double(function):
    return lambda *x: function(*(v.astype(np.float32).astype(np.float64) for v in x)).astype(np.float32)


BINARY = {}  # expression: (rule, function, tolerance)
for sign, function in {"+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.mod}.items():
    BINARY[f"x {sign} y"] = ("number", lambda a, b, k, f=function: f(a, b), ROUNDED if sign in ("//", "%") else 6e-8)
BINARY["x / y"] = ("f32", lambda a, b, k: a / b, ROUNDED)
BINARY["min(x, y)"] = ("number", lambda a, b, k: np.minimum(a, b), EXACT)
BINARY["max(x, y)"] = ("number", lambda a, b, k: np.maximum(a, b), EXACT)
BINARY["fmod(x, y)"] = ("number", remainder, ROUNDED)
BINARY["pow(x, y)"] = ("number", lambda a, b, k: in_double(np.power)(a, b) if k == "f32" else integer_power(a, b, k), LOOSE)
BINARY["atan2(x, y)"] = ("f32", lambda a, b, k: in_double(np.arctan2)(a, b), FUNCTION)
BINARY["hypot(x, y)"] = ("f32", lambda a, b, k: in_double(np.hypot)(a, b), FUNCTION)
for sign, function in {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                       "!=": np.not_equal}.items():
    BINARY[f"x {sign} y"] = ("compare", lambda a, b, k, f=function: f(a, b), EXACT)
for sign, function in {"&&": np.logical_and, "||": np.logical_or}.items():
    BINARY[f"x {sign} y"] = ("bool", lambda a, b, k, f=function: f(a, b), EXACT)
for sign, function in {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}.items():
    BINARY[f"x {sign} y"] = ("bits", lambda a, b, k, f=function: f(a, b), EXACT)
for sign, function in {"<<": np.left_shift, ">>": np.right_shift}.items():
    BINARY[f"x {sign} y"] = ("shift", lambda a, b, k, f=function: f(a, b), EXACT)
BINARY["where(x, x, y)"] = ("choice", lambda a, b, k: np.where(a != 0, a, b), EXACT)
BINARY["x ? y : x"] = ("choice", lambda a, b, k: np.where(a != 0, b, a), EXACT)
BINARY["clamp(x, y, 100)"] = ("number", lambda a, b, k: np.minimum(np.maximum(a, b), a.dtype.type(100)), EXACT)

REAL = {"sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
        "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
        "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
        "acosh": np.arccosh, "atanh": np.arctanh, "cbrt": np.cbrt, "erf": np.vectorize(math.erf, otypes=[float]),
        "erfc": np.vectorize(math.erfc, otypes=[float]), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
LARGE = {"sin", "cos", "tan"}  # of small arguments only: a large one needs more digits than a float reduces
EXTRA = [0.1, -0.1, 0.9, -0.9, 0.001, -0.001, 2, 3.7, -5.5, 20, -20, 80, -80, 100]


def text(values, kind):
    if kind == "f32":
        return " ".join(str(np.float32(v)) for v in values)
    return " ".join(str(int(v)) for v in values)


def line(expression, kinds, result, tolerance, x, y, values):
    print("|".join([expression, " ".join(kinds), result, f"{tolerance:g}", text(x, kinds[0]), text(y, kinds[1]) if y is not None else "",
                    text(np.ravel(values), result)]))


def binary():
    for expression, (rule, function, tolerance) in BINARY.items():
        for p in ORDER:
            for q in ORDER:
                common = promote(p, q)
                kind = {"number": number(common), "f32": "f32", "bool": "bool", "shift": number(common)}.get(rule, common)
                if rule in ("bits", "shift") and kind == "f32":
                    continue
                x, y = np.array(VALUES[p], TYPES[p]), np.array(VALUES[q], TYPES[q])
                a, b = (v.astype(TYPES[kind]) for v in (x, y))
                values = function(a[:, None], b[None, :], kind)
                line(expression, (p, q), "bool" if rule == "compare" else kind, tolerance, x, y, values)


def unary():
    for p in ORDER:
        x = np.array(VALUES[p] + (EXTRA if p == "f32" else []), TYPES[p])
        f, n = x.astype(np.float32), x.astype(TYPES[number(p)])
        for name, function in REAL.items():
            at = x[np.abs(f) < 30000] if name in LARGE else x
            tolerance = LOOSE if name.startswith("erf") else FUNCTION
            line(f"{name}(x)", (p, p), "f32", tolerance, at, None, in_double(function)(at))
        for name, function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
            line(f"{name}(x)", (p, p), "bool", EXACT, x, None, function(f))
        for name, function in {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}.items():
            line(f"{name}(x)", (p, p), number(p), EXACT, x, None, function(n).astype(n.dtype))
        for name, function in {"-x": np.negative, "abs(x)": np.abs, "sign(x)": np.sign, "+x": lambda v: v}.items():
            kind = p if name == "+x" else number(p)
            line(name, (p, p), kind, EXACT, x, None, function(x if name == "+x" else n))
        line("!x", (p, p), "bool", EXACT, x, None, np.logical_not(x))
        if p != "f32":
            line("~x", (p, p), p, EXACT, x, None, np.invert(x))
        wide = np.nan_to_num(np.trunc(f.astype(np.float64)), nan=0, posinf=1e300, neginf=-1e300)
        for q in ORDER:
            if p == "f32" and q in ("u8", "i32"):  # saturates; NumPy leaves it undefined
                limits = np.iinfo(TYPES[q])
                values = np.clip(wide, limits.min, limits.max).astype(TYPES[q])
            else:
                values = x.astype(TYPES[q])
            line(f"{q}(x)", (p, p), q, EXACT, x, None, values)


def literals():
    for p in ORDER:
        x = np.array(VALUES[p], TYPES[p])
        for value in (0, 1, 7, 255, 256, -1):
            kind = "u8" if p == "u8" and 0 <= value <= 255 else promote(p, "i32")
            other = TYPES[kind](value)
            line(f"x + {value}", (p, p), kind, 6e-8, x, None, x.astype(TYPES[kind]) + other)
            line(f"x > {value}", (p, p), "bool", EXACT, x, None, x.astype(TYPES[kind]) > other)
        line("x * 0.5", (p, p), "f32", 6e-8, x, None, x.astype(np.float32) * np.float32(0.5))


binary()
unary()
literals()
