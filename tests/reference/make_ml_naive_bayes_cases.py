#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/naive_bayes.json: naive Bayes of scikit-learn 1.2.1. Needs scikit-learn."""
from sklearn import naive_bayes

from make_ml_cluster_cases import load, write


def cases():
    result = []
    for name in ("iris", "breast_cancer", "digits"):
        x, y = load(name)
        gaussian = naive_bayes.GaussianNB().fit(x, y)
        multinomial = naive_bayes.MultinomialNB(alpha=0.5).fit(x, y)
        result.append({"data": name,
                       "gaussian": {"theta": gaussian.theta_, "var": gaussian.var_, "prior": gaussian.class_prior_,
                                    "accuracy": gaussian.score(x, y), "proba": gaussian.predict_proba(x[::25])},
                       "multinomial": {"log_prob": multinomial.feature_log_prob_, "log_prior": multinomial.class_log_prior_,
                                       "accuracy": multinomial.score(x, y), "proba": multinomial.predict_proba(x[::25])}})
    return result


if __name__ == "__main__":
    write("naive_bayes", cases())
