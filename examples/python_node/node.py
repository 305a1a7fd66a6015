#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A node that trains small networks with NumPy: node.py URL TOKEN_FILE. It follows docs/protocol.md and
docs/protocol-tensors.md, and uses no part of Kaiseki. When the connection ends, it ends.
"""
import argparse
import functools
import hashlib
import json
import pathlib
import struct
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import tensors
from network import Network
from websocket import Closed, WebSocket

TYPES = ["hello", "welcome", "ready", "ticket", "result", "verdict", "give_back", "drain", "echo", "error", "cancel"]
HEADER = struct.Struct("<4sBBHQQII")


class Node:
    def __init__(self, url, token):
        self.url, self.socket = url, WebSocket(url, token)
        self.worker = ThreadPoolExecutor(1)  # so that pings are answered while it computes
        self.held = {}  # ticket -> token and future

    def send(self, kind, ticket=0, control=None, payload=b""):
        text = json.dumps(control).encode() if control else b""
        header = HEADER.pack(b"KAIS", 1, TYPES.index(kind) + 1, 0, ticket, len(payload), len(text), 0)
        self.socket.send(header + text + payload)

    def run(self):
        self.send("hello", control={"name": "numpy", "device": "NumPy", "threads": 1, "gflops": 1,
                                    "functions": ["kaiseki.train"]})
        while True:
            message = self.socket.receive()
            _, _, kind, _, ticket, _, control_bytes, _ = HEADER.unpack_from(message)
            control = json.loads(message[32:32 + control_bytes] or b"{}")
            self.take(TYPES[kind - 1], ticket, control, message[32 + control_bytes:])

    def take(self, kind, ticket, control, payload):
        if kind == "welcome":
            print(f"joined as node {control['node']}", flush=True)
            self.send("ready", control={"slots": 2})  # one to compute, one to wait
        elif kind == "ticket":
            self.held[ticket] = control["token"], self.worker.submit(self.answer, ticket, control, payload)
        elif kind == "verdict":
            print(f"ticket {ticket}: {control['verdict']} {control.get('reason', '')}", flush=True)
        elif kind == "cancel":
            self.give_back(ticket)
        elif kind == "drain":
            for held in list(self.held):
                self.give_back(held)
        elif kind == "echo":
            self.send("echo", ticket, control, payload)
        elif kind == "error":
            print(f"error: {control['error']}", flush=True)

    def give_back(self, ticket):
        """If its computation has not begun."""
        token, future = self.held.get(ticket, (None, None))
        if future and future.cancel():
            del self.held[ticket]
            self.send("give_back", ticket, {"token": token})

    def answer(self, ticket, control, payload):
        """Runs on the worker."""
        try:
            result = compute(payload or self.fetch(control["blobs"][0]), self.fetch)
            self.send("result", ticket, {"token": control["token"]}, result)
        except Exception as error:  # a layer that it does not know, a blob that is gone
            self.send("give_back", ticket, {"token": control["token"], "error": str(error)})
        self.held.pop(ticket, None)

    @functools.lru_cache(maxsize=32)
    def fetch(self, blob):
        with urllib.request.urlopen(f"{self.url}/blobs/{blob}", timeout=60) as reply:
            data = reply.read()
        if hashlib.sha256(data).hexdigest() != blob:
            raise ValueError(f"expected the bytes of blob {blob}, got others")
        return data


def samples_of(blob):
    of = tensors.decode(blob)[1]
    if "samples" not in of:
        raise ValueError("this node decodes no JPEG")
    x = of["samples"]
    if x.dtype == np.uint8:
        shape = [-1] + [1] * (x.ndim - 2)  # a value for each channel
        mean = of.get("mean", np.float32([0]))
        mean = mean.reshape(shape if mean.size in (1, x.shape[1]) else x.shape[1:])  # or a mean image
        x = (x.astype(np.float32) / np.float32(255) - mean) / of.get("std", np.float32([1])).reshape(shape)
    return x


def compute(ticket, fetch):
    """Returns the result of a ticket, as bytes."""
    texts, given = tensors.decode(ticket)
    weights = tensors.decode(fetch(texts["weights"]))[1]
    draws = tuple(int(texts[name]) for name in ("seed", "position", "first"))
    network = Network(json.loads(fetch(texts["network"])), weights, draws)
    x = samples_of(fetch(texts["samples"]))
    activation, gradient = tensors.TYPES[texts["activation_type"]], tensors.TYPES[texts["gradient_type"]]
    result, gradients = [], {}
    if texts["work"] == "forward":
        result = [("output", activation, network.forward(x))]
    elif texts["work"] == "backward":
        network.forward(x)
        gradients = network.backward(given["grad_output"])
    else:
        loss, output, towards = network.loss(x, given["labels"])
        gradients = network.backward(towards)
        if texts["output"] == "1":
            result = [("loss", tensors.F32, [loss]), ("output", activation, output)]
    result += [(name, gradient, gradients[name]) for name in list(weights)[:int(texts["gradients"])]]
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(ticket).digest(), "little"))
    return tensors.encode({"ticket": hashlib.sha256(ticket).hexdigest()}, result, random)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="the coordinator, such as http://127.0.0.1:8080")
    parser.add_argument("token_file", help="the coordinator's node.token", type=pathlib.Path)
    options = parser.parse_args()
    try:
        Node(options.url, options.token_file.read_text().strip()).run()
    except (Closed, OSError) as problem:
        print(problem)
