#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a network with PyTorch on random samples in memory, like `kaiseki bench train`. Prints one JSON line.

  bench/torch_train.py NETWORK contiguous|channels_last THREADS BATCH_SIZE SECONDS [cpu|cuda]

On a GPU, the samples are in its memory, products are f32 without TF32, and cuDNN measures its algorithms.
"""
import json
import pathlib
import resource
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "reference"))
sys.dont_write_bytecode = True
from torch_networks import NETWORKS, loss_of  # noqa: E402

BATCHES, BYTES = 8, 16 << 20  # the values in cli/bench_train.cc


def main(network, layout, threads, batch_size, seconds, device="cpu"):
    torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    make, shape = NETWORKS[network]
    memory_format = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    module = make().to(device, memory_format=memory_format).train()
    classes = 10 if network in ("lenet", "cifar") else 1000
    count = min(BATCHES, max(1, BYTES // (4 * batch_size * shape[0] * shape[1] * shape[2])))
    batches = [(torch.rand(batch_size, *shape).to(device, memory_format=memory_format),
                torch.randint(classes, (batch_size,)).to(device)) for _ in range(count)]
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)

    def seconds_of(steps):
        start = time.perf_counter()
        for i in range(steps):
            x, labels = batches[i % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            loss_of(module(x), labels).backward()
            optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    seconds_of(2)
    one = seconds_of(1)
    steps = max(1, round(seconds / one))
    step = seconds_of(steps) / steps
    print(json.dumps({"batches_per_minute": 60 / step, "images_per_second": batch_size / step,
                      "process_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), *sys.argv[6:])
