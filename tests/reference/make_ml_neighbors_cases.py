#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/neighbors.json: neighbors and predictions of scikit-learn 1.2.1. Needs scikit-learn."""
import numpy as np
from sklearn import neighbors

from make_ml_cluster_cases import load, write


def cases():
    result = []
    for name, radius in (("iris", 0.5), ("breast_cancer", 40.0), ("digits", 20.0)):
        x, y = load(name)
        test = np.arange(len(x)) % 5 == 0
        train_x, train_y, test_x, test_y = x[~test], y[~test], x[test], y[test]
        model = neighbors.NearestNeighbors(n_neighbors=4, radius=radius, algorithm="brute").fit(train_x)
        distances, _ = model.kneighbors(test_x)
        near, _ = model.radius_neighbors(test_x)
        item = {"data": name, "radius": radius, "distances": distances[:20], "counts": [len(row) for row in near]}
        for weights in ("uniform", "distance"):
            classifier = neighbors.KNeighborsClassifier(7, weights=weights).fit(train_x, train_y)
            regressor = neighbors.KNeighborsRegressor(7, weights=weights).fit(train_x[:, :-1], train_x[:, -1])
            item[weights] = {"accuracy": classifier.score(test_x, test_y), "proba": classifier.predict_proba(test_x[:20]),
                             "r2": regressor.score(test_x[:, :-1], test_x[:, -1])}
        result.append(item)
    return result


if __name__ == "__main__":
    write("neighbors", cases())
