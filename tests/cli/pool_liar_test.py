#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong results in training: SCRIPT KAISEKI LIAR_JOIN. A node sends gradients with flipped signs, gradients that are 10,000
times too large, a NaN, or another shape. It begins at once or after honest results. The node is expelled and told why.
Training's last line and the metrics count it. The weights are those of a run without it.
"""
import json
import pathlib
import subprocess
import sys
import time

from pool import until
from pool_train_test import DATA, SAME, SMOOTH, Training, weights
from support import check, main

LIAR = str(pathlib.Path(sys.argv[2]).resolve())


class LiedTo(Training):
    """Trains with two nodes. The first one sends wrong results after some correct ones. The other one joins when these
    have been accepted: if the scheduler prefers it, the first one might never send as many.
    """

    def __init__(self, lie, honest, *arguments, **options):
        self.lie, self.honest = lie, honest
        super().__init__(*arguments, nodes=1 if honest else 2, **options)
        if honest:
            check(until(lambda: self.accepted() >= honest), f"{lie}: correct results of the node", self.accepted())
            self.nodes.append(self.join())

    def join(self, *arguments):
        lie, self.lie = self.lie, None
        if not lie:
            return super().join(*arguments)
        log = open(f"liar-{time.monotonic_ns()}.log", "w+")
        process = subprocess.Popen([LIAR, self.url, self.state / "node.token", lie, str(self.honest)], stdout=log, stderr=subprocess.STDOUT)
        process.log = log.name
        return process


def wrong_results():
    pathlib.Path("smooth.json").write_text(json.dumps(SMOOTH))
    smooth = ["train", "smooth.json", *DATA, *SAME, "--epochs", 20, "--eval-every", 0]
    for mode, samples in (("data", 16), ("border", 32)):  # four tickets a step
        exact = ["--pool-wire", "f32", "--pool-mode", mode, "--pool-ticket", samples]
        # The weights do not depend on nodes (pool_train_test.py).
        Training(*exact, "--save", f"{mode}.safetensors", run=smooth, nodes=0).finish()
        for lie, honest, reason in (("flip", 0, "wrong_value"), ("nan", 0, "not_finite"), ("shape", 0, "wrong_form"),
                                    ("huge", 25, "wrong_value"), ("flip", 25, "wrong_value")):
            run = LiedTo(lie, honest, *exact, "--save", f"{mode}-{lie}.safetensors", run=smooth)
            liar = run.nodes[0]
            check(until(lambda: liar.poll() is not None, 120), f"{mode}, {lie}: the node ends", pathlib.Path(liar.log).read_text())
            # A result that was under way when the node was expelled counts as "result".
            refused = {one: run.refused(one) for one in ("wrong_value", "not_finite", "wrong_form")}
            check({one: count for one, count in refused.items() if count} == {reason: 1}, f"{mode}, {lie}: counted as {reason}", refused)
            run.finish(liars=1)
            said = pathlib.Path(liar.log).read_text()
            check(liar.poll() == 1 and "expelled this node: " in said, f"{mode}, {lie}: it prints the reason", said)
            check(weights(f"{mode}-{lie}.safetensors") == weights(f"{mode}.safetensors"), f"{mode}, {lie}: the weights are unaffected")


if __name__ == "__main__":
    main(wrong_results)
