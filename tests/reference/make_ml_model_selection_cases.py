#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the results of scikit-learn 1.2.1 that tests/ml/model_selection compares. Without shuffling, the folds are determined."""
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.svm import SVC

from ml_cases import Cases, cancer, iris, regression, scaled

cases = Cases("model_selection.txt")
LABELED = {"iris": iris(), "cancer": (scaled(cancer()[0]), cancer()[1])}
GRID = {"C": [0.1, 1, 10], "gamma": ["scale", 0.01, 0.1]}  # gamma changes first
for name, (x, y) in LABELED.items():
    cases.add(name + ".svc", cross_val_score(SVC(tol=1e-6), x, y, cv=5))
    cases.add(name + ".linear3", cross_val_score(SVC(kernel="linear", tol=1e-6), x, y, cv=3))
    cases.add(name + ".kfold", cross_val_score(SVC(tol=1e-6), x, y, cv=KFold(4)))
    cases.add(name + ".logistic", cross_val_score(LogisticRegression(tol=1e-7, max_iter=1000, solver="newton-cg"), x, y, cv=5))
    search = GridSearchCV(SVC(tol=1e-6), GRID, cv=5).fit(x, y)
    for key in ("mean_test_score", "std_test_score", "rank_test_score"):
        cases.add(f"{name}.{key}", search.cv_results_[key])
    cases.add(name + ".best", [search.best_index_, search.best_score_, search.score(x, y)])
x, y = regression(80, 7, 1, 10)
cases.add("tall.ridge", cross_val_score(Ridge(), x, y, cv=5))
search = GridSearchCV(Ridge(), {"alpha": [0.01, 1, 100]}, cv=5).fit(x, y)
cases.add("tall.mean_test_score", search.cv_results_["mean_test_score"])
cases.add("tall.rank_test_score", search.cv_results_["rank_test_score"])
cases.write()
