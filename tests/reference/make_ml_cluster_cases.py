#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/cluster.txt: k-means of scikit-learn 1.2.1 from given centers, and over 20 seeds."""
import numpy as np
from sklearn import cluster

from ml_cases import Cases, cancer, digits, f32, iris, numbers

cases = Cases("cluster.txt")
for name, k, (x, _) in (("iris", 3, iris()), ("cancer", 4, cancer()), ("digits", 10, digits())):
    # Samples alone would have pixels in common, and so equal distances, which rounding decides.
    start = f32(x[:: len(x) // k][:k] + numbers(k, x.shape[1], 3) / 8)
    model = cluster.KMeans(k, init=start, n_init=1, tol=0, max_iter=1000).fit(x)
    cases.add(f"{name}.inertia", model.inertia_)
    cases.add(f"{name}.centers", model.cluster_centers_[:, :8])
    cases.add(f"{name}.counts", np.bincount(model.labels_))
    cases.add(f"{name}.inertias", [cluster.KMeans(k, n_init=1, random_state=seed).fit(x).inertia_ for seed in range(20)])
    cases.add(f"{name}.mini_batch", [cluster.MiniBatchKMeans(k, n_init=3, random_state=seed).fit(x).inertia_ for seed in range(20)])
cases.write()
