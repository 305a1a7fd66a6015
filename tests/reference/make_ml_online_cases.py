#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the reference of tests/ml/online: results of scikit-learn 1.2.1, and of the papers' formulas with full matrices.
After each step, only the diagonal of a matrix is kept."""
from statistics import NormalDist

import numpy as np
from sklearn.linear_model import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

from ml_cases import Cases, blobs, every_fifth, labeled, regression, targets

cases = Cases("online.txt")
SETS = {"blobs": blobs(120, 5, 3, 40), "pairs": blobs(90, 4, 2, 50)}
for name, (x, y) in SETS.items():
    models = {"perceptron": Perceptron(shuffle=False), "perceptron.eta": Perceptron(shuffle=False, eta0=0.3, penalty="l2", alpha=0.01)}
    for c in (0.01, 1):
        models[f"pa1.{c}"] = PassiveAggressiveClassifier(C=c, loss="hinge", shuffle=False)
        models[f"pa2.{c}"] = PassiveAggressiveClassifier(C=c, loss="squared_hinge", shuffle=False)
    for key, model in models.items():
        model.fit(x, y)
        cases.add(f"{name}.{key}.w", model.coef_)
        cases.add(f"{name}.{key}.b", model.intercept_)
x, y = regression(80, 7, 1, seed=10)
for kind, loss in (("pa1", "epsilon_insensitive"), ("pa2", "squared_epsilon_insensitive")):
    for c in (0.01, 1):
        model = PassiveAggressiveRegressor(C=c, loss=loss, shuffle=False).fit(x, y)
        cases.add(f"regression.{kind}.{c}.w", model.coef_)
        cases.add(f"regression.{kind}.{c}.b", model.intercept_)

MODELS = {"perceptron": Perceptron, "pa1": PassiveAggressiveClassifier,
          "pa2": lambda **options: PassiveAggressiveClassifier(loss="squared_hinge", **options)}
REGRESSORS = {"pa1": PassiveAggressiveRegressor,
              "pa2": lambda **options: PassiveAggressiveRegressor(loss="squared_epsilon_insensitive", **options)}
for kind, models, sets in (("classifier", MODELS, labeled()), ("regressor", REGRESSORS, targets())):
    for name, (x, y) in sets.items():
        x, y, test_x, test_y = every_fifth(x, y)
        for key, model in models.items():
            cases.add_seeds(f"{name}.{kind}.{key}", lambda seed: model(random_state=seed).fit(x, y).score(test_x, test_y))


def cw(phi, m, v, s, x):
    b = 1 + 2 * phi * m
    a = max(0, (-b + np.sqrt(b * b - 8 * phi * (m - phi * v))) / (4 * phi * v))
    return a, np.linalg.inv(np.linalg.inv(s) + 2 * a * phi * np.diag(x * x))


def scw1(phi, c, m, v, s, x):
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    if phi * np.sqrt(v) - m <= 0:
        return 0, s
    a = min(c, max(0, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)))
    u = (-a * v * phi + np.sqrt(a**2 * v**2 * phi**2 + 4 * v))**2 / 4
    return a, s - a * phi / (np.sqrt(u) + v * a * phi) * s @ np.outer(x, x) @ s


def arow(r, m, v, s, x):
    if m >= 1:
        return 0, s
    return (1 - m) / (v + r), s - s @ np.outer(x, x) @ s / (v + r)


def nherd(c, m, v, s, x):
    if m >= 1:
        return 0, s
    return (1 - m) / (v + 1 / c), np.linalg.inv(np.linalg.inv(s) + (2 * c + c * c * v) * np.diag(x * x))


def learn(step, x, y, passes):
    """Labels are -1 and 1."""
    x = np.hstack([x, np.ones((len(x), 1))])
    w, s = np.zeros(x.shape[1]), np.eye(x.shape[1])
    for _ in range(passes):
        before = w.copy()
        for row, label in zip(x, y):
            a, after = step(label * (w @ row), row @ s @ row, s, row)
            w, s = w + a * label * (s @ row), np.diag(np.diag(after)) if a else s
        if (w == before).all():
            break
    return w, np.diag(s)


def phi(eta):
    return NormalDist().inv_cdf(eta)


STEPS = {"cw.0.9": lambda *a: cw(phi(0.9), *a), "cw.0.6": lambda *a: cw(phi(0.6), *a), "scw.0.9.1": lambda *a: scw1(phi(0.9), 1, *a),
         "scw.0.9.0.05": lambda *a: scw1(phi(0.9), 0.05, *a), "scw.0.7.1": lambda *a: scw1(phi(0.7), 1, *a),
         "arow.1": lambda *a: arow(1, *a), "arow.0.1": lambda *a: arow(0.1, *a), "nherd.0.1": lambda *a: nherd(0.1, *a),
         "nherd.2": lambda *a: nherd(2, *a)}
for name, (x, y) in SETS.items():
    for key, step in STEPS.items():
        targets = [y == 1] if y.max() == 1 else [y == c for c in range(y.max() + 1)]
        results = [learn(step, x, np.where(t, 1, -1), 3) for t in targets]
        cases.add(f"{name}.{key}.w", np.array([w[:-1] for w, _ in results]))
        cases.add(f"{name}.{key}.b", [w[-1] for w, _ in results])
        cases.add(f"{name}.{key}.variances", np.array([s[:-1] for _, s in results]))
cases.write()
