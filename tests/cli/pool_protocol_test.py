#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/protocol.md and docs/protocol-tensors.md are complete. The node of examples/python_node was written from them.
It trains alone in a pool. The weights are those of the server's own results.
"""
import json
import pathlib
import re
import subprocess
import sys

from pool import Coordinator, Socket, frame, join_raw
from pool_train_test import difference
from support import ROOT, check, main, skip, start, works

NODE = ROOT / "examples" / "python_node" / "node.py"

# The layers include dropout, a stride and a padding.
LAYERS = [
    {"name": "conv1", "type": "convolution", "output_channels": 4, "kernel_size": 5, "stride": 2, "padding": [2, 1]},
    {"name": "relu1", "type": "relu"},
    {"name": "pool1", "type": "max_pooling", "kernel_size": 2},
    {"name": "fc2", "type": "fully_connected", "output_size": 16},
    {"name": "tanh2", "type": "tanh"},
    {"name": "drop2", "type": "dropout", "ratio": 0.25},
    {"name": "fc3", "type": "fully_connected", "output_size": 10}]
SOFTMAX, LOSS = {"name": "probability", "type": "softmax"}, {"name": "loss", "type": "softmax_cross_entropy"}
TRAIN = ["--data", "digits:256:1", "--seed", 3, "--epochs", 1, "--batch-size", 32, "--lr", 0.02, "--deterministic"]
# Each run has a name, the last layers of the network, options and a tolerance. The first tolerances allow another order of
# sums. The later ones allow rounding to halves and random rounding to bytes.
RUNS = [
    ("output", [], ["--pool-mode", "data", "--pool-wire", "f32"], 1e-5),
    ("softmax", [SOFTMAX], ["--pool-mode", "paper", "--pool-wire", "f32"], 1e-5),
    ("loss", [LOSS], ["--pool-mode", "border", "--pool-wire", "f32"], 1e-5),
    ("halves", [SOFTMAX, LOSS], ["--pool-mode", "data", "--pool-wire", "f16"], 1e-3),
    ("bytes", [LOSS], ["--pool-mode", "border", "--pool-wire", "i8"], 0.1)]


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def write_network(name, layers):
    pathlib.Path(f"{name}.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": layers}))


def train(coordinator, name, *options, save):
    """Returns the numbers of tickets that nodes computed and that the server computed."""
    done = start("train", f"{name}.json", *TRAIN, *options, "--pool", coordinator.url, "--pool-token-file",
                 coordinator.state / "author.token", "--save", save)
    output = done.communicate(timeout=300)[0]
    counts = re.search(r"(\d+) tickets by nodes, (\d+) here, \d+ checked, 0 nodes expelled", output)
    check(done.returncode == 0 and counts, f"{name}: training ends, and expels no node", output)
    return (int(counts[1]), int(counts[2])) if counts else (0, 0)


def trains_like_the_server():
    python = python_with_numpy()
    if not python:
        return skip("python3-numpy is not installed: the node in Python is not tested")
    with Coordinator() as coordinator:
        for name, end, options, _ in RUNS:
            write_network(name, LAYERS + end)
            by_nodes, _ = train(coordinator, name, *options, save=f"{name}-server.safetensors")
            check(by_nodes == 0, f"{name}: no node yet", by_nodes)
        works("train", "output.json", *TRAIN, "--save", "alone.safetensors")
        alone = difference("output-server.safetensors", "alone.safetensors")
        check(alone < 1e-5, "the server alone trains as without a pool", alone)

        node = subprocess.Popen([python, NODE, coordinator.url, coordinator.state / "node.token"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        check("joined" in node.stdout.readline(), "the node is welcome")
        computed = 0
        for name, _, options, tolerance in RUNS:
            by_nodes, here = train(coordinator, name, *options, save=f"{name}-node.safetensors")
            check(by_nodes >= 16 and here == 0, f"{name}: the node computes all tickets", f"{by_nodes} and {here}")
            computed += by_nodes
            error = difference(f"{name}-node.safetensors", f"{name}-server.safetensors")
            check(error < tolerance, f"{name}: the weights of the server's own results", error)
        write_network("unknown", [*LAYERS[:3], {"name": "act", "type": "sigmoid"}, LAYERS[-1]])
        # One ticket, because each failure makes the ticket wait.
        one = ["--pool-mode", "data", "--batch-size", 256, "--pool-ticket", 256]
        by_nodes, here = train(coordinator, "unknown", *one, save="unknown.safetensors")
        check(by_nodes == 0 and here == 1, "it gives back what it does not know", f"{by_nodes} and {here}")
        check(coordinator.end() == 0, "the coordinator ends")
        output = node.communicate(timeout=20)[0]
    verdicts = re.findall(r"^ticket \d+: (.*?) *$", output, re.M)
    check(len(verdicts) >= computed and set(verdicts) == {"accepted"}, "all results are accepted", output[-2000:])
    check("closed with code 1001" in output, "it hears that the coordinator ends", output[-200:])


def documented_limits():
    """The limits in the table Keys of docs/protocol.md."""
    with Coordinator() as coordinator:
        node = join_raw(coordinator, name="n" * 300, device="d\x07" * 150, threads=2000, gflops=1e12, functions=["f"] * 1000)
        found = coordinator.api("GET", "/nodes")[0]
        check((found["name"], found["device"]) == ("n" * 200, "d" * 100), "texts are cut", found)
        check((found["threads"], found["gflops"]) == (1024, 1e9), "numbers become the nearest limit", found)
        node.close()
        node = Socket(coordinator)
        node.upgrade()
        node.say("hello", control={})
        check(node.hear_frame("welcome")[2]["node"], "a hello without keys")
        for wrong in ({"name": 1}, {"threads": "2"}, {"functions": "f"}, {"functions": ["f"] * 1001}, {"functions": [1]}):
            node = Socket(coordinator)
            node.upgrade()
            node.say("hello", control=wrong)
            check(node.close_code() == 1002, f"{str(wrong)[:30]}: code 1002")


def nothing_follows_the_upgrade():
    with Coordinator() as coordinator:
        node = Socket(coordinator)
        hello = node.message(frame("hello"))
        node.send = lambda data: node.socket.sendall(data + hello)
        status = node.upgrade()
        check(status == 400, "a hello in one segment with the upgrade: 400", status)


if __name__ == "__main__":
    main(trains_like_the_server, documented_limits, nothing_follows_the_upgrade)
