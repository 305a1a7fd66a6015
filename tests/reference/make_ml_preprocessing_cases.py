#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the results of scikit-learn 1.2.1 that tests/ml/preprocessing compares."""
import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from ml_cases import Cases, cancer, digits, iris, numbers

cases = Cases("preprocessing.txt")
for name, (x, y) in {"iris": iris(), "digits": digits(), "cancer": cancer()}.items():
    scaler, ranges = StandardScaler().fit(x), MinMaxScaler((-1, 2)).fit(x)
    cases.add(f"{name}.mean", scaler.mean_)
    cases.add(f"{name}.scale", scaler.scale_)
    cases.add(f"{name}.standard", scaler.transform(x[:5]))
    cases.add(f"{name}.min_max", ranges.transform(x[-5:]))
    folds = np.zeros(len(y))
    for i, (_, test) in enumerate(StratifiedKFold(5).split(x, y)):
        folds[test] = i
    cases.add(f"{name}.stratified", folds)
folds = np.zeros(23)
for i, (_, test) in enumerate(KFold(4).split(folds)):
    folds[test] = i
cases.add("kfold.23.4", folds)
x = (numbers(12, 3, 3) * np.array([1, 2, 3]) + 0.5).round().astype(int) * 7
cases.add("one_hot.x", x)
for drop in (None, "first", "if_binary"):
    cases.add(f"one_hot.{drop}", OneHotEncoder(drop=drop, sparse_output=False).fit_transform(x))
cases.write()
