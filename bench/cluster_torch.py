#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed of data-parallel training by torch.distributed (gloo). Rank 0 prints one JSON line.

  mpirun -n RANKS bench/cluster_torch.py NETWORK BATCH SECONDS THREADS
"""
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "reference"))
sys.dont_write_bytecode = True
from torch_networks import NETWORKS, loss_of  # noqa: E402


def main(network, batch_size, seconds, threads):
    rank, ranks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.set_num_threads(threads)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    make, shape = NETWORKS[network]
    module = torch.nn.parallel.DistributedDataParallel(make().train())
    own = batch_size // ranks
    classes = 10 if network in ("lenet", "cifar") else 1000
    batches = [(torch.rand(own, *shape), torch.randint(classes, (own,))) for _ in range(4)]
    optimizer = torch.optim.SGD(module.parameters(), lr=0.001, momentum=0.9)

    def seconds_of(steps):
        dist.barrier()
        start = time.perf_counter()
        for i in range(steps):
            x, labels = batches[i % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            loss_of(module(x), labels).backward()
            optimizer.step()
        dist.barrier()
        return time.perf_counter() - start

    seconds_of(3)
    steps = torch.tensor([max(1.0, seconds / seconds_of(2) * 2)])
    dist.broadcast(steps, 0)
    step = seconds_of(int(steps.item())) / int(steps.item())
    if rank == 0:
        print(json.dumps({"images_per_second": batch_size / step}))


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
