# SPDX-License-Identifier: MIT
"""Data sets and a writer of cases, for make_ml_*_cases.py. Needs scikit-learn 1.2.1. One line of a file of cases is: name, rows,
columns, values. Data are rounded to f32 first, so that both sides learn from the same numbers."""
import pathlib

import numpy as np
from sklearn import datasets

SEEDS = 20
FOLDER = pathlib.Path(__file__).parent / "ml"


class Cases:
    def __init__(self, file):
        self.path, self.lines = FOLDER / file, []

    def add(self, name, values, digits=9):
        values = np.atleast_1d(np.asarray(values, dtype=np.float64))
        rows, columns = values.shape if values.ndim == 2 else (1, values.size)
        self.lines.append(" ".join([name, str(rows), str(columns), *(f"{v:.{digits}g}" for v in values.ravel())]))

    def add_seeds(self, name, score):
        """score(seed) of each seed."""
        self.add(name + ".seeds", [score(seed) for seed in range(SEEDS)], 7)

    def write(self):
        FOLDER.mkdir(exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n")
        print(self.path.name, self.path.stat().st_size, "bytes")


def f32(values):
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def iris():
    x, y = datasets.load_iris(return_X_y=True)
    return f32(x), y


def digits():
    x, y = datasets.load_digits(return_X_y=True)
    return f32(x), y


def cancer():
    x, y = datasets.load_breast_cancer(return_X_y=True)
    return f32(x), y


def scaled(x):
    """Mean 0 and variance 1, except for columns of equal values, which become 0."""
    deviation = x.std(axis=0)
    return f32((x - x.mean(axis=0)) / np.where(deviation == 0, 1, deviation))


def labeled():
    """The sets of classifications: features that are far from unit variance are scaled."""
    x, y = digits()
    return {"iris": iris(), "digits": (scaled(x)[:600], y[:600]), "cancer": (scaled(cancer()[0]), cancer()[1])}


def targets():
    """The sets of regressions: one feature from the others. Of digits, the digit from pixels in [0, 1]."""
    flowers, cells, (pixels, digit) = iris()[0], scaled(cancer()[0]), digits()
    return {"iris": (scaled(flowers[:, :3]), flowers[:, 3]), "digits": (pixels[:600] / 16, digit[:600].astype(np.float64)),
            "cancer": (cells[:, 1:], cells[:, 0])}


def every_fifth(x, y):
    """The samples to train with, and every fifth one for the test."""
    test = np.arange(len(y)) % 5 == 0
    return x[~test], y[~test], x[test], y[test]


def numbers(rows, columns, seed):
    """The same numbers as lcg_numbers() of tests/support/ml_cases.h, in [-1, 1)."""
    state, values = seed, []
    for _ in range(rows * columns):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append((state >> 8) / 2**23 - 1)
    return np.array(values).reshape(rows, columns)


def regression(rows, columns, outputs, seed):
    """x, and y = x w + 2 + noise with w = 0 in every third row."""
    x = f32(numbers(rows, columns, seed) + 0.5)
    w = numbers(columns, outputs, seed + 1) * (np.arange(columns) % 3 != 2)[:, None]
    y = x @ w + 2 + 0.1 * numbers(rows, outputs, seed + 2)
    return x, f32(y[:, 0] if outputs == 1 else y)


def blobs(rows, columns, classes, seed):
    """Overlapping classes i % classes, with their own centers."""
    labels = np.arange(rows) % classes
    centers = numbers(classes, columns, seed + 1)
    return f32(numbers(rows, columns, seed) + 0.7 * centers[labels]), labels
