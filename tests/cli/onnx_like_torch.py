# SPDX-License-Identifier: MIT
"""onnx_like_torch.py MODEL.onnx: writes a graph as torch.onnx.export does for a new network. The names are
input_names=["image"] and output_names=["out0", "out1", "same"]. Parameters with equal initial values share one
initializer. An Identity node adds each further name. Needs Debian's python3-onnx.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VALUES = {
    "conv1.weight": np.linspace(-1, 1, 54).reshape(2, 3, 3, 3),
    "bn1.weight": np.ones(2),
    "bn1.bias": np.zeros(2),
    "fc.weight": np.linspace(-1, 1, 96).reshape(3, 32),
    "fc.bias": np.array([0.5, 0, -0.5]),
}
SHARED = {
    "bn1.running_mean": "bn1.bias",
    "bn1.running_var": "bn1.weight",
    "bn2.weight": "bn1.weight",
    "bn2.bias": "bn1.bias",
    "bn2.running_mean": "bn1.bias",
    "bn2.running_var": "bn1.weight",
}


def batch_normalization(x, name, y):
    parts = [f"{name}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    return helper.make_node("BatchNormalization", [x, *parts], [y], f"/{name}/BatchNormalization", epsilon=1e-5, momentum=0.9)


def value(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *dims])


nodes = [
    *(helper.make_node("Identity", [of], [name], f"Identity_{i}") for i, (name, of) in enumerate(SHARED.items())),
    helper.make_node("Conv", ["image", "conv1.weight"], ["/conv1/Conv_output_0"], "/conv1/Conv", dilations=[1, 1], group=1,
                     kernel_shape=[3, 3], pads=[0, 0, 0, 0], strides=[1, 1]),
    batch_normalization("/conv1/Conv_output_0", "bn1", "/bn1/output_0"),
    helper.make_node("Relu", ["/bn1/output_0"], ["out1"], "/relu/Relu"),
    batch_normalization("out1", "bn2", "/bn2/output_0"),
    helper.make_node("Flatten", ["/bn2/output_0"], ["/Flatten_output_0"], "/Flatten", axis=1),
    helper.make_node("Gemm", ["/Flatten_output_0", "fc.weight", "fc.bias"], ["out0"], "/fc/Gemm", transB=1),
    helper.make_node("Identity", ["out0"], ["same"], "/Identity"),
]
graph = helper.make_graph(nodes, "main_graph", [value("image", 3, 6, 6)], [value("out0", 3), value("out1", 2, 4, 4), value("same", 3)],
                          [numpy_helper.from_array(array.astype(np.float32), name) for name, array in VALUES.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
onnx.checker.check_model(model, full_check=True)
onnx.save(model, sys.argv[1])
