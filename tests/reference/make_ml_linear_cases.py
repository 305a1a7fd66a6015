#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the results of scikit-learn 1.2.1 that tests/ml/linear compares. Convex problems are solved to a small tolerance."""
import warnings

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, SGDClassifier, SGDRegressor

from ml_cases import Cases, blobs, cancer, every_fifth, iris, labeled, regression, targets

warnings.filterwarnings("ignore")
cases = Cases("linear.txt")


def add(name, model, x, y):
    model.fit(x, y)
    cases.add(name + ".w", model.coef_)
    cases.add(name + ".b", model.intercept_)
    cases.add(name + ".score", model.score(x, y))


def add_nets(name, x, y):
    for alpha in (0.01, 0.1):
        add(f"{name}.lasso.{alpha}", Lasso(alpha, tol=1e-9, max_iter=5000), x, y)
        add(f"{name}.net.{alpha}", ElasticNet(alpha, l1_ratio=0.5, tol=1e-9, max_iter=5000), x, y)
    add(f"{name}.positive", Lasso(0.01, positive=True, tol=1e-9, max_iter=5000), x, y)


class LeastNorm(LinearRegression):
    """scikit-learn cuts singular values at epsilon. With some LAPACKs, equal columns have larger ones, and weights of 1e12."""

    def fit(self, x, y):
        x_mean, y_mean = x.mean(axis=0), y.mean(axis=0)
        self.coef_ = np.linalg.lstsq(x - x_mean, y - y_mean, rcond=1e-12)[0]
        self.intercept_ = y_mean - x_mean @ self.coef_
        return self


SHAPES = {"tall": (80, 7, 1), "wide": (12, 30, 1), "outputs": (60, 5, 3), "long": (20000, 4, 1), "many": (400, 150, 2)}
SETS = {name: regression(*shape, seed=10 + i) for i, (name, shape) in enumerate(SHAPES.items())}
x, y = SETS["tall"]
SETS["duplicate"] = (np.hstack([x, x[:, :2]]), y)
SETS["iris"] = (iris()[0][:, :3], iris()[0][:, 3])
SETS["cancer"] = (cancer()[0][:, 1:], cancer()[0][:, 0])
SETS["digits"] = targets()["digits"]
for name, (x, y) in SETS.items():
    add(f"{name}.ols", LeastNorm() if name == "duplicate" else LinearRegression(), x, y)
    add(f"{name}.origin", LinearRegression(fit_intercept=False), x, y)
    for alpha in (0.1, 1, 100):
        add(f"{name}.ridge.{alpha}", Ridge(alpha, solver="svd"), x, y)
    if name not in ("iris", "cancer", "digits", "duplicate", "long"):
        add_nets(name, x, y)
TARGETS = targets()
for name, (x, y) in TARGETS.items():
    add_nets(name, x, y)

LABELED = {**labeled(), "blobs": blobs(120, 5, 3, 40), "pairs": blobs(90, 4, 2, 50)}
for name, (x, y) in LABELED.items():
    # newton-cg reaches a smaller gradient than lbfgs does
    add(f"{name}.logistic", LogisticRegression(tol=1e-7, max_iter=200, solver="newton-cg"), x, y)
    add(f"{name}.logistic.c", LogisticRegression(C=0.05, tol=1e-7, max_iter=200, solver="newton-cg"), x, y)
    add(f"{name}.logistic.balanced", LogisticRegression(class_weight="balanced", tol=1e-7, max_iter=200, solver="newton-cg"), x,
        np.where(np.arange(len(y)) % 5 == 0, y, y[0]))
    cases.add(f"{name}.logistic.proba", LogisticRegression(tol=1e-7, max_iter=200, solver="newton-cg").fit(x, y).predict_proba(x[-3:]))

# Without shuffling, each step is determined.
for name in ("blobs", "pairs"):
    x, y = LABELED[name]
    for loss in ("hinge", "squared_hinge", "log_loss", "huber", "squared_error"):
        rate = dict(learning_rate="invscaling", eta0=0.02) if loss in ("squared_error", "squared_hinge") else {}
        for penalty in ("l2", "l1", "elasticnet"):
            add(f"{name}.sgd.{loss}.{penalty}", SGDClassifier(loss=loss, penalty=penalty, alpha=0.01, shuffle=False, **rate), x, y)
    for loss in ("modified_huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
        add(f"{name}.sgd.{loss}", SGDClassifier(loss=loss, alpha=0.01, shuffle=False, learning_rate="invscaling", eta0=0.02), x, y)
    add(f"{name}.sgd.average", SGDClassifier(average=True, alpha=0.01, shuffle=False), x, y)
    weights = {0: 3.0, 1: 0.5}
    add(f"{name}.sgd.weights", SGDClassifier(class_weight=weights, alpha=0.01, shuffle=False), x, y)
    add(f"{name}.sgd.balanced", SGDClassifier(class_weight="balanced", alpha=0.01, shuffle=False), x[:70], np.minimum(np.arange(70) % 5, y.max()))
    add(f"{name}.sgd.adaptive", SGDClassifier(learning_rate="adaptive", eta0=0.1, alpha=0.01, shuffle=False), x, y)
x, y = SETS["tall"]
for loss in ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
    add(f"tall.sgd.{loss}", SGDRegressor(loss=loss, shuffle=False), x, y)
add("tall.sgd.constant", SGDRegressor(learning_rate="constant", eta0=0.05, penalty="l1", alpha=0.003, shuffle=False), x, y)

# With shuffling, each seed has its own score on samples that the model has not seen.
LOSSES = {SGDClassifier: ("hinge", "log_loss", "modified_huber"),
          SGDRegressor: ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")}
for model, sets in ((SGDClassifier, labeled()), (SGDRegressor, TARGETS)):
    for name, (x, y) in sets.items():
        x, y, test_x, test_y = every_fifth(x, y)
        for loss in LOSSES[model]:
            cases.add_seeds(f"{name}.{model.__name__}.{loss}",
                            lambda seed: model(loss=loss, random_state=seed).fit(x, y).score(test_x, test_y))
cases.write()
