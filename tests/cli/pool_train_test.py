#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training over a pool by the command: nodes join, one is killed, another joins. The weights are those of one
machine.
"""
import http.client
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import time

from pool import Socket, end, until
from support import KAISEKI, LENET, ROOT, check, main, refuses, weights, works

DATA = ["--data", "digits:768:1", "--seed", 3]
RUN = ["train", LENET, *DATA]
SAME = ["--deterministic"]  # measurements differ between machines

# A network without maxima and ReLUs. If rounding decides one of them, weights differ by far more than rounding.
SMOOTH = {"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": [
    {"name": "conv1", "type": "convolution", "output_channels": 8, "kernel_size": 5},
    {"name": "act1", "type": "tanh"},
    {"name": "pool1", "type": "average_pooling", "kernel_size": 2, "stride": 2},
    {"name": "conv2", "type": "convolution", "output_channels": 16, "kernel_size": 5},
    {"name": "act2", "type": "tanh"},
    {"name": "pool2", "type": "average_pooling", "kernel_size": 2, "stride": 2},
    {"name": "fc3", "type": "fully_connected", "output_size": 32},
    {"name": "act3", "type": "tanh"},
    {"name": "fc4", "type": "fully_connected", "output_size": 10},
    {"name": "probability", "type": "softmax"}]}


def difference(found, expected):
    """The largest relative difference of a tensor, by its norm."""
    found, expected = weights(found), weights(expected)
    worst = 0
    for name, values in expected.items():
        squares = sum((a - b) ** 2 for a, b in zip(found[name], values))
        worst = max(worst, math.sqrt(squares / (sum(b * b for b in values) or 1)))
    return worst


def accuracy(output):
    return float(re.findall(r"test accuracy ([\d.]+) %", output)[-1])


class Training:
    """kaiseki train --pool serve with `nodes` from the first step on. Its --log is a FIFO, which training can open only
    when the test reads it, after the nodes have joined.
    """

    def __init__(self, *arguments, run=RUN, nodes=2):
        self.state = pathlib.Path("state").resolve()
        self.env = {**os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_STATE_DIR": str(self.state)}
        fifo = f"steps-{time.monotonic_ns()}"
        os.mkfifo(fifo)
        self.process = subprocess.Popen(
            [KAISEKI, *map(str, run), *map(str, arguments), "--pool", "serve", "--pool-port", "0", "--log", fifo], env=self.env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.output = self.process.stdout.readline() + self.process.stdout.readline()
        self.url = self.output.split()[-1] if "kaiseki join" in self.output else ""
        check(self.url, "an address for nodes", self.output)
        self.nodes = [self.join() for _ in range(nodes)]
        check(until(lambda: self.metric("kaiseki_nodes") >= nodes, 120), "the nodes join", self.output)
        self.reader = subprocess.Popen(["cat", fifo], stdout=subprocess.DEVNULL)

    def join(self, *arguments):
        log = open(f"node-{time.monotonic_ns()}.log", "w+")
        process = subprocess.Popen([KAISEKI, "join", self.url, "--gflops", "5", *SAME, *map(str, arguments)], env=self.env,
                                   stdout=log, stderr=subprocess.STDOUT)
        process.log = log.name
        return process

    def accepted(self):
        """The number of accepted results so far."""
        return self.counted("accepted")

    def counted(self, event):
        return self.metric(f'kaiseki_pool_total{{event="{event}"}}')

    def refused(self, reason):
        return self.metric(f'kaiseki_refused_total{{reason="{reason}"}}')

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.url.rpartition(":")[2]), timeout=30)
        try:
            token = (self.state / "author.token").read_text().strip()
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
            found = re.search(rf"^{re.escape(name)} (\d+)", connection.getresponse().read().decode(), re.M)
            return int(found.group(1)) if found else 0
        except OSError:
            return 0
        finally:
            connection.close()

    def finish(self, liars=0):
        self.output += self.process.communicate(timeout=600)[0]
        self.reader.kill()  # it still waits if training never began
        self.reader.wait()
        check(self.process.returncode == 0, "training ends with status 0", self.output)
        for node in self.nodes:
            if node.poll() is None:
                check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])
        self.counts = re.search(r"([\d,]+) tickets by nodes, ([\d,]+) here, ([\d,]+) checked, (\d+) nodes expelled, "
                                r"([\d,]+) steps trained again; mode (\w+)", self.output)
        check(self.counts, "it reports the nodes' part", self.output)
        self.by_nodes, self.here, self.checked, self.expelled, self.undone = (
            int(self.counts.group(i).replace(",", "")) for i in range(1, 6))
        check(self.expelled == liars, f"expelled nodes: {liars}, all of them liars", self.output)
        return self


def weights_of_one_machine():
    """Every mode, exact on the wire: one node is killed and one joins, or there is one node, or none. The weights
    are the same.
    """
    pathlib.Path("smooth.json").write_text(json.dumps(SMOOTH))
    smooth = ["train", "smooth.json", *DATA, *SAME, "--epochs", 9, "--eval-every", 0]  # 108 steps
    works(*smooth, "--save", "one.safetensors")
    for mode in ("data", "concurrent-head", "border"):
        exact = ["--pool-wire", "f32", "--pool-mode", mode]
        run = Training(*exact, "--save", f"{mode}-a.safetensors", run=smooth)
        check(until(lambda: run.accepted() > 12), f"{mode}: nodes work", run.output)
        run.nodes[0].kill()
        run.nodes[0].wait()
        run.nodes.append(run.join())
        run.finish()
        check(run.by_nodes > 24, f"{mode}: nodes computed a part", run.output)
        again = Training(*exact, "--save", f"{mode}-b.safetensors", run=smooth, nodes=1).finish()
        check(again.by_nodes > 24, f"{mode}: the node computed a part", again.output)
        check(weights(f"{mode}-a.safetensors") == weights(f"{mode}-b.safetensors"), f"{mode}: the same weights with other nodes")
        off = difference(f"{mode}-a.safetensors", "one.safetensors")
        check(off < 1e-5, f"{mode}: the weights of one machine", off)
        print(f"{mode}: {off:.2g} from one machine after 108 steps; {run.by_nodes} tickets by nodes, {run.here} here", flush=True)
    alone = Training("--pool-wire", "f32", "--pool-mode", "data", "--save", "none.safetensors", run=smooth, nodes=0).finish()
    check(alone.by_nodes == 0, "no node computed", alone.output)
    check(weights("none.safetensors") == weights("data-a.safetensors"), "the same weights without nodes")


def accuracy_of_one_machine():
    """Trains with the defaults: halves on the wire, and the mode that the cost model selects."""
    expected = accuracy(works(*RUN, "--epochs", 6).stdout)
    run = Training("--epochs", 6, "--pool-log", "pool.log", "--pool-ticket", 32)
    check(until(lambda: run.accepted() > 12), "nodes work", run.output)
    run.nodes[0].kill()
    run.nodes[0].wait()
    run.nodes.append(run.join())
    run.finish()
    check(run.by_nodes > 24, "nodes computed a part", run.output)
    check(run.by_nodes + run.here <= 2 * 2 * 72, "tickets of 32 samples, two for each half of a step", run.output)
    check(re.search(r"; a step [\d.e-]+ s, planned [\d.e-]+ s$", run.output, re.M), "the measured and the planned time of a step", run.output)
    check(run.counts.group(6) in ("data", "concurrent-head", "border"), "a mode was chosen", run.output)
    check(accuracy(run.output) >= expected - 1, "the accuracy of one machine", f"{expected}\n{run.output}")
    events = [json.loads(line)["event"] for line in pathlib.Path("pool.log").read_text().splitlines()]
    check(events.count("node_joined") == 3 and "node_left" in events, "the log has joins and leaves", events)


def private_pool():
    """With the token only: a node that claims to be a page gets neither tickets nor blobs."""
    run = Training("--epochs", 1000, nodes=0)
    run.port, run.node_token = int(run.url.rpartition(":")[2]), ""
    peer = Socket(run)
    status = peer.upgrade(Origin=run.url, Authorization=None)
    check(status == 401, "its own origin without a token is refused", status)
    check(run.refused("node_token") == 1, "it is counted", run.refused("node_token"))
    run.process.send_signal(signal.SIGINT)
    run.finish()


def starts_at_an_accuracy():
    """--pool-after: training runs alone until the accuracy is reached."""
    run = Training("--epochs", 2, "--pool-after", "accuracy=1").finish()
    check(run.by_nodes == 0, "it trains alone below the accuracy", run.output)
    run = Training("--epochs", 3, "--pool-after", "accuracy=0.01").finish()
    check(run.by_nodes > 0, "it trains with nodes above it", run.output)


def interrupted_and_continued():
    """Ctrl-C with a node at work keeps a checkpoint. A continued run, with or without a node, ends like an
    uninterrupted one.
    """
    exact = [*SAME, "--epochs", 2, "--pool-wire", "f32", "--pool-mode", "border"]
    Training(*exact, "--save", "whole.safetensors", nodes=0).finish()
    run = Training(*exact, "--checkpoint", "kept", nodes=1)
    check(until(lambda: run.accepted() > 8), "the node works", run.output)
    run.process.send_signal(signal.SIGINT)
    run.finish()
    check("--resume" in run.output, "it prints how to continue", run.output)
    go_on = Training(*exact, "--checkpoint", "kept", "--resume", "--save", "parts.safetensors", nodes=0)
    go_on.finish()
    check("continuing from" in go_on.output and "the settings differ" not in go_on.output, "it continues", go_on.output)
    check(weights("whole.safetensors") == weights("parts.safetensors"), "two parts give the same weights")
    other = Training(*exact, "--checkpoint", "kept", "--resume", "--pool-ticket", 32, nodes=0).finish()
    check("--pool-ticket 32, there none" in other.output, "another ticket size is named", other.output)


def diverging_loss():
    """With a node at work, a diverging loss gives the same error as on one machine, at once."""
    run = [*SAME, "--pool-mode", "data", "--checkpoint", "diverged"]
    Training(*run, "--epochs", 1, nodes=0).finish()
    wrong = Training(*run, "--epochs", 4, "--resume", "--lr", 1e30, nodes=1)
    begun = time.monotonic()
    wrong.output += wrong.process.communicate(timeout=600)[0]
    check(wrong.process.returncode == 1 and "the last good checkpoint is diverged/checkpoint-" in wrong.output,
          "it names the last good checkpoint", wrong.output)
    check(time.monotonic() - begun < 20, "it does not wait for nodes", time.monotonic() - begun)
    end(wrong.nodes[0])


def documented_options():
    """The options of docs/pool-training.md are those of --help."""
    documented = set(re.findall(r"`(--pool[\w-]*)", (ROOT / "docs" / "pool-training.md").read_text(), re.M))
    offered = set(re.findall(r"^ *(--pool[\w-]*)", works("train", "--help").stdout, re.M))
    check(documented == offered and len(offered) == 11, "the same options", f"{documented}\n{offered}")


def wrong_options():
    refuses(["--pool-mode"], *RUN, "--pool", "serve", "--pool-mode", "all")
    refuses(["--pool"], *RUN, "--pool-mode", "data")
    refuses(["accuracy=NUMBER", "half"], *RUN, "--pool", "serve", "--pool-port", 0, "--pool-after", "half")
    refuses(["no_such_layer"], *RUN, "--pool", "serve", "--pool-port", 0, "--pool-border", "no_such_layer")


if __name__ == "__main__":
    main(documented_options, wrong_options, weights_of_one_machine, accuracy_of_one_machine, private_pool, starts_at_an_accuracy, interrupted_and_continued, diverging_loss)
