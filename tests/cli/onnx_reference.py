# SPDX-License-Identifier: MIT
"""onnx_reference.py MODEL.onnx X.npy Y.npy...: checks the file with ONNX's checker and computes its graph in float64
with NumPy, as ONNX's specification defines it. Writes one file for each output. Needs Debian's python3-onnx.
"""
import math
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def windows(x, kernel, strides, pads, dilations, fill, ceil_mode=False):
    """Returns [n, c, out_h, out_w, kernel_h, kernel_w]."""
    size = [x.shape[2 + i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1 for i in range(2)]
    out = [(math.ceil if ceil_mode else math.floor)(size[i] / strides[i]) + 1 for i in range(2)]
    more = [max(0, (out[i] - 1) * strides[i] - size[i]) for i in range(2)]
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2] + more[0]), (pads[1], pads[3] + more[1])), constant_values=fill)
    index = [np.arange(out[i])[:, None] * strides[i] + np.arange(kernel[i])[None] * dilations[i] for i in range(2)]
    return x[:, :, index[0][:, None, :, None], index[1][None, :, None, :]]


def conv(x, w, b=0, *, group, kernel_shape, strides, pads, dilations):
    seen = windows(x, kernel_shape, strides, pads, dilations, 0)
    inputs, outputs = w.shape[1], w.shape[0] // group
    parts = [np.einsum("nchwij,kcij->nkhw", seen[:, g * inputs:(g + 1) * inputs], w[g * outputs:(g + 1) * outputs])
             for g in range(group)]
    return np.concatenate(parts, 1) + np.reshape(b, (1, -1, 1, 1))


def max_pool(x, *, kernel_shape, strides, pads, ceil_mode=0):
    return windows(x, kernel_shape, strides, pads, (1, 1), -np.inf, ceil_mode).max((4, 5))


def average_pool(x, *, kernel_shape, strides, pads, ceil_mode=0, count_include_pad=0):
    seen = windows(x, kernel_shape, strides, pads, (1, 1), 0, ceil_mode).sum((4, 5))
    inside = windows(np.ones_like(x), kernel_shape, strides, pads, (1, 1), 0, ceil_mode).sum((4, 5))
    return seen / (kernel_shape[0] * kernel_shape[1] if count_include_pad else inside)


def lrn(x, *, size, alpha, beta, bias):
    square = np.pad(x * x, ((0, 0), ((size - 1) // 2, size // 2), (0, 0), (0, 0)))
    return x / (bias + alpha / size * sum(square[:, i:i + x.shape[1]] for i in range(size))) ** beta


def batch_normalization(x, scale, bias, mean, variance, *, epsilon, momentum):
    scale, bias, mean, variance = (v.reshape([1, -1] + [1] * (x.ndim - 2)) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def softmax(x, *, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


OPERATORS = {
    "Add": lambda a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Concat": lambda *x, axis: np.concatenate(x, axis),
    "Conv": conv,
    "Dropout": lambda x, ratio: x,
    "Flatten": lambda x, axis: x.reshape(x.shape[0], -1),
    "Identity": lambda x: x,
    "Gemm": lambda x, w, b=0, *, transB: x @ w.T + b,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "GlobalMaxPool": lambda x: x.max((2, 3), keepdims=True),
    "LRN": lrn,
    "LeakyRelu": lambda x, alpha: np.where(x < 0, alpha * x, x),
    "MaxPool": max_pool,
    "Mul": lambda a, b: a * b,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Softmax": softmax,
    "Sum": lambda *x: sum(x),
    "Tanh": np.tanh,
    "Transpose": lambda x, perm: x.transpose(perm),
}


def main(model_file, x_file, *y_files):
    model = onnx.load(model_file)
    onnx.checker.check_model(model, full_check=True)
    values = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in model.graph.initializer}
    values[model.graph.input[0].name] = np.load(x_file).astype(np.float64)
    for node in model.graph.node:
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type not in OPERATORS:
            sys.exit(f"add the operator {node.op_type} to OPERATORS in tests/cli/onnx_reference.py")
        values[node.output[0]] = OPERATORS[node.op_type](*[values[name] for name in node.input], **settings)
    assert len(y_files) == len(model.graph.output), f"{model.graph.output}"
    for output, y_file in zip(model.graph.output, y_files):
        y = values[output.name].astype(np.float32)
        inferred = output.type.tensor_type.shape.dim
        assert [d.dim_value for d in inferred][1:] == list(y.shape)[1:], f"{inferred} {y.shape}"
        np.save(y_file, y)


main(*sys.argv[1:])
