#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kaiseki run` gives PyTorch's results for every layer type, forward and backward, on the CPU and on OpenCL.
tests/reference/make_torch_cases.py wrote them.
"""
import json
import pathlib
import struct

from npy import read_npy, write_npy
from support import ROOT, check, main, opencl_is_there, works

CASES = sorted((ROOT / "tests/reference/data").iterdir())
RELATIVE, ABSOLUTE = 1e-4, 1e-5  # f32 on both sides, sums of up to 231 terms of size about 1 in another order


def agrees(ours, theirs, what):
    (shape, values), (wanted_shape, wanted) = read_npy(ours), read_npy(theirs)
    far = [(a, b) for a, b in zip(values, wanted) if not abs(a - b) <= ABSOLUTE + RELATIVE * abs(b)]
    check(shape == wanted_shape and wanted and not far, what, f"{shape} {wanted_shape} {far[:3]}")


def gradient_of_the_output(case):
    """Returns gy.npy. If the network ends in a loss, writes the gradient of the loss to gy.npy first."""
    if (case / "gy.npy").exists():
        return case / "gy.npy"
    shape, y = read_npy(case / "y.npy")
    if (case / "labels.npy").exists():  # the gradient of -mean(log y[label])
        gy = [0.0] * len(y)
        for n, label in enumerate(read_npy(case / "labels.npy")[1]):
            gy[n * shape[1] + label] = -1 / (shape[0] * y[n * shape[1] + label])
    else:  # the gradient of mean((y - t)^2)
        gy = [2 * (a - t) / len(y) for a, t in zip(y, read_npy(case / "targets.npy")[1])]
    write_npy("gy.npy", shape, gy)
    return "gy.npy"


def test_phase_of(case):
    """y.npy is of the training phase. Only batch normalization differs in the test phase: it uses the running
    statistics, which are 0 and 1.
    """
    if case.name != "batch_normalization":
        return case / "y.npy"
    shape, x = read_npy(case / "x.npy")
    weights = (case / "weights.safetensors").read_bytes()
    header = json.loads(weights[8:8 + int.from_bytes(weights[:8], "little")])
    body = weights[8 + int.from_bytes(weights[:8], "little"):]
    weight, bias = (struct.unpack("<3f", body[slice(*header[f"layer.{name}"]["data_offsets"])])
                    for name in ("weight", "bias"))
    channel = [i // (shape[2] * shape[3]) % shape[1] for i in range(len(x))]
    write_npy("inference.npy", shape, [weight[c] * value / (1 + 1e-3) ** 0.5 + bias[c] for c, value in zip(channel, x)])
    return "inference.npy"


def agrees_on(device):
    for case in CASES:
        weights = case / "weights.safetensors"
        own = ["run", case / "net.json", "--device", device, *(["--weights", weights] if weights.exists() else []),
               "--input", case / "x.npy", "--output", "y.npy"]
        works(*own)
        agrees("y.npy", test_phase_of(case), f"{device}: {case.name}: y in the test phase")
        works(*own, "--phase", "train", "--grad-output", gradient_of_the_output(case), "--grads", case.name)
        agrees("y.npy", case / "y.npy", f"{device}: {case.name}: y")
        for file in sorted((case / "grads").iterdir()):
            agrees(pathlib.Path(case.name, file.name), file, f"{device}: {case.name}: grads/{file.name}")
    check(len(CASES) >= 26, "all cases exist", str(len(CASES)))


def on_the_cpu():
    agrees_on("cpu")


def on_opencl():
    if opencl_is_there():
        agrees_on("opencl")


main(on_the_cpu, on_opencl)
