# SPDX-License-Identifier: MIT
"""onnx_ml_reference.py MODEL.onnx X.npy OUT.json: checks the file with ONNX's checker and computes its graph of ai.onnx.ml
operators with NumPy, as ONNX's specification defines them. Writes the outputs by name. Needs Debian's python3-onnx.
"""
import json
import sys

import numpy as np
import onnx
from onnx import helper


def labels(settings):
    for name in ("classlabels_strings", "classlabels_ints", "classlabels_int64s"):
        if name in settings:
            return [v.decode() if isinstance(v, bytes) else v for v in settings[name]]
    return None


def transformed(scores, settings):
    kind = settings["post_transform"].decode()
    if kind == "NONE":
        return scores
    assert kind == "SOFTMAX", kind
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def classified(scores, settings):
    names = labels(settings)
    return [names[i] for i in scores.argmax(1)], transformed(scores, settings)


def scaler(x, settings):
    return [(x - np.array(settings["offset"])) * np.array(settings["scale"])]


def linear_scores(x, settings):
    return x @ np.array(settings["coefficients"]).reshape(len(settings["intercepts"]), -1).T + np.array(settings["intercepts"])


def linear_regressor(x, settings):
    assert settings["targets"] == len(settings["intercepts"])
    return [linear_scores(x, settings)]


def tree_sums(x, settings, prefix, count):
    """Follows each row from the first node of each tree to its leaf."""
    names = ("featureids", "values", "modes", "truenodeids", "falsenodeids")
    keys = list(zip(settings["nodes_treeids"], settings["nodes_nodeids"]))
    nodes = dict(zip(keys, zip(*(settings[f"nodes_{name}"] for name in names))))
    leaves = {}
    for tree, node, output, weight in zip(*(settings[prefix + name] for name in ("treeids", "nodeids", "ids", "weights"))):
        leaves.setdefault((tree, node), []).append((output, weight))
    sums = np.zeros((len(x), count))
    for row, sample in enumerate(np.float32(x)):
        for tree in sorted(set(settings["nodes_treeids"])):
            at = 0
            while nodes[tree, at][2] != b"LEAF":
                feature, threshold, mode, yes, no = nodes[tree, at]
                assert mode == b"BRANCH_LEQ", mode
                at = yes if sample[feature] <= np.float32(threshold) else no
            for output, weight in leaves[tree, at]:
                sums[row, output] += weight
    return sums


def main(model_file, x_file, out_file):
    model = onnx.load(model_file)
    onnx.checker.check_model(model, full_check=True)
    values = {model.graph.input[0].name: np.load(x_file).astype(np.float64)}
    for node in model.graph.node:
        assert node.domain == "ai.onnx.ml", node.domain
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        x = values[node.input[0]]
        if node.op_type == "Scaler":
            results = scaler(x, settings)
        elif node.op_type == "LinearClassifier":
            results = classified(linear_scores(x, settings), settings)
        elif node.op_type == "LinearRegressor":
            results = linear_regressor(x, settings)
        elif node.op_type == "TreeEnsembleClassifier":
            results = classified(tree_sums(x, settings, "class_", len(labels(settings))), settings)
        else:
            assert node.op_type == "TreeEnsembleRegressor", node.op_type
            results = [tree_sums(x, settings, "target_", settings["n_targets"])]
        values.update(zip(node.output, results, strict=True))
    outputs = {output.name: values[output.name] for output in model.graph.output}
    with open(out_file, "w", encoding="utf-8") as file:
        json.dump({name: value if isinstance(value, list) else value.tolist() for name, value in outputs.items()}, file)


main(*sys.argv[1:])
