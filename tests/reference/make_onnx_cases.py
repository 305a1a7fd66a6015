#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes ONNX files of small classic networks with torch.onnx.export, and PyTorch's results for them.

A case is tests/reference/onnx/NAME.onnx with an input NAME.x.npy and an output NAME.y.npy. PyTorch computes the output in the
test phase, in float64. Each file has one operator set. Run this script with Debian's python3-torch."""
import pathlib
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DATA = pathlib.Path(__file__).parent / "onnx"


class Lrn(torch.autograd.Function):
    """Exports LRN. The exporter cannot convert F.local_response_norm, although ONNX has an operator for it."""

    @staticmethod
    def symbolic(g, x, size):
        return g.op("LRN", x, size_i=size, alpha_f=1e-4, beta_f=0.75, bias_f=2.0)

    @staticmethod
    def forward(ctx, x, size):
        return F.local_response_norm(x, size, 1e-4, 0.75, 2.0)


class LrnLayer(nn.Module):
    def forward(self, x):
        return Lrn.apply(x, 5)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.down = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.down(x))


class ViewHead(nn.Module):
    """Flattens in a common way: the graph computes the batch size."""

    def __init__(self, *sizes):
        super().__init__()
        self.fc = nn.Linear(*sizes)

    def forward(self, x):
        return self.fc(x.view(x.size(0), -1))


class Inception(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.one = nn.Conv2d(inputs, 2, 1)
        self.three = nn.Sequential(nn.Conv2d(inputs, 2, 1), nn.ReLU(), nn.Conv2d(2, 3, 3, padding=1))
        self.five = nn.Sequential(nn.Conv2d(inputs, 1, 1), nn.ReLU(), nn.Conv2d(1, 2, 5, padding=2))
        self.pool = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(inputs, 1, 1))

    def forward(self, x):
        return F.relu(torch.cat([self.one(x), self.three(x), self.five(x), self.pool(x)], 1))


class Fire(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.squeeze, self.left, self.right = nn.Conv2d(inputs, 2, 1), nn.Conv2d(2, 3, 1), nn.Conv2d(2, 3, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.left(x)), F.relu(self.right(x))], 1)


class Preactivated(nn.Module):
    """Has a batch normalization without a convolution before it, a plain matrix product, and a mean as a reduction."""

    def __init__(self):
        super().__init__()
        self.bn, self.conv, self.weight = nn.BatchNorm2d(3), nn.Conv2d(3, 5, 3, dilation=2), nn.Parameter(torch.randn(5, 4))
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x):
        x = torch.tanh(self.conv(F.leaky_relu(self.bn(x), 0.2))).mean([2, 3])
        return torch.sigmoid(torch.matmul(x, self.weight) + self.bias)


def separable(inputs, outputs, stride):
    return [nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False), nn.BatchNorm2d(inputs), nn.ReLU(),
            nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def networks():
    yield "alexnet", 23, nn.Sequential(
        nn.Conv2d(3, 4, 7, 2, 2), nn.ReLU(), LrnLayer(), nn.MaxPool2d(3, 2), nn.Conv2d(4, 6, 3, padding=1, groups=2), nn.ReLU(),
        nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dropout(), nn.Linear(24, 7), nn.ReLU(), nn.Linear(7, 5), nn.Softmax(1))
    yield "vgg", 16, nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2), ViewHead(96, 5))
    yield "resnet", 19, nn.Sequential(
        nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Residual(4, 4, 1),
        Residual(4, 6, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5))
    yield "googlenet", 17, nn.Sequential(
        nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Inception(4), nn.AvgPool2d(3, 2, 1), Inception(8),
        nn.AvgPool2d(2, 2, ceil_mode=True, count_include_pad=False), nn.Flatten(), nn.Linear(8, 5))
    yield "mobilenet", 16, nn.Sequential(
        nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), *separable(4, 6, 1), *separable(6, 8, 2),
        nn.AdaptiveAvgPool2d(1), ViewHead(8, 5))
    yield "squeezenet", 21, nn.Sequential(
        nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Fire(4), Fire(6), nn.Dropout(),
        nn.Conv2d(6, 5, 1), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Softmax(1))
    yield "preactivated", 11, Preactivated()


def write(name, size, network, opset, seed):
    for parameter in network.parameters():
        torch.nn.init.uniform_(parameter, -0.6, 0.6)
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.uniform_(-0.3, 0.3), part.running_var.uniform_(0.5, 1.5)
    network.eval()
    x = torch.randn(2, 3, size, size)
    torch.onnx.export(network, x, str(DATA / f"{name}_{opset}.onnx"), opset_version=opset, input_names=["image"],
                      output_names=["scores"], dynamic_axes={"image": {0: "batch"}} if seed % 2 else None)
    np.save(DATA / f"{name}_{opset}.x.npy", x.numpy())
    np.save(DATA / f"{name}_{opset}.y.npy", network.double()(x.double()).detach().float().numpy())


def main():
    warnings.simplefilter("ignore")
    DATA.mkdir(exist_ok=True)
    for seed in range(14):  # each network has two operator sets; each set has two networks
        torch.manual_seed(seed)
        write(*list(networks())[seed % 7], 7 + (seed + seed // 7 * 3) % 7, seed)


main()
