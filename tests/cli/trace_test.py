#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--trace: a file with the rows of each device, the lines about them, and the same weights as without it."""
import json
import os
import pathlib
import re

from support import LENET, check, deep_network, kaiseki, main, opencl_is_there, refuses, works

# The loss is infinite after a few steps.
DIVERGES = ["train", LENET, "--data", "digits:640:1", "--epochs", 1, "--eval-every", 0, "--batch-size", 64, "--lr", 1e30, "--tune", "off"]


def train(network, *options, device="cpu", data="digits:320:1", batch_size=32, env=None):
    return works("train", network, "--data", data, "--epochs", 1, "--eval-every", 0, "--batch-size", batch_size, "--seed", 3, *options,
                 "--device", device, "--tune", "off", env={"KAISEKI_CACHE_DIR": os.path.abspath("cache"), **(env or {})})


def rows_of(file):
    """Returns the events of each row of a trace by the row's name, and the marks."""
    events = json.loads(pathlib.Path(file).read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    rows = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "X":
            rows[names[event["tid"]]].append(event)
    return rows, [event["name"] for event in events if event["ph"] == "i"]


def check_times(name, events):
    ordered = sorted(events, key=lambda event: event["ts"])
    check(all(event["ts"] >= 0 and event["dur"] >= 0 for event in events), f"{name}: the times are not negative", events[:3])
    check(all(a["ts"] + a["dur"] <= b["ts"] + 1 for a, b in zip(ordered, ordered[1:])), f"{name}: one after the other", events[:3])


def check_lines(text, rows):
    shares = dict(re.findall(r"^trace +(\S.*): ([\d.]+) % busy", text, re.M))
    check(set(shares) == set(rows), "a line for each row", text)
    idle = re.findall(r"([\d.]+) % busy, ([\d.]+) % idle \(the busiest row\)", text)
    check(len(idle) == 1 and abs(sum(map(float, idle[0])) - 100) < 0.2, "the idle share of the busiest row", text)
    check(idle and float(idle[0][0]) == max(map(float, shares.values())), "it is the busiest", text)


def same_weights(network, device, **more):
    train(network, "--save", "plain.safetensors", device=device, **more)
    text = train(network, "--save", "traced.safetensors", "--trace", "trace.json", device=device, **more).stdout
    check(pathlib.Path("plain.safetensors").read_bytes() == pathlib.Path("traced.safetensors").read_bytes(),
          f"{device}: the same weights with and without a trace")
    rows, marks = rows_of("trace.json")
    check(not marks, "the trace is complete", marks)
    check_lines(text, rows)
    return rows


def steps_of_the_cpu():
    rows = same_weights(LENET, "cpu")
    check(set(rows) == {"steps"}, "one row", rows.keys())
    check_times("steps", rows["steps"])
    kinds = [event["cat"] for event in rows["steps"]]
    check(kinds.count("update") == 10, "an update for each step", kinds)
    conv = [event["cat"] for event in rows["steps"] if event["name"] == "conv1"]
    check(conv == ["forward", "backward"] * 10, "both passes of a layer in each step", conv)


def files_of_the_cpu():
    deep_network()
    need = json.loads(works("bench", "train", "net.json", "--batch-size", 32, "--repeat", 1, "--seconds", 0.01, "--tune", "off",
                            "--workspace", "none").stdout)["memory"]
    rows = same_weights("net.json", "cpu", data="digits:96:1", env={"KAISEKI_DEVICE_MEMORY": str(need * 7 // 10),
                                                                    "KAISEKI_SPILL_DIR": os.getcwd()})
    check(set(rows) - {"waits for copies"} == {"steps", "file writes", "file reads"}, "tensors go to files and come back",
          rows.keys())
    copies = rows.get("file writes", []) + rows.get("file reads", [])
    check(any(event["args"]["bytes"] >= 1 << 20 for event in copies), "whole tensors among them", len(copies))


def queue_of_opencl():
    if not opencl_is_there():
        return
    rows = same_weights(LENET, "opencl")
    check("opencl:0 kernels" in rows and all(name.startswith("opencl:0 ") for name in rows), "the rows of the queues", rows.keys())
    for name, events in rows.items():
        check_times(name, events)
    events = [event for row in rows.values() for event in row]
    kinds = {event["cat"] for event in events}
    check({"kernel", "upload", "download"} <= kinds, "kernels and copies", kinds)
    check(all(event["args"]["bytes"] > 0 for event in events if event["cat"] != "kernel"), "the bytes of copies", events[:9])
    names = {event["name"] for event in events if event["cat"] == "kernel"}
    check(len(names) > 5, "the names of kernels", names)


def limit():
    layers = []
    for i in range(60):
        layers += [{"name": f"fc{i}", "type": "fully_connected", "output_size": 10}, {"name": f"act{i}", "type": "tanh"}]
    pathlib.Path("deep.json").write_text(json.dumps({"inputs": {"image": {"shape": [1, 28, 28]}}, "layers": layers}))
    done = train("deep.json", "--trace", "trace.json", "--lr", 1e-9, data="digits:2000:1", batch_size=1)
    check("the trace stopped after 200,000 events" in done.stderr, "a warning", done.stderr)
    rows, marks = rows_of("trace.json")
    check(marks == ["stopped after 200000 events"] and sum(map(len, rows.values())) == 200000, "the file shows it too", marks)


def failed_training():
    for device in ["cpu", "opencl"] if opencl_is_there() else ["cpu"]:
        done = refuses(["finite loss", "--clip-norm"], *DIVERGES, "--device", device, "--trace", f"{device}.json")
        file = pathlib.Path(f"{device}.json")
        check(file.exists(), f"{device}: the trace of a training that fails", done.stdout)
        if file.exists():
            rows, marks = rows_of(file)
            check(rows and not marks and all(rows.values()), "it has the events before the error", rows.keys())
            check_lines(done.stdout, rows)


def failed_training_without_a_trace():
    done = kaiseki(*DIVERGES, "--trace", "/dev/full")
    lines = done.stderr.splitlines()
    check(done.returncode == 1 and len(lines) == 2, "status 1, and two lines", done.stderr)
    check("warning: --trace: " in lines[0] and "/dev/full" in lines[0], "a warning about the trace", done.stderr)
    check("finite loss" in lines[-1] and "--clip-norm" in lines[-1], "the error of the training", done.stderr)


def refused_files():
    refuses(["--trace", "No such file"], "train", LENET, "--data", "digits:64", "--trace", "missing/trace.json")
    refuses(["--trace"], "train", LENET, "--data", "digits:64", "--trace", ".")


main(steps_of_the_cpu, files_of_the_cpu, queue_of_opencl, limit, failed_training, failed_training_without_a_trace, refused_files)
