#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/mixture.json: Gaussian mixtures of scikit-learn 1.2.1. Needs scikit-learn."""
import numpy as np
from sklearn import mixture

from make_ml_cluster_cases import load, write


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
    return [np.asarray(v, np.float32).astype(np.float64) for v in (weights, means, precisions)]


def cases():
    result = []
    for name, columns, k in (("iris", 4, 3), ("breast_cancer", 2, 2)):
        x, y = load(name)
        x = x[:, :columns]
        for kind in ("full", "tied", "diag", "spherical"):
            weights, means, precisions = start_of(x, y, kind, k)
            weights = weights / weights.sum()
            model = mixture.GaussianMixture(k, covariance_type=kind, tol=1e-4, max_iter=300, weights_init=weights,
                                            means_init=means, precisions_init=precisions).fit(x)
            scores = [mixture.GaussianMixture(k, covariance_type=kind, random_state=seed).fit(x).score(x) for seed in range(20)]
            result.append({"data": name, "columns": columns, "k": k, "type": kind,
                           "weights_init": weights, "means_init": means, "precisions_init": precisions,
                           "weights": model.weights_, "means": model.means_, "covariances": model.covariances_,
                           "score": model.score(x), "bic": model.bic(x), "aic": model.aic(x), "n_iter": model.n_iter_,
                           "proba": model.predict_proba(x[::10]), "scores": scores})
    return result


if __name__ == "__main__":
    write("mixture", cases())
