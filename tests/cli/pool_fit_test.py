#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kaiseki fit --grid --pool: SCRIPT KAISEKI LIAR_JOIN. The table is that of a local grid: with two nodes, with a node that
is killed, with one that lies, alone, and after Ctrl-C nothing stays at the coordinator. Nodes refuse hostile tickets.
"""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from pool import Coordinator, end, has_joined, native_node, until
from support import KAISEKI, check, main, refuses, works

LIAR = str(pathlib.Path(sys.argv[2]).resolve())
GRID = ["--grid", "max_depth=2,4,8,12", "--grid", "n_estimators=40,80"]
FITS = 40
FIT = ["fit", "RandomForestClassifier", "--data", "d.csv", "--target", "y", "--save", "m.safetensors"]


def write_samples():
    draw = random.Random(1)
    rows = [",".join(f"f{i}" for i in range(10)) + ",y"]
    for _ in range(1500):
        y = draw.randrange(3)
        rows.append(",".join(f"{draw.gauss((y == i % 3) * 0.7, 1):.4f}" for i in range(10)) + "," + "abc"[y])
    pathlib.Path("d.csv").write_text("\n".join(rows) + "\n")


def table(output):
    """The lines of the table of settings, and all results of the model after it without its time."""
    return re.sub(r", [\d.e-]+ s$", "", output[output.index("rank"):], flags=re.M)


def local():
    if not pathlib.Path("d.csv").exists():
        write_samples()
        pathlib.Path("local.txt").write_text(table(works(*FIT, *GRID).stdout))
    return pathlib.Path("local.txt").read_text()


def accepted(coordinator):
    return coordinator.metrics().get('kaiseki_pool_total{event="accepted"}', 0)


class Fit:
    """kaiseki fit --pool through the coordinator."""

    def __init__(self, coordinator, *arguments, grid=GRID):
        token = coordinator.state / "author.token"
        self.process = subprocess.Popen(
            [KAISEKI, *FIT, *map(str, grid), "--pool", coordinator.url, "--pool-token-file", str(token), *map(str, arguments)],
            env={**os.environ, "KAISEKI_DEVICE": "cpu"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self, expelled=0):
        self.output = self.process.communicate(timeout=300)[0]
        check(self.process.returncode == 0, "it ends with status 0", self.output)
        found = re.search(r"(\d+) fits: (\d+) by nodes, (\d+) here, (\d+) checked, (\d+) nodes expelled", self.output)
        check(found, "it reports the nodes' part", self.output)
        fits, self.by_nodes, self.here, self.checked, self.expelled = map(int, found.groups())
        check(fits == FITS and self.by_nodes + self.here == FITS, "each score once", self.output)
        check(self.expelled == expelled, f"expelled nodes: {expelled}", self.output)
        check(table(self.output) == local(), "the table of a local grid", f"{self.output}\n{local()}")
        return self


def two_nodes():
    local()
    with Coordinator() as coordinator:
        nodes = [native_node(coordinator) for _ in range(2)]
        check(all(has_joined(node) for node in nodes), "nodes join")
        run = Fit(coordinator).finish()
        check(run.by_nodes > FITS // 2, "nodes computed most of it", run.output)
        check(run.output.startswith(f"pool     nodes: kaiseki join {coordinator.url}\n"), "it says where nodes join", run.output)
        check(coordinator.api("GET", "/projects") == [], "no project stays")
        for node in nodes:
            check(end(node) == 0, "a node ends", pathlib.Path(node.log).read_text())


def a_node_is_killed():
    local()
    with Coordinator() as coordinator:
        nodes = [native_node(coordinator) for _ in range(2)]
        check(all(has_joined(node) for node in nodes), "nodes join")
        run = Fit(coordinator)
        check(until(lambda: accepted(coordinator) >= 4, 60), "nodes work")
        nodes[0].kill()
        nodes[0].wait()
        run.finish()
        end(nodes[1])


def a_node_lies():
    local()
    with Coordinator() as coordinator:
        honest = native_node(coordinator)
        with open("liar.log", "w") as log:
            liar = subprocess.Popen([LIAR, coordinator.url, str(coordinator.state / "node.token"), "score"], stdout=log,
                                    stderr=subprocess.STDOUT)
        check(has_joined(honest) and until(lambda: len(coordinator.api("GET", "/nodes")) == 2), "nodes join")
        run = Fit(coordinator).finish(expelled=1)
        check(until(lambda: liar.poll() == 1, 20), "the liar ends", liar.poll())
        said = pathlib.Path("liar.log").read_text()
        check("expelled this node: wrong value: its score is not the one" in said, "it prints the reason", said)
        check("is expelled: wrong value" in run.output, "the author is told", run.output)
        end(honest)


def alone_and_serving():
    local()
    with Coordinator() as coordinator:
        run = Fit(coordinator).finish()
        check(run.here == FITS, "without nodes it computes alone", run.output)
    done = works(*FIT, *GRID, "--pool", "serve", "--pool-port", 0, env={"KAISEKI_STATE_DIR": os.path.abspath("own")})
    check(table(done.stdout) == local(), "--pool serve gives the same table", done.stdout)


def interrupted():
    local()
    with Coordinator() as coordinator:
        node = native_node(coordinator)
        check(has_joined(node), "a node joins")
        run = Fit(coordinator, grid=["--grid", "n_estimators=" + ",".join(map(str, range(100, 400)))])
        check(until(lambda: accepted(coordinator) >= 2, 60), "the node works")
        start = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        output = run.process.communicate(timeout=60)[0]
        check(run.process.returncode == 1 and re.search(r"kaiseki: \[fit\] interrupted after \d+ of 1500 fits\n$", output), "Ctrl-C ends it", output)
        check(time.monotonic() - start < 20, "soon", time.monotonic() - start)
        check(coordinator.api("GET", "/projects") == [], "no project stays")
        check(end(node) == 0, "the node ends")


def hostile_tickets():
    """Another author's tickets. The node fails them with a reason, and then computes a grid."""
    local()
    with Coordinator() as coordinator:
        node = native_node(coordinator, "--memory", "2G")
        check(has_joined(node), "a node joins")
        bad = coordinator.put_blob(b"KKT1" + b"\xff" * 1000)
        ticket = {"data": bad, "model": "SVC", "settings": {}, "fold": 0, "folds": 5, "scale": False}
        # After each failure the node rests longer, so these are few. grid_ticket_test.cc has more.
        cases = [("[" * 1000, "fit"), (json.dumps(ticket), "samples"), (json.dumps({**ticket, "data": "0" * 64}), "expected 200 of blob")]
        for text, reason in cases:
            task = coordinator.task([text], function="kaiseki.fit", max_attempts=1, verification="none")
            ended = coordinator.results(task)
            check(ended[-1].get("dead"), "the ticket ends without a result", ended)
            errors = coordinator.api("GET", f"/tasks/{task}/errors")
            check(reason in errors[0]["error"], f"the author reads why: {reason}", errors)
        check(node.poll() is None, "the node lives", pathlib.Path(node.log).read_text())
        Fit(coordinator).finish()
        end(node)


def mistakes():
    local()
    refuses(["--pool"], *FIT, "--pool", "serve")  # without --grid
    refuses(["--pool", "serve or a URL"], *FIT, *GRID, "--pool", "here")
    with Coordinator() as coordinator:
        pathlib.Path("wrong").write_text("0123456789abcdef0123456789abcdef\n")
        refuses(["expected the author's token", "--pool-token-file"], *FIT, *GRID, "--pool", coordinator.url, "--pool-token-file", "wrong")
        refuses(["--grid", "depth"], *FIT, "--grid", "depth=1", "--pool", coordinator.url)


if __name__ == "__main__":
    main(two_nodes, a_node_is_killed, a_node_lies, alone_and_serving, interrupted, hostile_tickets, mistakes)
