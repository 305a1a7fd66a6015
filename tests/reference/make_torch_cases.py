#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes PyTorch's results for every type of layer, forward and backward, on odd shapes.

Each case is a folder of tests/reference/data. It has the inputs of `kaiseki run net.json --phase train`: net.json, x.npy, gy.npy
(a gradient of y) and, if the layer has parameters, weights.safetensors. It has the expected results: y.npy, grads/input.npy and
grads/PARAMETER.npy. Cases that end in a loss have labels.npy (or targets.npy) and loss.npy instead of gy.npy and grads/input.npy.
"""
import json
import pathlib
import shutil
import struct

import numpy as np
import torch
import torch.nn.functional as F

DATA = pathlib.Path(__file__).parent / "data"
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def layer(type_name, name="layer", **settings):
    return {"name": name, "type": type_name, **settings}


class Parameters(dict):
    """Trained tensors by name. The first request for a tensor draws its values."""

    def __call__(self, name, *shape):
        if name not in self:
            self[name] = (torch.rand(shape) * 1.6 - 0.8).requires_grad_()
        return self[name]


@case
def convolution(x, p):
    return layer("convolution", output_channels=5, kernel_size=3), F.conv2d(x, p("layer.weight", 5, 3, 3, 3), p("layer.bias", 5))


@case
def convolution_stride_padding(x, p):
    return (layer("convolution", output_channels=7, kernel_size=[3, 2], stride=[2, 3], padding=[2, 1]),
            F.conv2d(x, p("layer.weight", 7, 3, 3, 2), p("layer.bias", 7), stride=(2, 3), padding=(2, 1)))


@case
def convolution_dilation_groups(x, p):
    return (layer("convolution", output_channels=6, kernel_size=3, dilation=2, groups=3, padding=2, bias=False),
            F.conv2d(x, p("layer.weight", 6, 1, 3, 3), dilation=2, groups=3, padding=2))


@case
def convolution_pointwise_relu(x, p):
    return ([layer("convolution", output_channels=17, kernel_size=1), layer("relu", "act")],
            F.relu(F.conv2d(x, p("layer.weight", 17, 3, 1, 1), p("layer.bias", 17))))


@case
def convolution_relu_pool(x, p):
    return ([layer("convolution", output_channels=4, kernel_size=5, padding=2), layer("relu", "act"), layer("max_pooling", "pool", kernel_size=2)],
            F.max_pool2d(F.relu(F.conv2d(x, p("layer.weight", 4, 3, 5, 5), p("layer.bias", 4), padding=2)), 2))


@case
def max_pooling(x, p):
    return layer("max_pooling", kernel_size=3, stride=2, padding=1), F.max_pool2d(x, 3, 2, 1)


@case
def max_pooling_ceil(x, p):
    return layer("max_pooling", kernel_size=[2, 3], stride=2, ceil_mode=True), F.max_pool2d(x, (2, 3), 2, ceil_mode=True)


@case
def average_pooling(x, p):
    return (layer("average_pooling", kernel_size=3, stride=2, padding=1),
            F.avg_pool2d(x, 3, 2, 1, count_include_pad=False))


@case
def average_pooling_whole(x, p):
    return (layer("average_pooling", kernel_size=[3, 2], padding=1, stride=1, count_padding=True),
            F.avg_pool2d(x, (3, 2), 1, 1, count_include_pad=True))


@case
def global_pooling(x, p):
    return layer("global_pooling"), F.adaptive_avg_pool2d(x, 1)


@case
def global_pooling_max(x, p):
    return layer("global_pooling", kind="max"), F.adaptive_max_pool2d(x, 1)


@case
def fully_connected(x, p):
    return layer("fully_connected", output_size=11), F.linear(x.flatten(1), p("layer.weight", 11, 231), p("layer.bias", 11))


@case
def fully_connected_tanh(x, p):
    return ([layer("fully_connected", output_size=3, bias=False), layer("tanh", "act")],
            torch.tanh(F.linear(x.flatten(1), p("layer.weight", 3, 231))))


@case
def relu(x, p):
    return layer("relu"), F.relu(x)


@case
def leaky_relu(x, p):
    return layer("leaky_relu", slope=0.1), F.leaky_relu(x, 0.1)


@case
def sigmoid(x, p):
    return layer("sigmoid"), torch.sigmoid(x)


@case
def tanh(x, p):
    return layer("tanh"), torch.tanh(x)


@case
def softmax(x, p):
    return layer("softmax"), F.softmax(x, 1)


@case
def flatten(x, p):
    return layer("flatten"), x.flatten(1)


@case
def dropout_of_nothing(x, p):
    return layer("dropout", ratio=0), F.dropout(x, 0.0)


@case
def batch_normalization(x, p):
    p["layer.running_mean"], p["layer.running_var"] = torch.zeros(3), torch.ones(3)
    return (layer("batch_normalization", eps=1e-3),
            F.batch_norm(x, torch.zeros(3), torch.ones(3), p("layer.weight", 3), p("layer.bias", 3), training=True, eps=1e-3))


@case
def local_response_normalization(x, p):
    return (layer("local_response_normalization", size=3, alpha=0.2, beta=0.75, k=1.5),
            F.local_response_norm(x, 3, 0.2, 0.75, 1.5))


@case
def concatenation(x, p):
    return ([layer("relu", "a"), layer("convolution", "b", inputs=["x"], output_channels=2, kernel_size=1), layer("concatenation", inputs=["a", "b", "x"])],
            torch.cat([F.relu(x), F.conv2d(x, p("b.weight", 2, 3, 1, 1), p("b.bias", 2)), x], 1))


@case
def add(x, p):
    return ([layer("sigmoid", "a"), layer("add", inputs=["a", "x", "a"])], torch.sigmoid(x) * 2 + x)


@case
def softmax_cross_entropy(x, p):
    logits = F.linear(x.flatten(1), p("f.weight", 5, 231), p("f.bias", 5))
    return [layer("fully_connected", "f", output_size=5), layer("softmax_cross_entropy", "loss")], logits


@case
def mean_squared_error(x, p):
    return [layer("fully_connected", "f", output_size=4), layer("mean_squared_error", "loss")], F.linear(x.flatten(1), p("f.weight", 4, 231), p("f.bias", 4))


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, tensor in tensors.items():
        data = tensor.detach().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def write(name, function):
    torch.manual_seed(len(name) * 1000 + sum(map(ord, name)))
    folder = DATA / name
    (folder / "grads").mkdir(parents=True)
    x = (torch.rand(2, 3, 7, 11) * 4 - 2).requires_grad_()
    parameters = Parameters()
    layers, y = function(x, parameters)
    layers = layers if isinstance(layers, list) else [layers]
    lines = ",\n    ".join(json.dumps(one) for one in layers)
    (folder / "net.json").write_text('{"inputs": {"x": {"shape": [3, 7, 11]}},\n "layers": [\n    ' + lines + "]}\n")
    if parameters:
        write_safetensors(folder / "weights.safetensors", parameters)

    def save(file, tensor):
        np.save(folder / file, tensor.detach().numpy())

    save("x.npy", x)
    if layers[-1]["type"] == "softmax_cross_entropy":
        labels = torch.tensor([4, 1])
        np.save(folder / "labels.npy", labels.numpy().astype(np.int32))
        loss = F.cross_entropy(y, labels)
        y = F.softmax(y, 1)
    elif layers[-1]["type"] == "mean_squared_error":
        targets = torch.rand_like(y)
        save("targets.npy", targets)
        loss = F.mse_loss(y, targets)
    else:
        gy = torch.rand_like(y) * 2 - 1
        save("gy.npy", gy)
        loss = (y * gy).sum()
    save("y.npy", y)
    loss.backward()
    if (folder / "gy.npy").exists():
        save("grads/input.npy", x.grad)
    else:
        save("loss.npy", loss.reshape(1))
    for key, tensor in parameters.items():
        if tensor.grad is not None:
            save(f"grads/{key}.npy", tensor.grad)


if __name__ == "__main__":
    shutil.rmtree(DATA, ignore_errors=True)
    for name, function in CASES.items():
        write(name, function)
    print(f"{len(CASES)} cases by PyTorch {torch.__version__}")
