#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command on an OpenCL device: the same losses as on the CPU, resumed bit for bit, and weights that the CPU
reads.
"""
import json
import pathlib
import signal

from support import LENET, ROOT, check, main, opencl_is_there, start, train, until_logged, works

RUN = ["--epochs", 2, "--batch-size", 32, "--seed", 3, "--augment", "crop:2", "--schedule", "cosine"]


def first_losses(network, device):
    log = f"{pathlib.Path(network).stem}-{device}.jsonl"
    works("train", network, "--device", device, "--data", "digits:1280:1", "--epochs", 1, "--eval-every", 0, "--log",
          log, "--log-every", 1, "--batch-size", 60)
    losses = [line["loss"] for line in map(json.loads, open(log)) if line["event"] == "step"]
    check(len(losses) >= 20, f"{log}: a loss for each of 20 steps", str(len(losses)))
    return losses[:20]


def the_same_losses():
    for network in (LENET, ROOT / "models/cifar.json"):
        cpu, opencl = (first_losses(network, device) for device in ("cpu", "opencl"))
        apart = [abs(a - b) / abs(a) for a, b in zip(cpu, opencl)]
        print(f"{pathlib.Path(network).stem}: at most {max(apart):.1e} apart")
        # Later, rounding changes which element of a window is the largest, and training amplifies the difference.
        check(max(apart[:8]) <= 1e-4 and max(apart) <= 3e-2 and cpu[0] != cpu[-1], f"{network}: the losses agree", f"{cpu}\n{opencl}")


def same(a, b, what):
    check(pathlib.Path(a).read_bytes() == pathlib.Path(b).read_bytes(), what)


def resumed_bit_for_bit():
    device = ["--device", "opencl"]
    for optimizer in ("momentum", "adam"):
        own = [*RUN, *device, "--optimizer", optimizer, "--lr", 0.001]
        train(*own, "--save", "straight.safetensors", data="digits:2000:1")
        process = start("train", LENET, "--data", "digits:2000:1", "--test-limit", 100, *own, "--checkpoint",
                        optimizer, "--log", f"{optimizer}.jsonl", "--log-every", 1)
        until_logged(process, f"{optimizer}.jsonl", 21)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        check(process.returncode == 0 and "interrupted" in out, f"{optimizer}: stopped within an epoch", out + err)
        done = train(*own, "--checkpoint", optimizer, "--resume", "--save", "resumed.safetensors",
                     data="digits:2000:1")
        check("continuing from" in done.stdout, "it prints that it continues", done.stdout)
        same("straight.safetensors", "resumed.safetensors", f"{optimizer}: resumed as straight")


def weights_load_on_other_devices():
    train("--device", "opencl", "--epochs", 2, "--save", "w.safetensors", data="digits:2000:1")
    found = [json.loads(works("eval", LENET, "--device", device, "--weights", "w.safetensors", "--data",
                              "digits:2000:1", "--json").stdout) for device in ("cpu", "opencl")]
    check(abs(found[0]["loss"] - found[1]["loss"]) <= 1e-4 * found[0]["loss"] and found[0]["top1"] > 0.8,
          "the same evaluation on both", str(found))
    said = [json.loads(works("predict", LENET, "--device", device, "--weights", "w.safetensors",
                             ROOT / "examples/seven.png", "--json").stdout) for device in ("cpu", "opencl")]
    check(abs(said[0]["probability"] - said[1]["probability"]) < 1e-4 and said[0]["class"] == said[1]["class"],
          "the same prediction on both", str(said))


if opencl_is_there():
    main(the_same_losses, resumed_bit_for_bit, weights_load_on_other_devices)
else:
    main()
