#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training over a pool with JavaScript nodes: SCRIPT KAISEKI JOIN_JS. The npm package is installed next to JOIN_JS.
Nodes are killed and join. The weights are those of one machine.
"""
import json
import pathlib
import sys

from pool import Coordinator, end, has_joined, js_node, native_node, until
from pool_train_test import DATA, RUN, SAME, SMOOTH, accuracy, difference, weights
from pool_url_test import Training, accepted
from support import check, main, works

JOIN_JS = pathlib.Path(sys.argv[2]).resolve()
ACCEPTED = '"verdict":"accepted"'
EXACT = ["--pool-wire", "f32", "--pool-mode"]


def join(coordinator):
    node = js_node(coordinator, "--threads", 1, "--gflops", 5, script=JOIN_JS)
    check(has_joined(node), "a node joins", pathlib.Path(node.log).read_text())
    return node


def log_of(node):
    return pathlib.Path(node.log).read_text()


def leave(nodes):
    for node in nodes:
        check(end(node) == 0, "a node ends with status 0", log_of(node)[-2000:])


def smooth():
    pathlib.Path("smooth.json").write_text(json.dumps(SMOOTH))
    return ["train", "smooth.json", *DATA, *SAME, "--epochs", 9, "--eval-every", 0]  # 108 steps


def weights_of_one_machine():
    """A native node and a JavaScript node, which is killed and returns."""
    works(*smooth(), "--save", "one.safetensors")
    for mode in ("data", "concurrent-head", "border"):
        with Coordinator(state=mode) as coordinator:
            killed = join(coordinator)
            run = Training(coordinator, *EXACT, mode, "--save", f"{mode}.safetensors", run=smooth())
            check(until(lambda: ACCEPTED in log_of(killed), 120), f"{mode}: JavaScript works", log_of(killed))
            native = native_node(coordinator, *SAME)
            check(has_joined(native), "the native node joins")
            killed.kill()
            killed.wait()
            again = join(coordinator)
            run.finish()
            logs = log_of(killed) + log_of(again)
            check('"ticket_failed"' not in logs and '"result_refused"' not in logs, f"{mode}: none of their tickets fails", logs)
            off = difference(f"{mode}.safetensors", "one.safetensors")
            check(off < 1e-5, f"{mode}: the weights of one machine", off)
            print(f"{mode}: {off:.2g} from one machine; {logs.count(ACCEPTED)} of {run.by_nodes} tickets by JavaScript",
                  flush=True)
            leave([native, again])


def two_runs_are_the_same():
    """Trains with JavaScript nodes only: first with two nodes, and one of them is killed, then with one node."""
    with Coordinator() as coordinator:
        nodes = [join(coordinator), join(coordinator)]
        run = Training(coordinator, *EXACT, "data", "--save", "two.safetensors", run=smooth())
        check(until(lambda: accepted(coordinator) > 12), "nodes work")
        nodes[0].kill()
        nodes[0].wait()
        run.finish()
        again = Training(coordinator, *EXACT, "data", "--save", "one.safetensors", run=smooth()).finish()
        check(run.here == again.here == 0 and again.by_nodes == 432, "JavaScript nodes computed all", f"{run.output}\n{again.output}")
        check(weights("two.safetensors") == weights("one.safetensors"), "the same weights")
        leave(nodes[1:])


def accuracy_of_one_machine():
    """LeNet with f16 on the wire, the default."""
    expected = accuracy(works(*RUN, "--epochs", 4).stdout)
    with Coordinator() as coordinator:
        nodes = [join(coordinator)]
        run = Training(coordinator, "--epochs", 4, "--pool-mode", "data").finish()
        check(run.by_nodes > 24, "JavaScript nodes computed a part", run.output)
        check(accuracy(run.output) >= expected - 2, "the accuracy of one machine", f"{expected}\n{run.output}")
        leave(nodes)


if __name__ == "__main__":
    main(two_runs_are_the_same, weights_of_one_machine, accuracy_of_one_machine)
