#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--workspace, --tune, --deterministic and --memory: their effect on memory, and that nothing fails."""
import json
import os
import pathlib
import re
import subprocess

from support import KAISEKI, LENET, ROOT, check, main, opencl_is_there, refuses, until, works

LAYERS = [{"name": "conv1", "type": "convolution", "output_channels": 32, "kernel_size": 3, "padding": 1},
          {"name": "relu1", "type": "relu"},
          {"name": "conv2", "type": "convolution", "output_channels": 64, "kernel_size": 3, "padding": 1},
          {"name": "pool", "type": "max_pooling", "kernel_size": 4},
          {"name": "fc", "type": "fully_connected", "output_size": 10}]


def network():
    """A network with a second convolution that is large enough to be measured."""
    pathlib.Path("net.json").write_text(json.dumps(
        {"name": "net", "inputs": {"image": {"shape": [1, 28, 28]}}, "layers": LAYERS}))
    return "net.json"


def train(*options, env=None, size=64, **more):
    return works("train", network(), "--data", "digits:192:1", "--batch-size", size, "--epochs", 1, "--test-limit", 64, *options,
                 env={"KAISEKI_CACHE_DIR": os.path.abspath("cache"), **(env or {})}, **more)


def measured(cache="cache"):
    file = pathlib.Path(cache, "tuning.jsonl")
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in map(json.loads, lines) if line["operation"] == "convolution"]


def large_convolutions_are_measured_once():
    train("--tune", "cached")
    check(not measured(), "--tune cached measures nothing", str(measured()))
    train("--tune", "hybrid")
    first = measured()
    check({line["case"].split()[0] for line in first} == {"forward", "backward_data", "backward_filter"} and
          all("c32" in line["case"] for line in first), "--tune hybrid measures the large convolution", str(first))
    train()
    check(measured() == first, "hybrid is the default and measures nothing twice", str(measured()))
    train("--tune", "amortized", size=48)
    check(len(measured()) >= len(first), "amortized keeps earlier results", str(measured()))
    works("train", "net.json", "--data", "digits:3200:1", "--batch-size", 50, "--epochs", 1, "--eval-every", 0, "--tune", "amortized",
          env={"KAISEKI_CACHE_DIR": os.path.abspath("cache")})
    check(any("n50c32" in line["case"] for line in measured()), "amortized measures during training", str(measured()))


CASE = "n64c32h28w28k64r3s3p1"
LARGE = {f"{direction} {CASE}" for direction in ("forward", "backward_data", "backward_filter")}


def cases():
    return {line["case"] for line in measured()}


def two_processes_measure_at_once():
    command = [KAISEKI, "train", network(), "--data", "digits:192:1", "--batch-size", "64", "--epochs", "1", "--eval-every", "0",
               "--tune", "exhaustive"]
    env = {**os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_CACHE_DIR": os.path.abspath("cache")}

    def both(meanwhile):
        runs = [subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        until(lambda: meanwhile() or all(run.poll() is not None for run in runs), 300)
        for run in runs:
            problem = run.communicate()[1]
            check(run.returncode == 0, "training continues", f"{run.returncode} {problem}")

    both(lambda: None)
    check(LARGE <= cases(), "the results of both processes are saved", str(cases()))
    whole = pathlib.Path("cache/tuning.jsonl").read_bytes()
    both(lambda: pathlib.Path("cache/tuning.jsonl").write_bytes(whole[:len(whole) // 2]) == 0)


def damaged_tuning_file():
    train()
    check(LARGE <= cases(), "the large convolution is measured", str(cases()))
    whole = pathlib.Path("cache/tuning.jsonl").read_bytes()
    for damaged in (b"", whole[:len(whole) // 2], b"\0" * 1000, whole.replace(b'"version":"', b'"version":"other ')):
        pathlib.Path("cache/tuning.jsonl").write_bytes(damaged)
        train()
        check(LARGE <= cases(), "the results lost from a damaged file are measured again", f"{damaged[:80]} {cases()}")


def reports_memory():
    text = train("--memory", "--workspace", "8M", "--log", "log.jsonl", "--log-every", 1).stdout
    numbers = re.search(r"memory +in use \S+ \S+, cached \S+ \S+, workspace (\S+) \S+, peak \S+ \S+", text)
    check(numbers and float(numbers[1]) > 0, "--memory prints the account", text)
    for line in map(json.loads, pathlib.Path("log.jsonl").read_text().splitlines()):
        parts = line["memory_in_use"] + line["memory_cached"] + line["memory_workspace"]
        check(0 < parts <= line["memory"] and 0 < line["memory_workspace"] <= 8 << 20, "the account in the log", str(line))
    text = train("--memory", "--workspace", "none").stdout
    check("workspace 0 B" in text, "--workspace none uses none", text)
    peak, predicted = (float(found[1]) for found in (re.search(r"peak (\S+) MiB", text), re.search(r"predicted (\S+) MiB", text)))
    check(0.5 * peak < predicted < 1.1 * peak, "the predicted memory", text)
    refuses(["--workspace", "512M", "lots"], "train", LENET, "--data", "digits:64", "--workspace", "lots")
    refuses(["--tune", "sometimes"], "train", LENET, "--data", "digits:64", "--tune", "sometimes")


def fused_pooling_saves_memory():
    """docs/tuning.md's figures, in MB: without fused pooling 17.3 and 17.4."""
    for name, expected in ("lenet", 13.1), ("cifar", 12.7):
        line = json.loads(works("bench", "train", ROOT / "models" / f"{name}.json", "--tune", "off", "--threads", 2, "--repeat", 1,
                                "--seconds", 0.01).stdout)
        check(abs(line["memory"] / 1e6 - expected) < 0.1, f"{name} trains in {expected} MB", str(line))


def the_same_bits():
    files = []
    for threads in (1, 2):
        files.append(pathlib.Path(f"{threads}.safetensors"))
        train("--deterministic", "--threads", threads, "--save", files[-1])
    check(not measured(), "nothing is measured", str(measured()))
    check(files[0].read_bytes() == files[1].read_bytes(), "--deterministic: the same bits with 1 and 2 threads")


def small_memory(device="cpu", batch=64):
    env = {"KAISEKI_DEVICE": device, "KAISEKI_CACHE_DIR": os.path.abspath("cache")}
    need = json.loads(works("bench", "train", network(), "--batch-size", batch, "--repeat", 1, "--seconds", 0.01,
                            "--workspace", "none", env=env).stdout)["memory"]
    for part in (1.0, 1.1, 1.5, 3.0):
        line = json.loads(works("bench", "train", "net.json", "--batch-size", batch, "--repeat", 2, "--seconds", 0.01,
                                env={**env, "KAISEKI_DEVICE_MEMORY": str(int(need * part))}).stdout)
        check(line["memory"] <= int(need * part), f"{device}: stays within {part} of its memory", str(line))
    refuses(["out of memory", "KAISEKI_DEVICE_MEMORY"], "bench", "train", "net.json", "--batch-size", batch,
            env={**env, "KAISEKI_DEVICE_MEMORY": str(need // 256)})


def small_memory_on_opencl():
    if opencl_is_there():
        small_memory("opencl", 8)


main(large_convolutions_are_measured_once, two_processes_measure_at_once, damaged_tuning_file, reports_memory,
     fused_pooling_saves_memory, the_same_bits, small_memory, small_memory_on_opencl)
