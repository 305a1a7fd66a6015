#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/mixture.txt: Gaussian mixtures of scikit-learn 1.2.1."""
import numpy as np
from sklearn import mixture

from ml_cases import Cases, cancer, digits, f32, iris


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


def quarters(x):
    """The sum of the pixels of each quarter of an image."""
    return x.reshape(-1, 2, 4, 2, 4).sum(axis=(2, 4)).reshape(-1, 4)


cases = Cases("mixture.txt")
for name, step, k, (x, y) in (("iris", 10, 3, iris()), ("cancer", 10, 2, (cancer()[0][:, :2], cancer()[1])),
                              ("digits", 100, 10, (quarters(digits()[0]), digits()[1]))):
    for kind in ("full", "tied", "diag", "spherical"):
        weights, means, precisions = start_of(x, y, kind, k)
        weights = weights / weights.sum()
        model = mixture.GaussianMixture(k, covariance_type=kind, tol=1e-4, max_iter=300, weights_init=weights,
                                        means_init=means, precisions_init=precisions).fit(x)
        scores = [mixture.GaussianMixture(k, covariance_type=kind, random_state=seed).fit(x).score(x) for seed in range(20)]
        results = {"weights_init": weights, "means_init": means, "precisions_init": precisions.ravel(),
                   "weights": model.weights_, "means": model.means_, "covariances": model.covariances_.ravel(),
                   "score": model.score(x), "bic": model.bic(x), "aic": model.aic(x), "n_iter": model.n_iter_,
                   "proba": model.predict_proba(x[::step]), "scores": scores}
        for key, value in results.items():
            cases.add(f"{name}.{kind}.{key}", value)
# All pixels. Some are constant in a component, so that only reg_covar makes its covariance positive definite.
x = digits()[0]
cases.add("pixels.full.scores", [mixture.GaussianMixture(10, random_state=seed).fit(x).score(x) for seed in range(20)])
cases.write()
