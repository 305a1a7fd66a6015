#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Liars in training: SCRIPT KAISEKI LIAR_JOIN. A node that flips the signs of its gradients, makes a number of them NaN or gives
them in another shape is put out, told so and counted, in training's last line and in the metrics, and the weights are those of a run without it."""
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
    """The first of its two nodes lies."""

    def __init__(self, lie, *arguments, **options):
        self.lie = lie
        super().__init__(*arguments, **options)

    def join(self, *arguments):
        lie, self.lie = self.lie, None
        if not lie:
            return super().join(*arguments)
        log = open(f"liar-{time.monotonic_ns()}.log", "w+")
        process = subprocess.Popen([LIAR, self.url, self.state / "node.token", lie], stdout=log, stderr=subprocess.STDOUT)
        process.log = log.name
        return process


def lies():
    pathlib.Path("smooth.json").write_text(json.dumps(SMOOTH))
    smooth = ["train", "smooth.json", *DATA, *SAME, "--epochs", 60, "--eval-every", 0]
    for mode in ("data", "border"):
        exact = ["--pool-wire", "f32", "--pool-mode", mode]
        Training(*exact, "--save", f"{mode}.safetensors", run=smooth, nodes=1).finish()
        for lie, reason in (("flip", "wrong_value"), ("nan", "not_finite"), ("shape", "wrong_form")):
            run = LiedTo(lie, *exact, "--save", f"{mode}-{lie}.safetensors", run=smooth)
            liar = run.nodes[0]
            check(until(lambda: liar.poll() is not None, 120), f"{mode}, {lie}: it ends", pathlib.Path(liar.log).read_text())
            refused = {one: run.refused(one) for one in ("wrong_value", "not_finite", "wrong_form", "result")}
            check({one for one, count in refused.items() if count} == {reason}, f"{mode}, {lie}: counted as {reason}", refused)
            run.finish(liars=1)
            said = pathlib.Path(liar.log).read_text()
            check(liar.poll() == 1 and "put this node out" in said, f"{mode}, {lie}: it is told", said)
            check(weights(f"{mode}-{lie}.safetensors") == weights(f"{mode}.safetensors"), f"{mode}, {lie}: no trace in the weights")


if __name__ == "__main__":
    main(lies)
