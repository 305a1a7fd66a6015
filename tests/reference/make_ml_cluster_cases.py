#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/: the data sets, and results of k-means of scikit-learn 1.2.1. Needs scikit-learn."""
import json
import pathlib

import numpy as np
from sklearn import cluster, datasets

FOLDER = pathlib.Path(__file__).parent / "ml"


def write_data():
    """Features, and the label as the last column."""
    FOLDER.mkdir(exist_ok=True)
    for name, data in (("iris", datasets.load_iris()), ("breast_cancer", datasets.load_breast_cancer())):
        lines = [",".join([*(f"{value:.6g}" for value in row), str(label)]) for row, label in zip(data.data, data.target)]
        (FOLDER / f"{name}.csv").write_text("\n".join(lines) + "\n")
    digits = datasets.load_digits()
    letters = "0123456789abcdefg"  # a pixel is 0..16
    lines = ["".join(letters[int(value)] for value in row) + f" {label}" for row, label in zip(digits.data, digits.target)]
    (FOLDER / "digits_pixels.txt").write_text("\n".join(lines) + "\n")


def load(name):
    """Reads the files of write_data() in f32, as the C++ tests do."""
    if name == "digits":
        rows = [line.split() for line in (FOLDER / "digits_pixels.txt").read_text().splitlines()]
        x = np.array([[int(letter, 17) for letter in row[0]] for row in rows], np.float32)
        return x.astype(np.float64), np.array([int(row[1]) for row in rows])
    table = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",")
    return table[:, :-1].astype(np.float32).astype(np.float64), table[:, -1].astype(int)


def write(name, value):
    def plain(v):
        if isinstance(v, np.ndarray):
            return plain(v.tolist())
        if isinstance(v, dict):
            return {key: plain(item) for key, item in v.items()}
        if isinstance(v, (list, tuple)):
            return [plain(item) for item in v]
        return float(f"{v:.9g}") if isinstance(v, float) else v
    text = json.dumps(plain(value), separators=(",", ":"))
    (FOLDER / f"{name}.json").write_text(text.replace("},", "},\n") + "\n")


def kmeans_cases():
    cases = []
    for name, k in (("iris", 3), ("breast_cancer", 4), ("digits", 10)):
        x, _ = load(name)
        start = x[:: len(x) // k][:k]
        model = cluster.KMeans(k, init=start, n_init=1, tol=0, max_iter=1000).fit(x)
        inertias = [cluster.KMeans(k, n_init=1, random_state=seed).fit(x).inertia_ for seed in range(20)]
        small = [cluster.MiniBatchKMeans(k, n_init=3, random_state=seed).fit(x).inertia_ for seed in range(20)]
        cases.append({"data": name, "k": k, "step": len(x) // k, "inertia": model.inertia_,
                      "centers": model.cluster_centers_[:, :8], "counts": np.bincount(model.labels_).tolist(),
                      "inertias": inertias, "mini_batch_inertias": small})
    return cases


if __name__ == "__main__":
    write_data()
    write("cluster", kmeans_cases())
