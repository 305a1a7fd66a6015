#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/tree.txt: decision trees of scikit-learn 1.2.1. scikit-learn selects among equally good splits at random.
A case has the largest depth for which 10 seeds give the same tree, so that no tie decides."""
import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ml_cases import Cases, blobs, cancer, digits, iris, regression


def without_ties(name, model, x, y, **options):
    """Returns the tree with the largest depth that no tie decides."""
    for depth in range(7, 0, -1):
        models = [model(max_depth=depth, random_state=seed, **options).fit(x, y) for seed in range(10)]
        trees = [m.tree_ for m in models]
        if all(np.array_equal(t.feature, trees[0].feature) and np.array_equal(t.threshold, trees[0].threshold) for t in trees):
            return models[0]
    raise SystemExit(f"{name}: no depth without ties")


def add(cases, name, model, x, y, **options):
    fitted = without_ties(name, model, x, y, **options)
    tree = fitted.tree_
    leaf = tree.feature < 0
    cases.add(name + ".depth", [fitted.max_depth])
    cases.add(name + ".feature", np.where(leaf, -1, tree.feature))
    cases.add(name + ".threshold", np.where(leaf, 0, tree.threshold))
    cases.add(name + ".apply", fitted.apply(x))
    cases.add(name + ".importance", fitted.feature_importances_)
    cases.add(name + ".score", [fitted.score(x, y)])
    output = fitted.predict_proba if model is DecisionTreeClassifier else fitted.predict
    cases.add(name + ".output", np.reshape(output(x[:15]), (15, -1)))
    print(name, "depth", fitted.max_depth, "nodes", tree.node_count)


if __name__ == "__main__":
    cases = Cases("tree.txt")
    labeled = {"iris": iris(), "cancer": cancer(), "digits": digits(), "blobs": blobs(400, 5, 3, 40), "pairs": blobs(300, 4, 2, 50)}
    x, y = regression(2000, 7, 1, 80)
    labeled["levels"] = x, (y > 1.5).astype(int) + (y > 2.2)
    for name, (x, y) in labeled.items():
        if name == "iris":
            x = x[:, 1:3]  # the widths and lengths of petals give equal splits
        for criterion in ("gini", "entropy"):
            add(cases, f"{name}.{criterion}", DecisionTreeClassifier, x, y, criterion=criterion)
        add(cases, f"{name}.leaf", DecisionTreeClassifier, x, y, min_samples_leaf=7)
        add(cases, f"{name}.split", DecisionTreeClassifier, x, y, min_samples_split=30)
        add(cases, f"{name}.decrease", DecisionTreeClassifier, x, y, min_impurity_decrease=0.01)
        for criterion in ("gini", "entropy"):
            add(cases, f"{name}.weights.{criterion}", DecisionTreeClassifier, x, y, criterion=criterion, class_weight={0: 3.0, 1: 0.3})
        if name == "cancer":
            continue  # ties decide at each depth
        few = np.where(np.arange(len(y)) % 5 == 0, y, y[0])
        add(cases, f"{name}.balanced", DecisionTreeClassifier, x, few, class_weight="balanced")
    targets = {"one": regression(300, 7, 1, 60), "several": regression(200, 5, 3, 70), "iris": (iris()[0][:, :3], iris()[0][:, 3]),
               "digits": (digits()[0], digits()[1].astype(np.float64))}
    for name, (x, y) in targets.items():
        add(cases, f"{name}.error", DecisionTreeRegressor, x, y)
        add(cases, f"{name}.error.leaf", DecisionTreeRegressor, x, y, min_samples_leaf=7)
        add(cases, f"{name}.error.decrease", DecisionTreeRegressor, x, y, min_impurity_decrease=0.02)
    cases.write()
