#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/workspace: the figures that it computes from a command's output. It must run from any folder."""
import json
import os
import pathlib
import subprocess
import sys

from support import KAISEKI, ROOT, check, main

FAKE = """#!/usr/bin/env python3
import json, os, sys
with open("calls.jsonl", "a") as calls:
    print(json.dumps([sys.argv[1:], os.environ.get("KAISEKI_DEVICE_MEMORY")]), file=calls)
if sys.argv[1] == "tune":
    for layer, problem, direction, solver, milliseconds, workspace in (
            ("a, b", "n1c1", "forward", "large", 4, 9 << 20), ("a, b", "n1c1", "forward", "plain", 10, 0),
            ("a, b", "n1c1", "forward", "other", 5, 0), ("c", "n1c2", "forward", "wrong", None, 0),
            ("c", "n1c2", "forward", "plain", 8, 0), ("a, b", "n1c1", "backward_filter", "plain", 20, 0)):
        found = {"outcome": "wrong"} if milliseconds is None else {"milliseconds": milliseconds}
        print(json.dumps({"layer": layer, "problem": problem, "direction": direction, "solver": solver, **found,
                          "workspace": workspace}))
else:
    first = len(open("calls.jsonl").readlines()) == 1
    milliseconds = 50 if "auto" in sys.argv else 500 if first else 60
    print(json.dumps({"milliseconds": milliseconds, "images_per_second": 1000 / milliseconds, "memory": 1000}))
"""


def bench(*options, command=None):
    """The lines that it prints, and the calls of the command."""
    if command is None:
        pathlib.Path("fake").write_text(FAKE)
        pathlib.Path("fake").chmod(0o755)
        command = "./fake"
    done = subprocess.run([sys.executable, str(ROOT / "bench" / "workspace"), "--kaiseki", command, *options], capture_output=True,
                          text=True, timeout=300, env={**os.environ, "KAISEKI_CACHE_DIR": os.path.abspath("cache")})
    check(done.returncode == 0, f"status 0 of bench/workspace {' '.join(options)}", done.stdout + done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def calls():
    return [json.loads(line) for line in pathlib.Path("calls.jsonl").read_text().splitlines()]


def each_layer_and_the_ceiling():
    *layers, network = bench("lenet:8", "--runs", "3")
    found = [(line["case"], line["times"], line["solver"], line["peer_solver"], line["ratio"]) for line in layers]
    check(found == [("lenet/8/a, b forward", 2, "large", "plain", 2.5), ("lenet/8/c forward", 1, "plain", "plain", 1),
                    ("lenet/8/a, b backward_filter", 2, "plain", "plain", 1)], "the gain of each layer", str(found))
    check(network["case"] == "lenet/8" and abs(network["ratio"] - 60 / 50) < 1e-9, "the network's ratio", str(network))
    # Two layers save 6 ms each of 60, the median around the tuning. One run took 500.
    check(abs(network["ceiling"] - 60 / 48) < 1e-9, "the ceiling", str(network))


def budgets_in_order():
    lines = bench("lenet:8", "--runs", "2", "--budgets")
    check([line["memory"] for line in lines] == [1000, 1100, 1500, 3000], "four budgets", str(lines))
    first, needed, *rounds = calls()
    check(first[0][0] == "tune" and needed[0][-8:-4] == ["--workspace", "none", "--tune", "cached"],
          "everything is measured before the required memory", str([first, needed]))
    memory = [call[1] for call in rounds]
    check(memory == [None, "1000", "1100", "1500", "3000", "3000", "1500", "1100", "1000", None], "budgets upwards, then downwards", str(memory))


def with_the_command():
    pathlib.Path("net.json").write_text(json.dumps({
        "name": "net", "inputs": {"image": {"shape": [1, 8, 8]}},
        "layers": [{"name": "conv", "type": "convolution", "output_channels": 4, "kernel_size": 3},
                   {"name": "fc", "type": "fully_connected", "output_size": 3}]}))
    *layers, network = bench("net.json:2", "--runs", "1", "--seconds", "0.01", command=KAISEKI)
    check([line["case"] for line in layers] == ["net.json/2/conv forward", "net.json/2/conv backward_filter"] and
          network["ceiling"] > 0, "a network in this folder", str([*layers, network]))
    lines = bench("lenet:2", "--runs", "1", "--seconds", "0.01", "--budgets", command=KAISEKI)
    check(len(lines) == 4 and all(line["ratio"] > 0 for line in lines), "a network of models/", str(lines))


main(each_layer_and_the_ceiling, budgets_in_order, with_the_command)
