#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/decomposition.txt: PCA, IncrementalPCA and CCA of scikit-learn 1.2.1. Scores and weights are transposed,
so that each row belongs to one component."""
import numpy as np
from sklearn import cross_decomposition, decomposition, metrics

from ml_cases import Cases, cancer, digits, iris

SETS = {"iris": iris()[0], "cancer": cancer()[0], "digits": digits()[0]}
cases = Cases("decomposition.txt")


def add_axes(name, model):
    cases.add(f"{name}.components", model.components_)
    cases.add(f"{name}.variance", model.explained_variance_)
    cases.add(f"{name}.ratio", model.explained_variance_ratio_)
    cases.add(f"{name}.noise", model.noise_variance_)


for name, count in (("iris", 4), ("cancer", 5), ("digits", 6)):
    x = SETS[name]
    model = decomposition.PCA(count, svd_solver="full").fit(x)
    add_axes(f"pca.{name}", model)
    cases.add(f"pca.{name}.singular", model.singular_values_)
    cases.add(f"pca.{name}.scores", model.transform(x[:5]).T)
    cases.add(f"pca.{name}.white", decomposition.PCA(count, svd_solver="full", whiten=True).fit(x).transform(x[:5]).T)
    counts = [[ratio, decomposition.PCA(ratio).fit(x).n_components_] for ratio in (0.5, 0.9, 0.95, 0.99)]
    cases.add(f"pca.{name}.counts", counts)
add_axes("pca.wide", decomposition.PCA(7, svd_solver="full").fit(SETS["digits"][:40]))  # fewer samples than features

for name, count, batch in (("iris", 2, 20), ("digits", 5, 300), ("cancer", 3, 150)):
    model = decomposition.IncrementalPCA(count, batch_size=batch).fit(SETS[name])
    cases.add(f"incremental.{name}.options", [count, batch])
    add_axes(f"incremental.{name}", model)
    cases.add(f"incremental.{name}.mean", model.mean_)

# cancer without scaling is left out: its condition is too bad for the power iteration of scikit-learn.
for name, split, count, scale in (("iris", 2, 2, True), ("iris", 2, 2, False), ("cancer", 20, 3, True), ("digits", 32, 3, True),
                                  ("digits", 32, 3, False)):
    x, y = SETS[name][:, :split], SETS[name][:, split:]
    model = cross_decomposition.CCA(count, scale=scale, max_iter=100000, tol=1e-14).fit(x, y)
    a, b = model.transform(x, y)
    prefix = f"cca.{name}.{'scaled' if scale else 'plain'}"
    cases.add(f"{prefix}.x_weights", model.x_weights_.T)
    cases.add(f"{prefix}.y_weights", model.y_weights_.T)
    cases.add(f"{prefix}.x_loadings", model.x_loadings_.T)
    cases.add(f"{prefix}.x_rotations", model.x_rotations_.T)
    cases.add(f"{prefix}.x_scores", a[:6].T)
    cases.add(f"{prefix}.y_scores", b[:6].T)
    # Does not use model.predict(), whose result depends on the scale of y. It is wrong for a y that is linear in x.
    predicted = y.mean(0) + a @ np.linalg.lstsq(a, y - y.mean(0), rcond=None)[0]
    cases.add(f"{prefix}.predicted", predicted[:6])
    cases.add(f"{prefix}.score", [metrics.r2_score(y, predicted)])
cases.write()
