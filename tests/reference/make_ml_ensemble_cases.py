#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/ensemble.txt: scores of random forests of scikit-learn 1.2.1 on samples that they have not seen, for 20
seeds. Every fifth sample is held out. Also the scores of single trees, because ties decide them."""
import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ml_cases import Cases, blobs, cancer, digits, iris, regression

SEEDS = 20


def add(cases, name, make, x, y):
    test = np.arange(len(y)) % 5 == 0
    models = [make(seed).fit(x[~test], y[~test]) for seed in range(SEEDS)]
    scores = [m.score(x[test], y[test]) for m in models]
    cases.add(name + ".scores", scores)
    if hasattr(models[0], "oob_score_"):
        cases.add(name + ".oob", [m.oob_score_ for m in models])
    if hasattr(models[0], "estimators_"):
        cases.add(name + ".nodes", [sum(t.tree_.node_count for t in m.estimators_) for m in models])
        cases.add(name + ".importance", np.mean([m.feature_importances_ for m in models], axis=0))
    print(name, np.mean(scores), np.std(scores, ddof=1) / SEEDS**0.5)


if __name__ == "__main__":
    cases = Cases("ensemble.txt")
    options = {"n_estimators": 25, "oob_score": True}
    labeled = {"iris": iris(), "cancer": cancer(), "digits": digits(), "blobs": blobs(600, 5, 3, 40)}
    for name, (x, y) in labeled.items():
        add(cases, name, lambda seed: RandomForestClassifier(**options, random_state=seed), x, y)
        add(cases, name + ".tree", lambda seed: DecisionTreeClassifier(random_state=seed), x, y)
    x, y = labeled["blobs"]
    add(cases, "blobs.entropy", lambda seed: RandomForestClassifier(**options, criterion="entropy", random_state=seed), x, y)
    add(cases, "blobs.leaf", lambda seed: RandomForestClassifier(**options, min_samples_leaf=5, random_state=seed), x, y)
    add(cases, "blobs.all", lambda seed: RandomForestClassifier(25, bootstrap=False, max_features="log2", random_state=seed), x, y)
    x, y = regression(600, 7, 1, 60)
    add(cases, "one", lambda seed: RandomForestRegressor(**options, random_state=seed), x, y)
    add(cases, "one.third", lambda seed: RandomForestRegressor(**options, max_features=0.34, random_state=seed), x, y)
    add(cases, "one.tree", lambda seed: DecisionTreeRegressor(random_state=seed), x, y)
    x, y = regression(400, 5, 3, 70)
    add(cases, "several", lambda seed: RandomForestRegressor(**options, random_state=seed), x, y)
    cases.write()
