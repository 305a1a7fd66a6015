#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/neighbors.txt: neighbors and predictions of scikit-learn 1.2.1. Every fifth sample is a query."""
import numpy as np
from sklearn import neighbors

from ml_cases import Cases, cancer, digits, iris

cases = Cases("neighbors.txt")
for name, radius, (x, y) in (("iris", 0.505, iris()), ("cancer", 40.0, cancer()), ("digits", 20.0, digits())):
    test = np.arange(len(x)) % 5 == 0
    train_x, train_y, test_x, test_y = x[~test], y[~test], x[test], y[test]
    model = neighbors.NearestNeighbors(n_neighbors=4, radius=radius, algorithm="brute").fit(train_x)
    near, _ = model.radius_neighbors(test_x)
    cases.add(f"{name}.radius", radius)
    cases.add(f"{name}.distances", model.kneighbors(test_x)[0][:20])
    cases.add(f"{name}.counts", [len(row) for row in near])
    for weights in ("uniform", "distance"):
        classifier = neighbors.KNeighborsClassifier(7, weights=weights).fit(train_x, train_y)
        regressor = neighbors.KNeighborsRegressor(7, weights=weights).fit(train_x[:, :-1], train_x[:, -1])
        cases.add(f"{name}.{weights}.accuracy", classifier.score(test_x, test_y))
        cases.add(f"{name}.{weights}.proba", classifier.predict_proba(test_x[:20]))
        within = neighbors.RadiusNeighborsClassifier(radius, weights=weights, outlier_label=-1).fit(train_x, train_y)
        cases.add(f"{name}.{weights}.within", within.predict(test_x))
        cases.add(f"{name}.{weights}.within_proba", within.predict_proba(test_x[:20]))
        mean = neighbors.RadiusNeighborsRegressor(8 * radius, weights=weights).fit(train_x[:, :-1], train_x[:, -1])
        cases.add(f"{name}.{weights}.within_mean", mean.predict(test_x[:20, :-1]))
        cases.add(f"{name}.{weights}.r2", regressor.score(test_x[:, :-1], test_x[:, -1]))
cases.write()
