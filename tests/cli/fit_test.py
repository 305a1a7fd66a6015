#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kaiseki fit and apply: a user's way from a CSV file to predictions, for each kind of model, and all errors on it."""
import csv
import json
import pathlib
import subprocess

from npy import read_npy, write_npy
from support import ROOT, check, main, refuses, skip, works


def numbers(name):
    """The matrix with this name in tests/reference/ml/iris.txt."""
    for line in (ROOT / "tests/reference/ml/iris.txt").read_text().splitlines():
        word, rows, columns, *values = line.split()
        if word == name:
            columns = int(columns)
            values = list(map(float, values))
            return [values[i:i + columns] for i in range(0, int(rows) * columns, columns)]
    raise KeyError(name)


def write_csv(name, header, rows):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows] if header else rows)


PYTHON = "/usr/bin/python3"  # Debian's, which has python3-onnx
REFERENCE = pathlib.Path(__file__).resolve().parent / "onnx_ml_reference.py"
SPECIES = ["setosa", "versicolor", "virginica"]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SAMPLES = numbers("x")
LABELS = [int(value) for row in numbers("y") for value in row]


def write_iris():
    write_csv("iris.csv", [*NAMES, "species"], [[*x, SPECIES[y]] for x, y in zip(SAMPLES, LABELS)])
    write_npy("x.npy", (150, 4), [value for row in SAMPLES for value in row])
    write_npy("y.npy", (150,), LABELS, "i")


def classification():
    write_iris()
    done = works("fit", "LogisticRegression", "--data", "iris.csv", "--target", "species", "--save", "m.safetensors",
                 "--test-size", 0.25)
    check("training (112)" in done.stdout and "test (38)" in done.stdout, "the table has both parts", done.stdout)
    check("virginica" in done.stdout, "the table has a line for each class", done.stdout)
    predicted = works("apply", "m.safetensors", "--data", "iris.csv").stdout.split()
    right = sum(name == SPECIES[y] for name, y in zip(predicted, LABELS))
    check(len(predicted) == 150 and right >= 140, "names are predicted", right)
    score = json.loads(works("apply", "m.safetensors", "--data", "iris.csv", "--target", "species", "--json").stdout)
    check(score["samples"] == 150 and abs(score["accuracy"] - right / 150) < 1e-6, "--target gives the score", score)
    works("apply", "m.safetensors", "--data", "iris.csv", "--use", "predict_proba", "--output", "p.npy")
    shape, values = read_npy("p.npy")
    check(shape == (150, 3) and abs(sum(values) - 150) < 1e-3, "probabilities are written", shape)
    works("apply", "m.safetensors", "--data", "iris.csv", "--output", "p.csv")
    check(pathlib.Path("p.csv").read_text().split() == predicted, "--output has what is printed without it")


def regression_and_settings():
    write_iris()
    done = works("fit", "Ridge", "--data", "iris.csv", "--target", "petal width", "--set", "alpha=0.5", "--scale",
                 "--save", "r.safetensors", "--json")
    line = json.loads(done.stdout)
    check(line["features"] == 6 and line["r2"] > 0.9, "texts become features of their own", line)
    again = json.loads(works("apply", "r.safetensors", "--data", "iris.csv", "--target", "petal width", "--json").stdout)
    check(abs(again["score"] - line["r2"]) < 1e-5, "the score is the same after loading", again)


def grid():
    write_iris()
    done = works("fit", "SVC", "--data", "iris.csv", "--target", "species", "--grid", "C=0.001,1", "--grid", "gamma=0.1,scale",
                 "--scale", "--folds", 3, "--save", "g.safetensors")
    lines = [line.split() for line in done.stdout.splitlines()]
    ranks = [line for line in lines if line and line[0].isdigit()]
    check(len(ranks) == 4 and ranks[0][0] == "1" and ranks[0][1] == "C=1", "the best settings come first", done.stdout)
    line = json.loads(works("fit", "SVC", "--data", "iris.csv", "--target", "species", "--grid", "C=0.001,1", "--json",
                            "--save", "g.safetensors").stdout)
    check(line["settings"]["C"] == 1, "the saved model has the best settings", line)
    check([entry["settings"] for entry in line["search"]] == [{"C": 0.001}, {"C": 1}], "--json has the candidates", line)
    check([entry["rank_test_score"] for entry in line["search"]] == [2, 1], "--json has their ranks", line)
    best = line["search"][1]
    check(abs(sum(best["split_test_scores"]) / 5 - best["mean_test_score"]) < 1e-9 and best["std_test_score"] < 0.1,
          "--json has their scores", best)
    fit = ["--data", "iris.csv", "--target", "species", "--save", "e.safetensors"]
    refuses(["--grid", "each name once", "'C'"], "fit", "SVC", *fit, "--set", "C=1", "--grid", "C=1,2")
    refuses(["--grid", "NAME=VALUE"], "fit", "SVC", *fit, "--grid", "C=")
    refuses(["--grid", "D"], "fit", "SVC", *fit, "--grid", "D=1,2")
    refuses(["--grid: settings: C: expected a number"], "fit", "SVC", *fit, "--grid", "C=1,x")
    refuses(["--grid: expected n_neighbors of at most 120"], "fit", "KNeighborsClassifier", *fit, "--grid", "n_neighbors=1,130")
    refuses(["--grid", "classification or a regression"], "fit", "KMeans", "--data", "x.npy", "--save", "e.safetensors", "--grid", "n_clusters=2,3")


def clusters_and_components():
    write_iris()
    works("fit", "KMeans", "--data", "x.npy", "--set", "n_clusters=3", "--save", "k.safetensors")
    labels = works("apply", "k.safetensors", "--data", "x.npy").stdout.split()
    check(len(set(labels)) == 3 and len(set(labels[:50])) == 1, "the first species is one cluster", labels)
    works("fit", "PCA", "--data", "x.npy", "--set", "n_components=2", "--save", "p.safetensors")
    rows = works("apply", "p.safetensors", "--data", "x.npy").stdout.splitlines()
    check(len(rows) == 150 and rows[0].count(",") == 1, "two components of each sample", rows[:1])


def matrices():
    write_iris()
    works("fit", "KNeighborsClassifier", "--data", "x.npy", "--target", "y.npy", "--save", "n.safetensors")
    score = json.loads(works("apply", "n.safetensors", "--data", "x.npy", "--target", "y.npy", "--json").stdout)
    check(score["accuracy"] > 0.95, "labels of a .npy file", score)
    done = works("apply", "n.safetensors", "--data", "x.npy", "--output", "n.npy", "--json")
    check(json.loads(done.stdout) == {"samples": 150}, "--json without --target is a line too", done.stdout)
    check(read_npy("n.npy")[0] == (150,), "--output with --json")


def columns_learn_from_the_training_part():
    rows = [[i if i % 3 else "", "ab"[i % 2], i] for i in range(16)]
    write_csv("leak.csv", ["a", "b", "y"], rows)
    fit = ["fit", "Ridge", "--data", "leak.csv", "--target", "y", "--missing", "mean", "--save", "l.safetensors", "--json"]
    works(*fit)
    write_csv("empty.csv", ["a", "b"], [["", "a"]])
    whole = works("apply", "l.safetensors", "--data", "empty.csv").stdout
    line = json.loads(works(*fit, "--test-size", 0.5).stdout)
    check(line["samples"] == 8 and line["test_samples"] == 8 and line["features"] == 3, "both parts have all columns", line)
    # A change of the test part must not change the model. So each row is changed once: half of them must have no effect.
    def prediction():
        works(*fit, "--test-size", 0.5)
        return works("apply", "l.safetensors", "--data", "empty.csv").stdout
    expected, same = prediction(), 0
    check(expected != whole, "the model depends on the part")
    for i, row in enumerate(rows):
        write_csv("leak.csv", ["a", "b", "y"], [*rows[:i], [1000, *row[1:]], *rows[i + 1:]])
        same += prediction() == expected
    check(same == 8, "the mean is that of the training part", same)
    write_csv("leak.csv", ["a", "b", "y"], [[i, f"t{i}", i] for i in range(40)])
    refuses(["--test-size: leak.csv: line", "column 2 (b): expected a text of the training data, got 't"], *fit, "--test-size", 0.5)
    write_csv("leak.csv", ["a", "b", "y"], [[1, "x", 1], [2, "x", 2], [3, "x", 3], ["", "x", 4]])
    for seed in range(5):
        refuses(["--data: leak.csv: line 5, column 1 (a): expected a value, got none"],
                "fit", "Ridge", "--data", "leak.csv", "--target", "y", "--save", "e.safetensors", "--test-size", 0.5, "--seed", seed)


def only_texts():
    write_csv("words.csv", ["color", "kind"], [["red", "a"], ["blue", "b"], ["red", "a"]])
    fit = ["fit", "DecisionTreeClassifier", "--data", "words.csv", "--save", "w.safetensors", "--json"]
    done = works(*fit, "--target", "kind")
    check(json.loads(done.stdout)["samples"] == 3 and "--header" not in done.stderr, "--target finds the line of names", done)
    check(works("apply", "w.safetensors", "--data", "words.csv").stdout.split() == ["a", "b", "a"], "without the line of names")
    done = works(*fit, "--target", "2")
    check(json.loads(done.stdout)["samples"] == 4 and "warning: words.csv: all cells are texts" in done.stderr and
          "--header yes" in done.stderr, "a line of names may count as a row", done.stderr)
    check("warning" not in works(*fit, "--target", "2", "--header", "no").stderr, "--header no: no warning")
    refuses(["got 'size'. If the first line has names, use --header yes"], *fit, "--target", "size")


def outliers():
    """A query without neighbors has a label that is none of the classes."""
    pathlib.Path("animals.csv").write_text("a,s\n1,cat\n1.5,cat\n9,dog\n")
    pathlib.Path("far.csv").write_text("a\n1.2\n50\n")
    works("fit", "RadiusNeighborsClassifier", "--data", "animals.csv", "--target", "s", "--set", "outlier_label=-1", "--save", "o.safetensors")
    check(works("apply", "o.safetensors", "--data", "far.csv").stdout.split() == ["cat", "-1"], "the label of outliers is a number")
    works("fit", "RadiusNeighborsClassifier", "--data", "animals.csv", "--target", "s", "--save", "o.safetensors")
    refuses(["around query 1", "set outlier_label"], "apply", "o.safetensors", "--data", "far.csv")


def convergence():
    write_iris()
    fit = ["fit", "LogisticRegression", "--data", "iris.csv", "--target", "species", "--scale", "--save", "c.safetensors", "--json"]
    done = works(*fit)
    check(json.loads(done.stdout)["converged"] is True and "warning" not in done.stderr, "a fit that converges", done)
    done = works(*fit, "--set", "max_iter=1")
    check(json.loads(done.stdout)["converged"] is False, "--json tells it", done.stdout)
    check("warning: LogisticRegression did not converge. Raise max_iter" in done.stderr, "a warning", done.stderr)
    line = json.loads(works("fit", "Ridge", "--data", "iris.csv", "--target", "petal width", "--save", "c.safetensors",
                            "--set", "alpha=2", "--json").stdout)
    check("converged" not in line and line["settings"] == {"alpha": 2, "fit_intercept": True}, "a fit without iterations", line)


def huge_samples():
    write_npy("huge.npy", (6, 1), [1e20, -1e20, 2e20, -2e20, 3e20, 0])
    write_npy("six.npy", (6,), [0, 1, 0, 1, 0, 1], "i")
    for name in ["KMeans", "MiniBatchKMeans", "GaussianMixture"]:
        refuses(["--data: ", "too large for f32. Scale the features"], "fit", name, "--data", "huge.npy", "--set",
                "n_components=2" if name == "GaussianMixture" else "n_clusters=2", "--save", "h.safetensors")
    check(not pathlib.Path("h.safetensors").exists(), "no file")
    refuses(["--data: expected finite elements in predictions"], "fit", "SVR", "--data", "huge.npy", "--target", "six.npy",
            "--save", "h.safetensors")
    refuses(["--data: expected n_neighbors of at most 6"], "fit", "KNeighborsClassifier", "--data", "huge.npy", "--target", "six.npy",
            "--set", "n_neighbors=100", "--save", "h.safetensors")


def gaps():
    write_csv("gaps.csv", ["a", "b", "y"], [[1, "x", 1], ["", "z", 2], [3, "", 3]])
    refuses(["--data: gaps.csv: line 3, column 1 (a): expected a value, got none"],
            "fit", "Ridge", "--data", "gaps.csv", "--target", "y", "--save", "g.safetensors")
    works("fit", "Ridge", "--data", "gaps.csv", "--target", "y", "--missing", "mean", "--save", "g.safetensors")
    works("apply", "g.safetensors", "--data", "gaps.csv")
    write_csv("new.csv", ["a", "b"], [[1, "w"]])
    write_csv("words.csv", ["a", "y"], [["p", "u"], ["q", "v"], ["p", "u"], ["q", "v"]])
    works("fit", "DecisionTreeClassifier", "--data", "words.csv", "--target", "y", "--header", "yes", "--save", "t.safetensors")
    check(works("apply", "t.safetensors", "--data", "words.csv").stdout.split() == ["u", "v", "u", "v"],
          "--header yes: only texts, with names")
    refuses(["new.csv: line 2, column 2 (b): expected a text of the training data, got 'w'"],
            "apply", "g.safetensors", "--data", "new.csv")


def errors():
    write_iris()
    fit = ["--data", "iris.csv", "--save", "e.safetensors"]
    write_npy("short.npy", (3,), [0, 1, 2], "i")
    works("fit", "Ridge", "--data", "iris.csv", "--target", "petal width", "--save", "r.safetensors")
    refuses(["missing option --target", "learns from targets"], "fit", "Ridge", *fit)
    refuses(["--target", "needs none"], "fit", "KMeans", *fit, "--target", "species")
    refuses(["--target", "sepal length", "got 'specie'"], "fit", "GaussianNB", *fit, "--target", "specie")
    refuses(["For texts, use a classification"], "fit", "Lasso", *fit, "--target", "species")
    refuses(["For real numbers, use a regression"], "fit", "GaussianNB", *fit, "--target", "petal width")
    refuses(["--set", "beta", "alpha"], "fit", "Ridge", *fit, "--target", "petal width", "--set", "beta=1")
    refuses(["--set", "NAME=VALUE", "alpha"], "fit", "Ridge", *fit, "--target", "petal width", "--set", "alpha")
    refuses(["--set", "expected a number", "many"], "fit", "Ridge", *fit, "--target", "petal width", "--set", "alpha=many")
    refuses(["--data", ".npy or .csv", "iris.txt"], "fit", "KMeans", "--data", "iris.txt", "--save", "e.safetensors")
    refuses(["--data", "missing.csv"], "fit", "KMeans", "--data", "missing.csv", "--save", "e.safetensors")
    refuses(["--target", "150 samples", "got 3"], "fit", "GaussianNB", "--data", "x.npy", "--target", "short.npy",
            "--save", "e.safetensors")
    refuses(["--use", "predict", "got 'transform'"], "apply", "r.safetensors", "--data", "iris.csv", "--use", "transform")
    refuses(["--output", ".npy or .csv"], "apply", "r.safetensors", "--data", "iris.csv", "--output", "x.txt")
    pathlib.Path("cut.safetensors").write_bytes(pathlib.Path("r.safetensors").read_bytes()[:-9])
    refuses(["cut.safetensors"], "apply", "cut.safetensors", "--data", "iris.csv")
    check(not pathlib.Path("e.safetensors").exists(), "a fit that fails leaves no file")


def onnx():
    """An evaluator that follows ONNX's specification gets the results of apply from exported models."""
    if subprocess.run([PYTHON, "-c", "import onnx, numpy"], stderr=subprocess.DEVNULL).returncode:
        skip("python3-onnx is not installed")
        return
    write_iris()
    write_npy("two.npy", (150,), [min(label, 1) for label in LABELS], "i")
    write_csv("plain.csv", [*NAMES, "species"], [[*x, SPECIES[y]] for x, y in zip(SAMPLES, LABELS)])
    numbers_only = ["--data", "x.npy", "--target"]
    cases = [("LogisticRegression", ["--data", "plain.csv", "--target", "species", "--scale"], "predict_proba"),
             ("LogisticRegression", [*numbers_only, "two.npy"], "predict_proba"),
             ("SGDClassifier", [*numbers_only, "y.npy", "--scale"], "decision_function"),
             ("DecisionTreeClassifier", [*numbers_only, "y.npy"], "predict_proba"),
             ("RandomForestClassifier", [*numbers_only, "y.npy", "--set", "n_estimators=7"], "predict_proba"),
             ("Ridge", [*numbers_only, "y.npy", "--scale"], None),
             ("RandomForestRegressor", [*numbers_only, "y.npy", "--set", "n_estimators=5"], None)]
    for name, data, use in cases:
        works("fit", name, *data, "--save", "o.safetensors")
        works("export", "o.safetensors", "--output", "o.onnx")
        subprocess.run([PYTHON, REFERENCE, "o.onnx", "x.npy", "o.json"], check=True)
        outputs = json.loads(pathlib.Path("o.json").read_text())
        source = "plain.csv" if "plain.csv" in data else "x.npy"
        works("apply", "o.safetensors", "--data", source, "--output", "o.npy", *(["--use", use] if use else []))
        shape, values = read_npy("o.npy")
        got = [value for row in outputs["scores" if use else "y"] for value in row]
        check(len(got) == len(values) and max(abs(a - b) for a, b in zip(got, values)) < 1e-4, f"{name}: {use or 'y'}", shape)
        if use:
            words = works("apply", "o.safetensors", "--data", source).stdout.split()
            check([str(label) for label in outputs["label"]] == words, f"{name}: the labels")
    works("fit", "KMeans", "--data", "x.npy", "--save", "k.safetensors")
    refuses(["--output", "linear model, a tree or a forest", "KMeans"], "export", "k.safetensors", "--output", "k.onnx")
    refuses(["--output", ".onnx"], "export", "k.safetensors", "--output", "k.json")


def help_lists_models():
    done = works("fit", "--help")
    check("MiniBatchKMeans" in done.stdout and "clustering:" in done.stdout, "--help lists all models", done.stdout)


main(classification, regression_and_settings, grid, clusters_and_components, matrices,
     columns_learn_from_the_training_part, only_texts, outliers, convergence, huge_samples, gaps, errors, onnx, help_lists_models)
