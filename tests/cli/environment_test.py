#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/environment.md has one row for each KAISEKI_ variable that base/environment.h names, and the code reads no other.
The page also names the other variables that base/environment.cc reads."""
import json
import re
import subprocess

from support import LENET, ROOT, check, device_forms, main, refuses, works


def table_and_header_agree():
    header = (ROOT / "base/environment.h").read_text()
    fields = set(re.findall(r";\s*//\s*(KAISEKI_\w+)", header))
    rows = re.findall(r"^\| `(KAISEKI_\w+)` \|", (ROOT / "docs/environment.md").read_text(), re.M)
    check(len(rows) == len(set(rows)), "one row for each variable", str(rows))
    check(set(rows) == fields, "the rows are the header's variables", f"{sorted(rows)} {sorted(fields)}")
    read = set(re.findall(r'(?:read|limit_of)\("(KAISEKI_\w+)"\)', (ROOT / "base/environment.cc").read_text()))
    check(read == fields, "the code reads the header's variables", f"{sorted(read)} {sorted(fields)}")


def other_variables_are_documented():
    page = (ROOT / "docs/environment.md").read_text()
    read = set(re.findall(r'"([A-Z][A-Z_]+)"', (ROOT / "base/environment.cc").read_text()))
    check({"HOME", "NO_COLOR", "LANG"} <= read, "the variables that the code reads", str(sorted(read)))
    missing = [name for name in read - {"HOME"} if not re.search(rf"[`$]{name}\b", page)]
    check(not missing, "the page names each variable", str(missing))


def values_take_effect():
    check("cpu" in works("devices", env={"KAISEKI_DEVICE": "cpu"}).stdout, "KAISEKI_DEVICE")
    check("3 CPU threads" in works("devices", env={"KAISEKI_THREADS": "3"}).stdout, "KAISEKI_THREADS")
    check("512.0 MiB" in works("devices", env={"KAISEKI_DEVICE_MEMORY": "512M"}).stdout, "KAISEKI_DEVICE_MEMORY")
    for name in "KAISEKI_DEVICE_MEMORY", "KAISEKI_HOST_MEMORY":
        refuses([name, "'0'"], "devices", env={name: "0"})
    refuses(["--spill", "No such file"], "train", LENET, "--data", "digits:64", "--device", "cpu", "--spill", "/no/such/folder")
    refuses(["KAISEKI_THREADS", "'many'"], "devices", env={"KAISEKI_THREADS": "many"})
    refuses([device_forms(), "'gpu'"], "devices", env={"KAISEKI_DEVICE": "gpu"})


def a_missing_gpu_is_told_once():
    gpu = any(json.loads(line)["gpu"] for line in works("devices", "--json").stdout.splitlines())
    said = works("devices").stdout
    check(said.count("no GPU can be used: ") == (0 if gpu else 1), "one line about the GPU", said)


def documented_targets_count():
    row = re.search(r"^\| `KAISEKI_CPU_TARGET` \|(.*?)\|", (ROOT / "docs/environment.md").read_text(), re.M).group(1)
    targets = re.findall(r"`(\w+)`", row)
    check(len(targets) >= 3, "the row names the targets", row)
    for target in targets:
        seen = works("devices", env={"KAISEKI_CPU_TARGET": target}).stdout
        check(target != "sse4" or "Highway SSE4" in seen, "sse4 caps the instruction set", seen)


def small_device_is_named():
    devices = works("devices", "--json").stdout
    for device in ["cpu"] + ["opencl"] * ("opencl:0" in devices):
        refuses(["out of memory", "asked for", "in use", "budget 1.0 MiB", "KAISEKI_DEVICE_MEMORY"],
                "train", LENET, "--data", "digits:600:1", "--device", device,
                env={"KAISEKI_DEVICE_MEMORY": "1M"})


main(table_and_header_agree, other_variables_are_documented, values_take_effect, documented_targets_count,
     small_device_is_named, a_missing_gpu_is_told_once)
