# SPDX-License-Identifier: MIT
"""Layers of docs/network-json.md with NumPy. A layer has forward(x) and backward(gradient of its output). backward() returns
the gradient of the input and stores the gradients of the parameters in `gradients`. A network is a chain of such layers.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

MASK32 = np.uint64(0xFFFFFFFF)


def settings(layer, **defaults):
    """The layer's settings, by name. Throws ValueError for a setting that this example lacks."""
    given = {key: value for key, value in layer.items()
             if key not in ("name", "type", "inputs") and not key.endswith("_initializer")}
    if set(given) - set(defaults):
        raise ValueError(f"{layer['name']}: this node does not know {sorted(set(given) - set(defaults))}")
    return {**defaults, **given}


def pair(value):
    return tuple(value) if isinstance(value, list) else (value, value)


class Layer:
    """Of a type with parameters `names`, which it reads as self.weight and self.bias."""
    names = ()

    def __init__(self, layer, weights):
        self.name, self.gradients = layer["name"], {}
        for name in self.names:
            setattr(self, name, weights.get(f"{self.name}.{name}"))

    def give(self, weight, bias):
        self.gradients = {f"{self.name}.weight": weight, f"{self.name}.bias": bias}


class FullyConnected(Layer):
    names = ("weight", "bias")

    def forward(self, x):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        y = self.x @ self.weight.T
        return y if self.bias is None else y + self.bias

    def backward(self, g):
        self.give(g.T @ self.x, g.sum(0))
        return (g @ self.weight).reshape(self.shape)


class Windows:
    """Windows of [n, c, h, w], as [n, c, rows, columns, kernel height, kernel width]."""

    def __init__(self, kernel_size, stride, padding=0):
        self.kernel, self.stride, self.padding = pair(kernel_size), pair(stride), pair(padding)

    def of(self, x):
        (v, h), (down, right) = self.padding, self.stride
        x = np.pad(x, ((0, 0), (0, 0), (v, v), (h, h)))
        self.shape = x.shape
        windows = sliding_window_view(x, self.kernel, (2, 3))[:, :, ::down, ::right]
        self.size = windows.shape[2:4]
        return windows

    def sum(self, part):
        """Adds part(i, j), of [n, c, rows, columns], where element i, j of each window lies in x."""
        x = np.zeros(self.shape, np.float32)
        (down, right), (rows, columns), (v, h) = self.stride, self.size, self.padding
        for i, j in np.ndindex(self.kernel):
            x[:, :, i:i + down * rows:down, j:j + right * columns:right] += part(i, j)
        return x[:, :, v:x.shape[2] - v, h:x.shape[3] - h]


class Convolution(Layer):
    names = ("weight", "bias")

    def __init__(self, layer, weights):
        super().__init__(layer, weights)
        of = settings(layer, output_channels=0, kernel_size=0, stride=1, padding=0, bias=True)
        if of["bias"] == "position":
            raise ValueError(f"{self.name}: this node knows only one bias for each channel")
        self.windows = Windows(of["kernel_size"], of["stride"], of["padding"])

    def forward(self, x):
        self.x = self.windows.of(x)
        y = np.tensordot(self.x, self.weight, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
        return y if self.bias is None else y + self.bias[:, None, None]

    def backward(self, g):
        self.give(np.tensordot(g, self.x, ((0, 2, 3), (0, 2, 3))), g.sum((0, 2, 3)))
        return self.windows.sum(lambda i, j: np.tensordot(g, self.weight[:, :, i, j], (1, 0)).transpose(0, 3, 1, 2))


class MaxPooling(Layer):
    def __init__(self, layer, weights):
        super().__init__(layer, weights)
        of = settings(layer, kernel_size=0, stride=layer["kernel_size"])
        self.windows = Windows(of["kernel_size"], of["stride"])

    def forward(self, x):
        windows = self.windows.of(x)
        windows = windows.reshape(*windows.shape[:4], -1)
        self.best = windows.argmax(-1)  # the first of equal values
        return windows.max(-1)

    def backward(self, g):
        width = self.windows.kernel[1]
        return self.windows.sum(lambda i, j: g * (self.best == i * width + j))


class Relu(Layer):
    def forward(self, x):
        self.y = np.maximum(x, 0)
        return self.y

    def backward(self, g):
        return g * (self.y > 0)


class Tanh(Layer):
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, g):
        return g * (1 - self.y**2)


class Dropout(Layer):
    def __init__(self, layer, weights):
        super().__init__(layer, weights)
        self.keep = np.float32(1) - np.float32(settings(layer, ratio=0.5)["ratio"])

    def forward(self, x):
        seed, position, first = self.draws
        words = philox(seed, fnv1a(self.name) << 32 | position + 1, first * x[0].size, x.size)
        drawn = (words >> np.uint64(8)).astype(np.float32) * np.float32(2**-24)
        self.mask = np.where(drawn < self.keep, 1 / self.keep, np.float32(0)).reshape(x.shape)
        return x * self.mask

    def backward(self, g):
        return g * self.mask


def fnv1a(text):
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def philox(seed, stream, start, count):
    """The words start to start + count - 1 of Philox4x32-10."""
    blocks = np.arange(start // 4, (start + count + 3) // 4, dtype=np.uint64)
    c = [blocks & MASK32, blocks >> np.uint64(32), *(np.full_like(blocks, word) for word in (stream % 2**32, stream >> 32))]
    key = [seed % 2**32, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(key[0]), b & MASK32, a >> np.uint64(32) ^ c[3] ^ np.uint64(key[1]), a & MASK32]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return np.stack(c, 1).ravel()[start % 4:start % 4 + count]


LAYERS = {"convolution": Convolution, "max_pooling": MaxPooling, "fully_connected": FullyConnected, "relu": Relu, "tanh": Tanh,
          "dropout": Dropout}


class Network:
    """Of the network's JSON. `weights` has parameters by name, `draws` is the ticket's (seed, position, first)."""

    def __init__(self, spec, weights, draws):
        layers = list(spec["layers"])
        self.ending = []  # the layers after the logits
        for kind in ("softmax_cross_entropy", "softmax"):
            if layers[-1]["type"] == kind:
                settings(layers.pop())
                self.ending.append(kind)
        self.layers, last = [], next(iter(spec["inputs"]))
        for layer in layers:
            if layer["type"] not in LAYERS or layer.get("inputs", [last]) != [last] or "phase" in layer:
                raise ValueError(f"expected a chain of {', '.join(LAYERS)}, got {layer}")
            self.layers.append(LAYERS[layer["type"]](layer, weights))
            self.layers[-1].draws = draws
            last = layer["name"]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, g):
        """Returns the gradients of all parameters by name."""
        for layer in reversed(self.layers):
            g = layer.backward(g)
        return {name: value for layer in self.layers for name, value in layer.gradients.items()}

    def loss(self, x, labels):
        """Returns the mean cross-entropy, the network's output, and the gradient of the mean for the logits."""
        if labels.dtype != np.int32 or labels.min() < 0:
            raise ValueError("expected a class for each sample as its label")
        logits = self.forward(x)
        powers = np.exp(logits - logits.max(1, keepdims=True))
        probabilities = powers / powers.sum(1, keepdims=True)
        rows = np.arange(len(x))
        gradient = probabilities.copy()
        gradient[rows, labels] -= 1
        output = probabilities if self.ending else logits
        return -np.log(probabilities[rows, labels]).mean(), output, gradient / np.float32(len(x))
