#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/reference/ml/synthetic_*.txt: scikit-learn 1.2.1 on 20 sets of different shapes, which
tests/support/synthetic_sets.h makes too. Convex problems are solved to a small tolerance. Without shuffling, the steps of stochastic
gradients are determined. Models that draw random numbers have one score for each of 20 seeds."""
import warnings

import numpy as np
from sklearn import cluster, decomposition, ensemble, metrics, mixture, naive_bayes, neighbors, svm, tree
from sklearn import linear_model as linear
from sklearn.cross_decomposition import CCA

from make_ml_tree_cases import without_ties
from ml_cases import Cases, blobs, f32, regression

SETS = 20
FEW = 6  # samples whose predictions are kept


def classes_of(i):
    return blobs(40 + 31 * i, 2 + i % 7, 2 + i % 4, 300 + 7 * i)


def counts_of(i):
    x, y = classes_of(i)
    return np.maximum(0, np.floor(4 * x) + 4), y


def targets_of(i):
    return regression(30 + 37 * i, 2 + i, 1 + i % 3, 100 + 7 * i)


def one_target_of(i):
    x, y = targets_of(i)
    return x, y if y.ndim == 1 else y[:, 0]


def stretched_of(i):
    """Features of different variances, so that principal components are far apart."""
    x, _ = targets_of(i)
    return f32(x * np.arange(1, x.shape[1] + 1))


def training_part(x, y):
    """The first four fifths, and the rest."""
    rows = len(x) * 4 // 5
    return x[:rows], y[:rows], x[rows:], y[rows:]


def add_linear(cases, name, model, x, y):
    model.fit(x, y)
    cases.add(name + ".w", model.coef_)
    cases.add(name + ".b", model.intercept_)
    cases.add(name + ".score", model.score(x, y))


def linear_cases(cases, i):
    x, y = targets_of(i)
    add_linear(cases, f"{i}.ols", linear.LinearRegression(), x, y)
    add_linear(cases, f"{i}.ridge", linear.Ridge(0.3 * (i + 1), solver="svd"), x, y)
    add_linear(cases, f"{i}.net", linear.ElasticNet(0.02, l1_ratio=0.05 * (i + 1), tol=1e-9, max_iter=5000), x, y)
    x, y = one_target_of(i)
    loss = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")[i % 4]
    add_linear(cases, f"{i}.sgd_regressor", linear.SGDRegressor(loss=loss, shuffle=False), x, y)
    cases.add_seeds(f"{i}.sgd_regressor", lambda seed: linear.SGDRegressor(random_state=seed).fit(x, y).score(x, y))
    x, y = classes_of(i)
    logistic = linear.LogisticRegression(C=0.1 * (i + 1), tol=1e-8, max_iter=200, solver="newton-cg")
    add_linear(cases, f"{i}.logistic", logistic, x, y)
    loss, penalty = ("hinge", "log_loss", "modified_huber")[i % 3], ("l2", "l1", "elasticnet")[i // 3 % 3]
    add_linear(cases, f"{i}.sgd", linear.SGDClassifier(loss=loss, penalty=penalty, alpha=0.01, shuffle=False), x, y)
    cases.add_seeds(f"{i}.sgd", lambda seed: linear.SGDClassifier(alpha=0.01, random_state=seed).fit(x, y).score(x, y))


def online_cases(cases, i):
    x, y = classes_of(i)
    kind = ("hinge", "squared_hinge")[i % 2]
    models = {"perceptron": linear.Perceptron, "pa": lambda **options: linear.PassiveAggressiveClassifier(C=0.1, loss=kind, **options)}
    for name, make in models.items():
        add_linear(cases, f"{i}.{name}", make(shuffle=False), x, y)
        cases.add_seeds(f"{i}.{name}", lambda seed: make(random_state=seed).fit(x, y).score(x, y))
    x, y = one_target_of(i)
    kind = ("epsilon_insensitive", "squared_epsilon_insensitive")[i % 2]
    add_linear(cases, f"{i}.regressor", linear.PassiveAggressiveRegressor(C=0.1, loss=kind, shuffle=False), x, y)
    cases.add_seeds(f"{i}.regressor",
                    lambda seed: linear.PassiveAggressiveRegressor(C=0.1, loss=kind, random_state=seed).fit(x, y).score(x, y))


def svm_cases(cases, i):
    for kernel in ("rbf", "linear"):
        x, y = classes_of(i)
        model = svm.SVC(C=0.2 * (i + 1), kernel=kernel, tol=1e-7, decision_function_shape="ovo").fit(x, y)
        cases.add(f"{i}.svc.{kernel}.decisions", model.decision_function(x[:FEW]), 7)
        cases.add(f"{i}.svc.{kernel}.score", model.score(x, y))
        x, y = one_target_of(i)
        model = svm.SVR(C=0.2 * (i + 1), kernel=kernel, epsilon=0.02 * (i + 1), tol=1e-7).fit(x, y)
        cases.add(f"{i}.svr.{kernel}.predict", model.predict(x[:FEW]), 7)
        cases.add(f"{i}.svr.{kernel}.score", model.score(x, y))


def naive_bayes_cases(cases, i):
    for name, model, (x, y) in (("gaussian", naive_bayes.GaussianNB(), classes_of(i)),
                                ("multinomial", naive_bayes.MultinomialNB(alpha=0.1 * (i + 1)), counts_of(i))):
        model.fit(x, y)
        cases.add(f"{i}.{name}.proba", model.predict_proba(x[:FEW]), 7)
        cases.add(f"{i}.{name}.score", model.score(x, y))


def radius_near(number, train, test):
    """The middle of the widest gap between distances near a number, so that rounding changes no neighbor."""
    distances = np.sort(metrics.pairwise_distances(test, train), axis=None)
    at = np.searchsorted(distances, number)
    near = distances[max(0, at - 10):at + 10]
    gap = np.diff(near).argmax()
    return float(f"{near[gap:gap + 2].mean():.9g}")


def neighbors_cases(cases, i):
    for weights in ("uniform", "distance"):
        x, y, test_x, test_y = training_part(*classes_of(i))
        model = neighbors.KNeighborsClassifier(1 + i % 8, weights=weights).fit(x, y)
        cases.add(f"{i}.{weights}.proba", model.predict_proba(test_x[:FEW]), 7)
        cases.add(f"{i}.{weights}.accuracy", model.score(test_x, test_y))
        x, y, test_x, test_y = training_part(*targets_of(i))
        model = neighbors.KNeighborsRegressor(1 + i % 8, weights=weights).fit(x, y)
        cases.add(f"{i}.{weights}.predict", model.predict(test_x[:FEW]), 7)
        cases.add(f"{i}.{weights}.r2", model.score(test_x, test_y))
    # Some samples of the test have no neighbors, and get the label 0. For the regressor, the radius is larger.
    x, y, test_x, test_y = training_part(*classes_of(i))
    radius = radius_near(0.5 * x.shape[1]**0.5, x, test_x)
    cases.add(f"{i}.radius.classes", radius)
    for weights in ("uniform", "distance"):
        model = neighbors.RadiusNeighborsClassifier(radius, weights=weights, outlier_label=0).fit(x, y)
        cases.add(f"{i}.radius.{weights}.proba", model.predict_proba(test_x[:FEW]), 7)
        cases.add(f"{i}.radius.{weights}.accuracy", model.score(test_x, test_y))
    x, y, test_x, test_y = training_part(*targets_of(i))
    radius = radius_near(0.75 * x.shape[1]**0.5, x, test_x)
    cases.add(f"{i}.radius.targets", radius)
    for weights in ("uniform", "distance"):
        model = neighbors.RadiusNeighborsRegressor(radius, weights=weights).fit(x, y)
        cases.add(f"{i}.radius.{weights}.predict", model.predict(test_x[:FEW]), 7)
        cases.add(f"{i}.radius.{weights}.r2", model.score(test_x, test_y))


def tree_cases(cases, i):
    def add(name, model, parts, **options):
        x, y, test_x, test_y = parts
        fitted = without_ties(name, model, x, y, **options)
        output = fitted.predict_proba if model is tree.DecisionTreeClassifier else fitted.predict
        cases.add(name + ".depth", fitted.max_depth)
        cases.add(name + ".nodes", fitted.tree_.node_count)
        cases.add(name + ".output", np.reshape(output(test_x[:FEW]), (min(FEW, len(test_x)), -1)), 7)
        cases.add(name + ".score", fitted.score(test_x, test_y))
        cases.add_seeds(name, lambda seed: model(max_features="sqrt", random_state=seed, **options).fit(x, y).score(test_x, test_y))

    add(f"{i}.classifier", tree.DecisionTreeClassifier, training_part(*classes_of(i)), criterion=("gini", "entropy")[i % 2])
    add(f"{i}.regressor", tree.DecisionTreeRegressor, training_part(*targets_of(i)))


def ensemble_cases(cases, i):
    options = {"n_estimators": 10, "min_samples_leaf": 1 + i % 3}
    for name, model, parts in (("classifier", ensemble.RandomForestClassifier, training_part(*classes_of(i))),
                               ("regressor", ensemble.RandomForestRegressor, training_part(*targets_of(i)))):
        x, y, test_x, test_y = parts
        cases.add_seeds(f"{i}.{name}",
                        lambda seed: model(max_features="sqrt", random_state=seed, **options).fit(x, y).score(test_x, test_y))


def cluster_cases(cases, i):
    x, _ = classes_of(i)
    k = 3 + i % 5
    model = cluster.KMeans(k, init=x[:k], n_init=1, tol=0, max_iter=1000).fit(x)
    cases.add(f"{i}.inertia", model.inertia_)
    cases.add(f"{i}.centers", model.cluster_centers_, 7)
    cases.add(f"{i}.counts", np.bincount(model.labels_))
    cases.add_seeds(f"{i}.kmeans", lambda seed: cluster.KMeans(k, n_init=1, random_state=seed).fit(x).inertia_)
    cases.add_seeds(f"{i}.mini_batch",
                    lambda seed: cluster.MiniBatchKMeans(k, n_init=1, batch_size=32, random_state=seed).fit(x).inertia_)


def mixture_cases(cases, i):
    x, y = classes_of(i)
    k, d = 2 + i % 4, x.shape[1]
    kinds = {"full": np.tile(3 * np.eye(d), (k, 1, 1)), "tied": 3 * np.eye(d), "diag": np.full((k, d), 3.0), "spherical": np.full(k, 3.0)}
    for kind, precisions in kinds.items():
        model = mixture.GaussianMixture(k, covariance_type=kind, tol=0, max_iter=20, weights_init=np.full(k, 1 / k), means_init=x[:k],
                                        precisions_init=precisions).fit(x)
        cases.add(f"{i}.{kind}.weights", model.weights_, 7)
        cases.add(f"{i}.{kind}.means", model.means_, 7)
        cases.add(f"{i}.{kind}.proba", model.predict_proba(x[:FEW]), 7)
        cases.add(f"{i}.{kind}.score", model.score(x))
    kind = list(kinds)[i % 4]
    cases.add_seeds(f"{i}", lambda seed: mixture.GaussianMixture(k, covariance_type=kind, random_state=seed).fit(x).score(x))


def decomposition_cases(cases, i):
    x, k = stretched_of(i), 1 + i // 2
    models = {"full": decomposition.PCA(k, svd_solver="full"), "incremental": decomposition.IncrementalPCA(k, batch_size=25 + i)}
    for name, model in models.items():
        model.fit(x)
        cases.add(f"{i}.{name}.components", model.components_, 7)
        cases.add(f"{i}.{name}.variance", model.explained_variance_)
        cases.add(f"{i}.{name}.ratio", model.explained_variance_ratio_)
    # Without power iterations, the result depends on the random vectors.
    cases.add_seeds(f"{i}", lambda seed: decomposition.PCA(k, svd_solver="randomized", iterated_power=0, n_oversamples=2,
                                                           random_state=seed).fit(x).explained_variance_ratio_.sum())
    x, _ = classes_of(i)
    x, y = np.split(x, [x.shape[1] // 2], axis=1)
    model = CCA(1, max_iter=100000, tol=1e-14).fit(x, y)
    cases.add(f"{i}.cca.scores", np.hstack(model.transform(x[:FEW], y[:FEW])).T, 7)


warnings.filterwarnings("ignore")
for folder, add_set in {"linear": linear_cases, "online": online_cases, "svm": svm_cases, "naive_bayes": naive_bayes_cases,
                        "neighbors": neighbors_cases, "tree": tree_cases, "ensemble": ensemble_cases, "cluster": cluster_cases,
                        "mixture": mixture_cases, "decomposition": decomposition_cases}.items():
    cases = Cases(f"synthetic_{folder}.txt")
    for i in range(SETS):
        add_set(cases, i)
    cases.write()
