#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the results of scikit-learn 1.2.1 that tests/ml/metrics compares."""
import numpy as np
from sklearn import metrics as m

from ml_cases import Cases, digits, f32, iris, numbers, regression

cases = Cases("metrics.txt")
for name, classes, rows in (("two", 2, 90), ("four", 4, 200)):
    truth = ((numbers(rows, 1, 5)[:, 0] + 1) * classes / 2).astype(int) * 3 - 2
    noise = ((numbers(rows, 1, 6)[:, 0] + 1) * classes / 2).astype(int) * 3 - 2
    predicted = np.where(numbers(rows, 1, 7)[:, 0] > 0.2, noise, truth)
    cases.add(f"{name}.truth", truth)
    cases.add(f"{name}.predicted", predicted)
    cases.add(f"{name}.accuracy", m.accuracy_score(truth, predicted))
    cases.add(f"{name}.confusion", m.confusion_matrix(truth, predicted))
    for average in ("micro", "macro", "weighted"):
        scores = [f(truth, predicted, average=average) for f in (m.precision_score, m.recall_score, m.f1_score)]
        cases.add(f"{name}.{average}", scores)
    cases.add(f"{name}.classes", np.array(m.precision_recall_fscore_support(truth, predicted)))
    if classes == 2:
        cases.add("two.binary", [f(truth, predicted, pos_label=1) for f in (m.precision_score, m.recall_score, m.f1_score)])
        scores = f32(np.round(numbers(rows, 1, 8)[:, 0] * 8 + (truth == 1) * 3) / 4)
        cases.add("two.scores", scores)
        for drop in (False, True):
            fpr, tpr, thresholds = m.roc_curve(truth, scores, pos_label=1, drop_intermediate=drop)
            cases.add(f"two.roc.{int(drop)}", np.array([fpr, tpr, thresholds]))
        cases.add("two.auc", m.roc_auc_score(truth, scores))
    else:
        p = np.exp(numbers(rows, classes, 9) * 2) * (1 + 3 * (truth[:, None] == np.unique(truth)))
        p = f32(p / p.sum(axis=1, keepdims=True))
        p = p / p.sum(axis=1, keepdims=True)
        cases.add("four.probabilities", f32(p))
        for multi in ("ovr", "ovo"):
            for average in ("macro", "weighted"):
                cases.add(f"four.auc.{multi}.{average}", m.roc_auc_score(truth, p, multi_class=multi, average=average))
x, truth = regression(50, 4, 3, 1)
predicted = f32(truth + 0.3 * numbers(50, 3, 2))
cases.add("r2", [m.r2_score(truth, predicted), m.r2_score(truth, predicted, multioutput="variance_weighted"),
                 m.mean_squared_error(truth, predicted)])
x, y = iris()
cases.add("silhouette.iris", m.silhouette_score(x, y))
cases.add("silhouette.iris.samples", m.silhouette_samples(x, y))
x, y = digits()
cases.add("silhouette.digits", m.silhouette_score(x[:700], y[:700]))
cases.write()
