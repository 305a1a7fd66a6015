#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes PyTorch's results for each network of models/ into the folder tests/reference/networks/NAME.

layers.txt has a line for each layer that computes: name, output shape, parameters and multiply-adds, counted from the module.
step.txt has one training step of two pictures in double precision. To keep it small, hashed() makes parameters and pictures, and
the file has only a few numbers of each tensor. A line is: kind, name, norm, scalar product with numbers of hashed(), four
elements, and the error of PyTorch's own step in float (the norm of the difference, divided by the norm).
"""
import math
import pathlib
import sys

import numpy as np
import torch

from torch_networks import NETWORKS, loss_of

FOLDER = pathlib.Path(__file__).parent / "networks"
BATCH, SAMPLES = 2, 4


def hashed(name, count):
    """Returns `count` numbers of 32 bits: Murmur3's finalizer of consecutive numbers. They start at the name's FNV-1a hash."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2 ** 32
    h = np.arange(count, dtype=np.uint32) * np.uint32(2654435769) + np.uint32(seed)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    return h ^ (h >> np.uint32(16))


def uniform(name, shape):
    """Returns numbers in [-1, 1). They are multiples of 2^-23, and therefore exact in float."""
    return ((hashed(name, math.prod(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2.0 ** -23) - np.float32(1)).reshape(shape)


def start_of(network, name, shape):
    """Returns a parameter's first values. Weights have the variance of "he", and biases are about 0.

    Normalizations have scales about 0.75 and shifts about 2. In ResNets half of the channels have shifts about -2. Few inputs of
    the following ReLU are then near 0. Near 0, rounding decides the sign, and the gradients would differ. In MobileNet no shift is
    negative, because a channel of zeros would have no variance."""
    u = uniform(name, shape)
    if len(shape) > 1:
        return u * np.float32(math.sqrt(6 / math.prod(shape[1:])))
    if name.endswith(".weight"):
        return u * np.float32(0.25) + np.float32(0.75)
    if network.startswith("resnet"):
        return u + np.where(u < 0, np.float32(-2), np.float32(2))
    return u * np.float32(0.5) + np.float32(2) if network == "mobilenet" else u * np.float32(0.125)


def our_name(network, name):
    if network not in ("googlenet", "squeezenet"):
        return name
    layer, dot, parameter = name.rpartition(".")
    return layer.replace(".", "/") + dot + parameter if parameter in ("weight", "bias") else name.replace(".", "/")


def layers_of(network, module, shape):
    """Returns {name: (output shape, parameters, multiply-adds)} of the layers that have parameters, pool or normalize."""
    rows = {}

    def count(name, layer, output):
        work = layer.weight[0].numel() * output[0].numel() if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)) else 0
        rows[our_name(network, name)] = ("x".join(map(str, output.shape[1:])), sum(p.numel() for p in layer.parameters()), work)

    passed = (torch.nn.ReLU, torch.nn.Dropout, torch.nn.Flatten)
    hooks = [layer.register_forward_hook(lambda layer, x, y, name=name: count(name, layer, y))
             for name, layer in module.named_modules() if not list(layer.children()) and not isinstance(layer, passed)]
    with torch.no_grad():
        module(torch.zeros(2, *shape))
    for hook in hooks:
        hook.remove()
    return rows


def step(network, dtype):
    """Returns {(kind, name): tensor} of one step, in double. The step computes in `dtype`, with dropout's ratio 0."""
    make, shape = NETWORKS[network]
    module = make().to(dtype)
    module.train()
    parameters = {our_name(network, name): p for name, p in module.named_parameters()}
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.from_numpy(start_of(network, name, tuple(parameter.shape))))
    for layer in module.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0
    x = torch.from_numpy(uniform("image", (BATCH, *shape))).to(dtype)
    labels = torch.from_numpy(hashed("labels", BATCH).astype(np.int64) % 1000)
    outputs = module(x)
    loss = loss_of(outputs, labels)
    loss.backward()
    logits = outputs[0] if isinstance(outputs, tuple) else outputs
    result = {("loss", "train"): loss.reshape(1), ("output", "probabilities"): torch.softmax(logits, 1)}
    result |= {("gradient", name): p.grad for name, p in parameters.items()}
    result |= {("state", name): s for name, s in module.named_buffers() if s.dim() > 0}
    module.eval()
    with torch.no_grad():
        result["loss", "test"] = loss_of(module(x), labels).reshape(1)
    return {key: value.detach().double().numpy().ravel() for key, value in result.items()}


def write(network):
    make, shape = NETWORKS[network]
    folder = FOLDER / network
    folder.mkdir(parents=True, exist_ok=True)
    rows = layers_of(network, make(), shape)
    (folder / "layers.txt").write_text("".join(f"{name} {' '.join(map(str, row))}\n" for name, row in rows.items()))
    exact, single = step(network, torch.float64), step(network, torch.float32)
    lines = []
    for (kind, name), values in exact.items():
        norm = np.linalg.norm(values)
        error = np.linalg.norm(single[kind, name] - values) / norm
        elements = values[hashed(name + " elements", SAMPLES).astype(np.int64) % values.size]
        numbers = [norm, values @ uniform(name + " product", values.shape).astype(np.float64), *elements]
        lines.append(" ".join([kind, name, *(f"{v:.9g}" for v in numbers), f"{error:.1e}"]) + "\n")
    (folder / "step.txt").write_text("".join(lines))
    errors = sorted(float(line.split()[-1]) for line in lines)
    print(f"{network}: {len(rows)} layers, {len(lines)} tensors, PyTorch's error in float {errors[len(errors) // 2]:.1e}, at most {errors[-1]:.1e}")


if __name__ == "__main__":
    torch.set_num_threads(2)
    print(f"PyTorch {torch.__version__}")
    for name in sys.argv[1:] or [name for name in NETWORKS if name not in ("lenet", "cifar")]:
        write(name)
