#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipe in a network's JSON is the default of kaiseki train. Options replace single values."""
import json
import os
import pathlib
import re

from support import check, main, refuses, skip, works, ROOT

DATA = ["--data", "digits:200:1", "--test-limit", 20]


def network(name, recipe):
    layers = [{"type": "flatten"}, {"type": "fully_connected", "output_size": 10}]
    pathlib.Path(name).write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": layers, "recipe": recipe}))


def first_line(*arguments):
    return works("train", *arguments, *DATA).stdout.splitlines()[0]


def a_recipe_is_the_default():
    network("net.json", {"epochs": 2, "batch_size": 16, "optimizer": "adam", "learning_rate": 0.002, "schedule": "cosine",
                         "warmup": 0.5, "weight_decay": 0.001, "augment": "flip", "resize": 30, "mean": [0.5], "std": [0.25]})
    done = works("train", "net.json", *DATA, "--log", "log.jsonl", "--log-every", 1, "--save", "w.safetensors")
    line = done.stdout.splitlines()[0]
    check("2 epochs in batches of 16" in line and "adam 0.002 cosine, warmup 0.5, decay 0.001" in line and
          "resize 30, flip" in line, "the first line shows the recipe", line)
    steps = [json.loads(line) for line in open("log.jsonl")]
    check(max(step["step"] for step in steps) == 26, "2 epochs of 13 batches", str(steps[-1]))
    check(b'"mean":"0.5"' in pathlib.Path("w.safetensors").read_bytes(), "the weights keep the mean")


def options_replace_values():
    network("net.json", {"epochs": 1, "optimizer": "adam", "learning_rate": 0.002, "schedule": "cosine", "augment": "flip",
                         "weight_decay": 0.001})
    line = first_line("net.json", "--schedule", "constant", "--augment", "none", "--weight-decay", 0, "--batch-size", 20)
    check("1 epoch in batches of 20" in line and "adam 0.002 constant" in line and "flip" not in line and "decay" not in line,
          "each option replaces one value", line)
    line = first_line("net.json", "--optimizer", "sgd")
    check("sgd 0.01 cosine" in line, "another optimizer has its own rate", line)
    line = first_line("net.json", "--lr", 0.5)
    check("adam 0.5 cosine" in line, "another rate", line)


def a_resumed_run_knows_its_recipe():
    network("net.json", {"epochs": 1, "learning_rate": 0.01})
    works("train", "net.json", *DATA, "--checkpoint", "run")
    network("net.json", {"epochs": 2, "learning_rate": 0.02})
    done = works("train", "net.json", *DATA, "--checkpoint", "run", "--resume")
    check("--lr 0.02, there 0.01" in done.stderr, "a changed recipe warns", done.stderr)


def errors_name_the_place():
    network("net.json", {"learning_rte": 0.1})
    refuses(["net.json: recipe.learning_rte", 'did you mean "learning_rate"?'], "train", "net.json", *DATA)
    network("net.json", {"schedule": "step"})
    refuses(["net.json: recipe.step_size"], "summary", "net.json")


def the_models_have_recipes():
    for name in ("lenet", "lenet-dag"):
        line = first_line(ROOT / "models" / f"{name}.json", "--limit", 64, "--eval-every", 0)
        check("3 epochs in batches of 64" in line and "momentum 0.03 cosine, decay 0.0005" in line, f"the recipe of {name}", line)


def lenet_on_mnist():
    """README's first command. Its defaults reach 99.1 to 99.3 %."""
    if not (pathlib.Path(os.environ.get("KAISEKI_DATA", "")) / "mnist").is_dir():
        skip("mnist is not in KAISEKI_DATA")
        return
    done = works("train", ROOT / "models" / "lenet.json", "--data", "mnist")
    accuracy = float(re.findall(r"test accuracy ([\d.]+) %", done.stdout)[-1])
    check(accuracy >= 99.0, "LeNet with its recipe reaches 99.0 %", done.stdout)


main(a_recipe_is_the_default, options_replace_values, a_resumed_run_knows_its_recipe, errors_name_the_place,
     the_models_have_recipes, lenet_on_mnist)
