#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/mixture.txt: Gaussian mixtures of scikit-learn 1.2.1."""
import numpy as np
from sklearn import mixture

from ml_cases import Cases, cancer, f32, iris


def start_of(x, labels, kind, k):
    """Weights, means and precisions from the given classes, so that both libraries begin alike."""
    weights = np.bincount(labels) / len(labels)
    means = np.array([x[labels == c].mean(0) for c in range(k)])
    within = [np.cov(x[labels == c].T) for c in range(k)]
    if kind == "full":
        precisions = np.array([np.linalg.inv(c) for c in within])
        precisions = (precisions + precisions.transpose(0, 2, 1)) / 2
    elif kind == "tied":
        precisions = np.linalg.inv(sum(within) / k)
        precisions = (precisions + precisions.T) / 2
    elif kind == "diag":
        precisions = np.array([1 / np.diag(c) for c in within])
    else:
        precisions = np.array([1 / np.diag(c).mean() for c in within])
    return [f32(v) for v in (weights, means, precisions)]


cases = Cases("mixture.txt")
for name, columns, k, (x, y) in (("iris", 4, 3, iris()), ("cancer", 2, 2, cancer())):
    x = x[:, :columns]
    for kind in ("full", "tied", "diag", "spherical"):
        weights, means, precisions = start_of(x, y, kind, k)
        weights = weights / weights.sum()
        model = mixture.GaussianMixture(k, covariance_type=kind, tol=1e-4, max_iter=300, weights_init=weights,
                                        means_init=means, precisions_init=precisions).fit(x)
        scores = [mixture.GaussianMixture(k, covariance_type=kind, random_state=seed).fit(x).score(x) for seed in range(20)]
        results = {"weights_init": weights, "means_init": means, "precisions_init": precisions.ravel(),
                   "weights": model.weights_, "means": model.means_, "covariances": model.covariances_.ravel(),
                   "score": model.score(x), "bic": model.bic(x), "aic": model.aic(x), "n_iter": model.n_iter_,
                   "proba": model.predict_proba(x[::10]), "scores": scores}
        for key, value in results.items():
            cases.add(f"{name}.{kind}.{key}", value)
cases.write()
