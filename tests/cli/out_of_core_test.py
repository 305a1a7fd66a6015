#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--out-of-core: a training that does not fit the device goes on slower, or ends, with the same weights."""
import json
import os
import pathlib
import re
import subprocess

from support import KAISEKI, check, deep_network, main, refuses, wide_network, works

ROOM = {"KAISEKI_SPILL_DIR": os.getcwd()}


def arguments(*options):
    return ["train", deep_network(), "--data", "digits:96:1", "--epochs", 1, "--eval-every", 0, "--batch-size", 32, "--seed", 3, "--device",
            "cpu", "--tune", "off", "--workspace", "none", *options]


def weights(name, *options, env=None):
    text = works(*arguments("--save", name, *options), env={**ROOM, **(env or {})}).stderr
    return pathlib.Path(name).read_bytes(), text


def less_memory():
    need = json.loads(works("bench", "train", deep_network(), "--batch-size", 32, "--repeat", 1, "--seconds", 0.01, "--tune", "off",
                            "--workspace", "none").stdout)["memory"]
    return {"KAISEKI_DEVICE_MEMORY": str(need * 7 // 10)}


def tensors_leave_if_there_is_no_room():
    whole, silent = weights("whole.safetensors")
    check("a pass needs more" not in silent, "no warning with enough memory", silent)
    less, warned = weights("less.safetensors", env=less_memory())
    check("a pass needs more" in warned, "a warning tells what happens", warned)
    check(less == whole, "the same weights")


def the_progress_tells_it():
    text = works(*arguments("--memory"), env={**ROOM, **less_memory()}).stdout
    check("  out of core" in text, "progress lines", text)
    found = re.search(r"memory +(\S+) MiB leave the device in a pass, predicted (\S+) s, measured (\S+) s", text)
    check(found and all(float(number) > 0 for number in found.groups()), "--memory", text)
    text = works(*arguments("--memory"), env=ROOM).stdout
    check("out of core" not in text and "leave the device" not in text, "nothing with enough memory", text)


def off_ends_the_training():
    refuses(["out of memory", "asked for", "missing", "step of layer"], *arguments("--out-of-core", "off"), env={**ROOM, **less_memory()})
    weights("off.safetensors", "--out-of-core", "off")


def always_moves_tensors():
    whole, _ = weights("whole.safetensors")
    moved, _ = weights("moved.safetensors", "--out-of-core", "always", "--trace", "trace.json")
    events = json.loads(pathlib.Path("trace.json").read_text())["traceEvents"]
    rows = {event["args"]["name"] for event in events if event["ph"] == "M"}
    check({"file writes", "file reads"} <= rows, "tensors move though there is room", rows)
    check(moved == whole, "the same weights")


def weights_leave_too():
    def trained(name, **env):
        works("train", wide_network(), "--data", "digits:96:1", "--epochs", 1, "--batch-size", 32, "--seed", 3, "--device", "cpu", "--tune",
              "off", "--optimizer", "adam", "--save", name, "--checkpoint", f"{name}.checkpoints", "--memory", env={**ROOM, **env})
        return json.loads(works("eval", "wide.json", "--weights", name, "--data", "digits:96:2", "--json", env={**ROOM, **env}).stdout)

    whole, less = trained("whole.safetensors"), trained("less.safetensors", KAISEKI_DEVICE_MEMORY="16M")
    check(abs(less["loss"] - whole["loss"]) <= 1e-4 * whole["loss"], "about the same loss", (less, whole))


def a_killed_process_leaves_no_file():
    folder = pathlib.Path("killed")
    folder.mkdir()
    process = subprocess.Popen([KAISEKI, *map(str, arguments("--epochs", 1000))], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env={**os.environ, **less_memory(), "KAISEKI_SPILL_DIR": str(folder)})
    for line in process.stdout:
        if "out of core" in line:
            break
    else:
        check(False, "the training ended too early", process.wait())
    process.kill()
    process.wait()
    check(not list(folder.iterdir()), "no file is left", list(folder.iterdir()))


main(weights_leave_too, a_killed_process_leaves_no_file, tensors_leave_if_there_is_no_room, the_progress_tells_it, off_ends_the_training, always_moves_tensors)
