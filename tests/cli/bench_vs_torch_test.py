#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/vs_torch: the programs that it runs, their order and environment, and its figures."""
import json
import os
import pathlib
import subprocess
import sys

from support import ROOT, check, main

# Imitates kaiseki or python, depending on its file name.
FAKE = """#!/usr/bin/env python3
import json, os, pathlib, sys
me = pathlib.Path(__file__)
if sys.argv[1] == "devices":
    sys.exit(print((me.parent / "devices").read_text()))
device = sys.argv[sys.argv.index("--device") + 1] if "--device" in sys.argv else me.name
with open(me.parent / "calls.jsonl", "a") as calls:
    print(json.dumps([device, os.environ.get("OPENBLAS_CORETYPE")]), file=calls)
speed = {"cpu": 60, "opencl": 30, "python": 20}[device]
print(json.dumps({"batches_per_minute": speed, "images_per_second": 2 * speed, "process_memory": 4e6 if device == "python" else 2e6}))
"""


def bench(*options, devices="opencl:0"):
    for name in ("kaiseki", "python"):
        pathlib.Path(name).write_text(FAKE)
        pathlib.Path(name).chmod(0o755)
    pathlib.Path("devices").write_text(devices)
    pathlib.Path("calls.jsonl").write_text("")
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    return subprocess.run([sys.executable, str(ROOT / "bench" / "vs_torch"), "--kaiseki", os.path.abspath("kaiseki"), "--python",
                           os.path.abspath("python"), "--threads", "2", "--runs", "2", *options],
                          capture_output=True, text=True, timeout=300, env=env)


def rows(done):
    check(done.returncode == 0, "status 0 of bench/vs_torch", done.stdout + done.stderr)
    return [(line["case"], line["ratio"]) for line in map(json.loads, done.stdout.splitlines())]


def calls():
    return [json.loads(line) for line in pathlib.Path("calls.jsonl").read_text().splitlines()]


def opencl_only():
    found = rows(bench("--networks", "lenet,resnet18", "--opencl-only"))
    check(found == [("lenet opencl", 0.5), ("resnet18 opencl", 0.5)], "a line for each network", str(found))
    found = [device for device, _ in calls()]
    check(found == ["opencl", "cpu"] * 4, "pairs without PyTorch", str(found))
    done = bench("--opencl-only", devices="")
    check(done.returncode != 0 and "expected an OpenCL device, got none" in done.stderr, "an error without a device", done.stderr)


def against_torch():
    found = rows(bench("--networks", "lenet"))
    check(found == [("lenet", 3), ("lenet memory", 2), ("lenet opencl", 0.5)], "three lines", str(found))
    check(len(rows(bench("--networks", "lenet", "--no-opencl"))) == 2, "two lines without OpenCL")
    wanted = "SkylakeX" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text().split() else None
    found = calls()
    check(found == [["python", wanted]] * 2 + [["cpu", None], ["python", wanted]] * 2,
          "both layouts, then pairs; OpenBLAS gets AVX-512 if the CPU has it", str(found))


main(opencl_only, against_torch)
