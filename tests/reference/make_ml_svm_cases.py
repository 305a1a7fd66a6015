#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the results of scikit-learn 1.2.1 that tests/ml/svm compares. All problems are solved to a small tolerance."""
import numpy as np
from sklearn.svm import SVC, SVR

from ml_cases import Cases, blobs, labeled, regression, targets

cases = Cases("svm.txt")
LABELED = {**labeled(), "blobs": blobs(120, 5, 3, 40), "pairs": blobs(90, 4, 2, 50)}
KERNELS = {"rbf": dict(), "auto": dict(gamma="auto", C=10), "number": dict(gamma=0.05, C=0.5), "linear": dict(kernel="linear"),
           "poly": dict(kernel="poly", coef0=1), "poly2": dict(kernel="poly", degree=2, C=2)}
for name, (x, y) in LABELED.items():
    few = x[:: max(1, len(x) // 15)]
    for kernel, options in KERNELS.items():
        model = SVC(tol=1e-7, decision_function_shape="ovo", **options).fit(x, y)
        key = f"{name}.{kernel}"
        cases.add(key + ".ovo", model.decision_function(few), 7)
        cases.add(key + ".b", model.intercept_, 7)
        cases.add(key + ".n", model.n_support_)
        cases.add(key + ".score", model.score(x, y))
        cases.add(key + ".sum", np.abs(model.dual_coef_).sum(axis=1), 7)
    model = SVC(tol=1e-7).fit(x, y)
    cases.add(name + ".ovr", model.decision_function(few), 7)
    cases.add(name + ".predict", model.predict(x))
    cases.add(name + ".support", model.support_)
    rare = np.where(np.arange(len(y)) % 5 == 0, y, y[0])
    model = SVC(tol=1e-7, decision_function_shape="ovo", class_weight="balanced").fit(x, rare)
    cases.add(name + ".balanced.ovo", model.decision_function(few), 7)
    cases.add(name + ".balanced.score", model.score(x, rare))

for name, (x, y) in {"tall": regression(80, 7, 1, 10), **targets()}.items():
    few = x[:: max(1, len(x) // 15)]
    for kernel, options in KERNELS.items():
        for epsilon in (0.1, 0.3):
            model = SVR(tol=1e-6, epsilon=epsilon, **options).fit(x, y)
            key = f"{name}.svr.{kernel}.{epsilon}"
            cases.add(key + ".predict", model.predict(few), 7)
            cases.add(key + ".b", model.intercept_, 7)
            cases.add(key + ".n", len(model.support_))
            cases.add(key + ".score", model.score(x, y))
cases.write()
