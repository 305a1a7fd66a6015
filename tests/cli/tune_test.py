#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kaiseki tune: measures a network's convolutions and shows them. Training uses the results."""
import json
import os
import pathlib

from support import LENET, check, main, opencl_is_there, refuses, train, works

EXPECTED = {("conv1", "forward"), ("conv1", "backward_filter"), ("conv2", "forward"),
            ("conv2", "backward_data"), ("conv2", "backward_filter")}


def kept(cache):
    return [json.loads(line) for line in pathlib.Path(cache, "tuning.jsonl").read_text().splitlines()]


def shows_and_saves():
    cache = {"KAISEKI_CACHE_DIR": os.path.abspath("cache")}
    text = works("tune", LENET, "--batch-size", 8, "--threads", 1, env=cache).stdout
    for layer, direction in EXPECTED:
        rows = [line.split() for line in text.splitlines() if line.startswith(layer) and f" {direction} " in line]
        check(len(rows) == 1 and float(rows[0][3]) > 0, f"one row for {layer} {direction}", text)
    check("untuned" in text and os.path.join(cache["KAISEKI_CACHE_DIR"], "tuning.jsonl") in text, "totals and file", text)
    first = kept("cache")
    check({line["threads"] for line in first} == {1} and len(first) >= 8, "every solver is saved", str(first))
    lines = [json.loads(line) for line in
             works("tune", LENET, "--batch-size", 8, "--threads", 1, "--json", env=cache).stdout.splitlines()]
    check({(line["layer"], line["direction"]) for line in lines} == EXPECTED, "JSON lines", str(lines))
    check(all(line["milliseconds"] > 0 and line["workspace"] >= 0 for line in lines), "times and workspaces", str(lines))
    check(len(kept("cache")) == len(first), "a second run replaces the first results", str(kept("cache")))


def losses(cache, name):
    train("--epochs", 1, "--batch-size", 8, "--threads", 1, "--log", name, "--log-every", 5, data="digits:80:1", env=cache)
    lines = [json.loads(line) for line in pathlib.Path(name).read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


def training_uses_the_results():
    cache = {"KAISEKI_CACHE_DIR": os.path.abspath("cache")}
    before = losses(cache, "before.jsonl")
    works("tune", LENET, "--batch-size", 8, "--threads", 1, env=cache)
    after = losses(cache, "after.jsonl")
    close = len(before) == len(after) > 0 and all(abs(a - b) <= 1e-3 * abs(a) for a, b in zip(before, after))
    check(close, "tuned training uses the same solvers", f"{before}\n{after}")
    whole = pathlib.Path("cache/tuning.jsonl").read_bytes()
    for damaged in (b"", whole[:len(whole) // 2], b"\0" * 1000, whole.replace(b'"version":"', b'"version":"other ')):
        pathlib.Path("cache/tuning.jsonl").write_bytes(damaged)
        check(len(losses(cache, "damaged.jsonl")) == len(before), "a damaged file does not stop training", str(damaged[:80]))


def layers_are_named_by_their_shape():
    pathlib.Path("phases.json").write_text(json.dumps({
        "name": "phases", "inputs": {"image": {"shape": [1, 8, 8]}},
        "layers": [
            {"name": "aside", "type": "convolution", "output_channels": 5, "kernel_size": 5, "inputs": ["image"]},
            {"name": "first", "type": "convolution", "output_channels": 4, "kernel_size": 3, "inputs": ["image"]},
            {"name": "last", "type": "fully_connected", "output_size": 3}],
        "outputs": ["last"]}))
    lines = [json.loads(line) for line in
             works("tune", "phases.json", "--batch-size", 2, "--json",
                   env={"KAISEKI_CACHE_DIR": "cache"}).stdout.splitlines()]
    check({line["layer"] for line in lines} == {"first"}, "the layer that ran first is named", str(lines))


def layers_with_the_same_output_are_distinct():
    convolution = {"type": "convolution", "output_channels": 4, "kernel_size": 3, "padding": 1}
    pathlib.Path("stride.json").write_text(json.dumps({
        "name": "stride", "inputs": {"image": {"shape": [4, 8, 8]}},
        "layers": [{"name": "half", "stride": 2, **convolution}, {"name": "same", **convolution}, {"name": "again", **convolution},
                   {"name": "last", "type": "fully_connected", "output_size": 3}]}))
    lines = [json.loads(line) for line in
             works("tune", "stride.json", "--batch-size", 2, "--json", env={"KAISEKI_CACHE_DIR": "cache"}).stdout.splitlines()]
    layers = {(line["layer"], "u2" in line["problem"]) for line in lines}
    check(layers == {("half", True), ("same, again", False)}, "equal work with another stride is another layer", str(lines))


def a_cache_that_cannot_be_written():
    pathlib.Path("file").write_text("no folder")
    refuses(["file/tuning.jsonl"], "tune", LENET, "--batch-size", 1, "--json", env={"KAISEKI_CACHE_DIR": "file"})


def network_without_convolutions():
    pathlib.Path("flat.json").write_text(json.dumps({
        "name": "flat", "inputs": {"image": {"shape": [1, 4, 4]}},
        "layers": [{"name": "fc", "type": "fully_connected", "output_size": 3}]}))
    refuses(["convolutions", "flat.json"], "tune", "flat.json")
    refuses(["nowhere.json", "no such file"], "tune", "nowhere.json")


def on_opencl():
    if not opencl_is_there():
        return
    cache = {"KAISEKI_CACHE_DIR": os.path.abspath("cache")}
    works("tune", LENET, "--batch-size", 4, "--device", "opencl", env=cache)
    found = [line for line in kept("cache") if line["operation"] == "convolution"]
    check(len({line["threads"] for line in found}) == 1, "saved for the OpenCL device", str(found))


main(shows_and_saves, training_uses_the_results, layers_are_named_by_their_shape, layers_with_the_same_output_are_distinct,
     a_cache_that_cannot_be_written, network_without_convolutions, on_opencl)
