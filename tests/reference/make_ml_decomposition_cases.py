#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/decomposition.json: PCA, IncrementalPCA and CCA of scikit-learn 1.2.1. Needs scikit-learn."""
from sklearn import cross_decomposition, decomposition

from make_ml_cluster_cases import load, write


def pca_cases():
    cases = []
    for name, count in (("iris", 4), ("breast_cancer", 5), ("digits", 6)):
        x, _ = load(name)
        for whiten in (False, True):
            model = decomposition.PCA(count, whiten=whiten, svd_solver="full").fit(x)
            cases.append({"data": name, "count": count, "whiten": whiten, "components": model.components_,
                          "variance": model.explained_variance_, "ratio": model.explained_variance_ratio_,
                          "singular": model.singular_values_, "noise": model.noise_variance_,
                          "scores": model.transform(x[:5]).T})
    counts = [{"data": name, "ratio": ratio, "count": int(decomposition.PCA(ratio).fit(load(name)[0]).n_components_)}
              for name in ("iris", "breast_cancer", "digits") for ratio in (0.5, 0.9, 0.95, 0.99)]
    x, _ = load("digits")
    wide = decomposition.PCA(7, svd_solver="full").fit(x[:40])  # fewer samples than features
    wide = {"components": wide.components_, "variance": wide.explained_variance_, "ratio": wide.explained_variance_ratio_,
            "noise": wide.noise_variance_}
    return cases, counts, wide


def incremental_cases():
    cases = []
    for name, count, batch in (("iris", 2, 20), ("digits", 5, 300), ("breast_cancer", 3, 150)):
        x, _ = load(name)
        model = decomposition.IncrementalPCA(count, batch_size=batch).fit(x)
        cases.append({"data": name, "count": count, "batch": batch, "components": model.components_,
                      "variance": model.explained_variance_, "ratio": model.explained_variance_ratio_,
                      "noise": model.noise_variance_, "mean": model.mean_})
    return cases


def cca_cases():
    cases = []
    for name, split, count in (("iris", 2, 2), ("breast_cancer", 20, 3)):
        x, _ = load(name)
        for scale in (True, False):
            if name == "breast_cancer" and not scale:
                continue  # its condition is too bad for its power iteration
            model = cross_decomposition.CCA(count, scale=scale, max_iter=100000, tol=1e-14).fit(x[:, :split], x[:, split:])
            a, b = model.transform(x[:, :split], x[:, split:])
            cases.append({"data": name, "split": split, "count": count, "scale": scale, "x_weights": model.x_weights_.T,
                          "y_weights": model.y_weights_.T, "x_loadings": model.x_loadings_.T,
                          "x_rotations": model.x_rotations_.T, "x_scores": a[:6].T, "y_scores": b[:6].T})
    return cases


if __name__ == "__main__":
    pca, counts, wide = pca_cases()
    write("decomposition", {"pca": pca, "counts": counts, "wide": wide, "incremental": incremental_cases(), "cca": cca_cases()})
