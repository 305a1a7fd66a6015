#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/naive_bayes.txt: naive Bayes of scikit-learn 1.2.1."""
from sklearn import naive_bayes

from ml_cases import Cases, cancer, digits, iris

cases = Cases("naive_bayes.txt")
for name, (x, y) in (("iris", iris()), ("cancer", cancer()), ("digits", digits())):
    gaussian = naive_bayes.GaussianNB().fit(x, y)
    multinomial = naive_bayes.MultinomialNB(alpha=0.5).fit(x, y)
    results = {"gaussian.theta": gaussian.theta_, "gaussian.var": gaussian.var_, "gaussian.prior": gaussian.class_prior_,
               "gaussian.accuracy": gaussian.score(x, y), "gaussian.proba": gaussian.predict_proba(x[::25]),
               "multinomial.log_prob": multinomial.feature_log_prob_, "multinomial.log_prior": multinomial.class_log_prior_,
               "multinomial.accuracy": multinomial.score(x, y), "multinomial.proba": multinomial.predict_proba(x[::25])}
    for key, value in results.items():
        cases.add(f"{name}.{key}", value)
cases.write()
