#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kaiseki train --pool URL: training through a running coordinator, which is killed and returns, with nodes that
come and go. The weights are those of one machine, and nothing stays in the coordinator.
"""
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

from pool import Coordinator, Socket, end, has_joined, native_node, until
from pool_train_test import DATA, RUN, SAME, SMOOTH, accuracy, difference, weights
from support import KAISEKI, LENET, check, main, refuses, until_logged, works


class Training:
    def __init__(self, coordinator, *arguments, run=RUN, ca=()):
        token = ["--pool-token-file", coordinator.state / "author.token"]
        self.process = subprocess.Popen(
            [KAISEKI, *map(str, [*run, *arguments, "--pool", coordinator.url, *token, *ca])],
            env={**os.environ, "KAISEKI_DEVICE": "cpu"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def prints(self, words):
        """Waits for a line with these words. Returns whether it came."""
        return any(words in line for line in self.process.stdout)

    def finish(self):
        self.output = self.process.communicate(timeout=600)[0]
        check(self.process.returncode == 0, "training ends with status 0", self.output)
        counts = re.search(r"([\d,]+) tickets by nodes, ([\d,]+) here, [\d,]+ checked, (\d+) nodes expelled", self.output)
        check(counts and counts.group(3) == "0", "it reports the nodes' part", self.output)
        self.by_nodes, self.here = (int(counts.group(i).replace(",", "")) for i in (1, 2))
        return self


def accepted(coordinator):
    return coordinator.metrics().get('kaiseki_pool_total{event="accepted"}', 0)


LEFT = []  # coordinators that still have to delete blobs
at_end = contextlib.ExitStack()


def lasting_coordinator(state):
    """A coordinator that runs until the end. Blobs are deleted after 5 s, so blobs_are_deleted() waits for all at once."""
    coordinator = at_end.enter_context(Coordinator(state=pathlib.Path(state).resolve()))
    LEFT.append(coordinator)
    return coordinator


def no_project_stays(coordinator):
    check(coordinator.api("GET", "/projects") == [], "no project is left", coordinator.api("GET", "/projects"))


def blobs_are_deleted():
    for coordinator in LEFT:
        blobs = coordinator.state / "blobs"
        check(until(lambda: len(list(blobs.iterdir())) < 40), "weights and results of finished steps are deleted", list(blobs.iterdir()))


def weights_of_one_machine():
    """One node is killed and one joins. In the second mode the coordinator is killed too. A hundred steps alone take
    less time than its return.
    """
    pathlib.Path("smooth.json").write_text(json.dumps(SMOOTH))
    for mode, epochs, samples in (("data", 9, 16), ("border", 40, 32)):
        smooth = ["train", "smooth.json", *DATA, *SAME, "--epochs", epochs, "--eval-every", 0]  # of 12 steps
        works(*smooth, "--save", "one.safetensors")
        coordinator = lasting_coordinator(mode)
        nodes = [native_node(coordinator, *SAME) for _ in range(2)]
        check(all(has_joined(node) for node in nodes), "nodes join")
        run = Training(coordinator, "--pool-wire", "f32", "--pool-mode", mode, "--pool-ticket", samples,
                       "--save", f"{mode}.safetensors", run=smooth)
        check(until(lambda: accepted(coordinator) > 12), f"{mode}: nodes work")
        nodes[0].kill()
        nodes[0].wait()
        nodes[0] = native_node(coordinator, *SAME)
        if mode == "border":
            coordinator.kill()
            coordinator.begin()
            check(until(lambda: accepted(coordinator) > 12), "nodes work again after a restart of the coordinator")
        run.finish()
        check(run.by_nodes > 24, f"{mode}: nodes computed a part", run.output)
        if mode == "border":
            check("continues alone until the pool" in run.output and "is back" in run.output, "both are reported", run.output)
        off = difference(f"{mode}.safetensors", "one.safetensors")
        check(off < 1e-5, f"{mode}: the weights of one machine", off)
        no_project_stays(coordinator)
        for node in nodes:
            check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])
        print(f"{mode}: {off:.2g} from one machine after {12 * epochs} steps; {run.by_nodes} tickets by nodes, {run.here} here",
              flush=True)


def paused_and_cancelled():
    """If an operator pauses the task, training waits. If an operator cancels the task, training ends and says why."""
    with Coordinator() as coordinator:
        node = native_node(coordinator, *SAME)
        check(has_joined(node), "a node joins")

        def task_of(run):
            check(until(lambda: accepted(coordinator) > 8 and coordinator.api("GET", "/tasks")), "it trains", run.process.poll())
            return coordinator.api("GET", "/tasks")[0]["task"]

        run = Training(coordinator, "--epochs", 2)
        task = task_of(run)
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "paused"})
        check(run.prints("training is paused at the coordinator"), "it reports that it waits")
        check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["leased"] == 0), "the node holds no ticket")
        before = accepted(coordinator)
        check(end(node) == 0, "the node leaves")
        served = coordinator.metrics()["kaiseki_http_2xx_total"]
        own = itertools.count(1)
        check(until(lambda: coordinator.metrics()["kaiseki_http_2xx_total"] - next(own) >= served + 4), "training asks again and again")
        tasks = coordinator.api("GET", "/tasks")
        check([(one["task"], one["state"]) for one in tasks] == [(task, "paused")], "the task remains, paused", tasks)
        check(accepted(coordinator) == before and run.process.poll() is None, "nothing is computed")
        node = native_node(coordinator, *SAME)
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "running"})
        run.finish()
        check("training is paused at the coordinator" not in run.output, "it reports that only once", run.output)

        run = Training(coordinator, "--epochs", 1000)
        task = task_of(run)
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "paused"})
        check(run.prints("training is paused at the coordinator"), "it waits")
        run.process.send_signal(signal.SIGINT)
        check(run.process.wait(60) == 0, "Ctrl-C ends it while it waits")

        run = Training(coordinator, "--epochs", 1000, "--save", "cancelled.safetensors", "--log", "cancelled.jsonl", "--log-every", 1)
        until_logged(run.process, "cancelled.jsonl", 1)
        coordinator.api("PATCH", f"/tasks/{task_of(run)}", {"state": "cancelled"})
        output = run.process.communicate(timeout=120)[0]
        check(run.process.returncode == 1 and "cancelled at the coordinator" in output, "after a cancel it ends and reports it", output)
        check("--resume" not in output, "without checkpoints it does not promise to continue", output)
        check(pathlib.Path("cancelled.safetensors").exists(), "--save is written", output)
        check(coordinator.api("GET", "/projects") == [], "nothing is left", coordinator.api("GET", "/projects"))
        end(node)


def default_settings():
    """Halves on the wire, large results and tickets as blobs, and the limits of a public coordinator."""
    expected = accuracy(works(*RUN, "--epochs", 4).stdout)
    coordinator = lasting_coordinator("state")
    nodes = [native_node(coordinator) for _ in range(2)]
    check(all(has_joined(node) for node in nodes), "nodes join")
    run = Training(coordinator, "--epochs", 4).finish()
    check(run.by_nodes > 24, "nodes computed a part", run.output)
    check(accuracy(run.output) >= expected - 1, "the accuracy of one machine", f"{expected}\n{run.output}")
    no_project_stays(coordinator)
    for node in nodes:
        end(node)
    run = Training(coordinator, "--epochs", 1).finish()
    check(run.by_nodes == 0, "without nodes it trains alone", run.output)


def commands_of_the_first_page():
    """kaiseki serve, kaiseki join, kaiseki train --pool serve: if the user's own coordinator has the port, training
    uses it.
    """
    coordinator = lasting_coordinator("state")
    node = native_node(coordinator, *SAME)
    check(has_joined(node), "a node joins")
    serve = [*RUN, "--epochs", 1, "--pool", "serve", "--pool-port", coordinator.port]
    own = {"KAISEKI_STATE_DIR": str(coordinator.state)}
    output = works(*serve, env=own).stdout
    check(f"through your coordinator at {coordinator.url}" in output, "it reports the coordinator", output)
    found = re.search(r"([\d,]+) tickets by nodes", output)
    check(found and int(found.group(1)) > 0, "its nodes computed a part", output)
    no_project_stays(coordinator)
    taken = ["cannot listen", str(coordinator.port)]
    refuses(taken, *serve, env={"KAISEKI_STATE_DIR": str(pathlib.Path("another").resolve())})
    refuses(taken, *serve, "--pool-log", "pool.log", env=own)
    end(node)
    for user in (os.getuid(), 65534) if os.getuid() == 0 else (os.getuid(),):
        os.seteuid(user)
        other = socket.create_server(("127.0.0.1", 0))
        os.seteuid(os.getuid())
        heard, port = [], other.getsockname()[1]

        def answer_nothing(other=other, heard=heard):
            while True:
                peer = other.accept()[0]
                heard.append(peer.recv(9999))
                peer.close()

        threading.Thread(target=answer_nothing, daemon=True).start()
        refuses(["cannot listen", str(port)], *RUN, "--pool", "serve", "--pool-port", port, env=own)
        check(heard and b"Bearer" not in b"".join(heard), f"a program of the user {user} gets no token", heard)


def private_training():
    """With --pool-private, pages get no tickets. Without this option they get tickets."""
    with Coordinator(pages=True) as coordinator:
        def page():
            peer = Socket(coordinator)
            check(peer.upgrade(Origin=coordinator.url, Authorization=None) == 101, "a page")
            peer.say("hello", control={"functions": ["kaiseki.train"], "threads": 1})
            peer.hear_frame("welcome")
            peer.say("ready", control={"slots": 2})
            return peer

        def gets_nothing(peer):
            peer.say("echo")
            return peer.hear_frame("ticket", "echo")[0] == "echo"

        anyone = page()
        run = Training(coordinator, "--epochs", 1)
        check(anyone.hear_frame("ticket")[2]["function"] == "kaiseki.train", "without it all nodes get tickets")
        anyone.close()
        run.finish()

        anyone = page()
        run = Training(coordinator, "--epochs", 1, "--pool-private").finish()
        check(run.by_nodes == 0 and gets_nothing(anyone), "a page gets nothing, so it trains alone", run.output)
        node = native_node(coordinator, *SAME)
        check(has_joined(node), "a node with the token")
        run = Training(coordinator, "--epochs", 1, "--pool-private").finish()
        check(run.by_nodes > 0 and gets_nothing(anyone), "a node with the token helps", run.output)
        end(node)


def killed_training():
    """kill -9 of the training: nodes idle or do other work, --resume continues exactly, and the leftovers can be
    deleted.
    """
    with Coordinator() as coordinator:
        node = native_node(coordinator, *SAME)
        check(has_joined(node), "a node joins")
        exact = [*SAME, "--epochs", 5, "--pool-wire", "f32", "--pool-mode", "border"]
        Training(coordinator, *exact, "--save", "whole.safetensors").finish()
        run = Training(coordinator, *exact, "--checkpoint", "kept")
        check(until(lambda: list(pathlib.Path().glob("kept/checkpoint-*.safetensors"))), "a checkpoint", run.process.poll())
        run.process.kill()
        run.process.wait()
        names = [one["name"] for one in coordinator.api("GET", "/projects")]
        check(len(names) == 2 and all(name.startswith("training ") for name in names), "its projects remain for a while", names)
        lapses = [one.get("lapse") for one in coordinator.api("GET", "/projects")]
        check(lapses == [600, 600], "both lapse (remote_pool_test.cc waits for it)", lapses)

        def open_tickets():
            return sum(one["free"] + one["leased"] for one in map(
                lambda one: coordinator.api("GET", f"/tasks/{one['task']}"), coordinator.api("GET", "/tasks")))

        check(until(lambda: open_tickets() == 0), "open tickets are computed", open_tickets())
        before, spent = accepted(coordinator), cpu_seconds(node)
        time.sleep(1)  # the time in which its work is measured
        check(accepted(coordinator) == before and cpu_seconds(node) - spent < 0.25, "then the node idles", cpu_seconds(node) - spent)
        results = coordinator.results(coordinator.task(["7"], function="sample.primes"))
        check([one.get("result") for one in results] == ["true"], "it computes other tasks", results)
        run = Training(coordinator, *exact, "--checkpoint", "kept", "--resume", "--save", "parts.safetensors").finish()
        check("continuing from" in run.output and run.by_nodes > 0, "it continues", run.output)
        check(weights("whole.safetensors") == weights("parts.safetensors"), "two parts give the same weights")
        check(len(coordinator.api("GET", "/projects")) == 3, "other projects remain")
        for project in coordinator.api("GET", "/projects"):
            coordinator.api("DELETE", f"/projects/{project['project']}", status=204)
        check(coordinator.api("GET", "/projects") == [], "the leftovers can be deleted", coordinator.api("GET", "/projects"))
        end(node)


def reports_its_progress():
    """Epochs of one step: each report comes at the end of an epoch, where the totals of the next one are empty."""
    with Coordinator() as coordinator:
        node = native_node(coordinator, *SAME)
        check(has_joined(node), "the node joins")
        run = Training(coordinator, "--epochs", 100000, "--batch-size", 64, "--eval-every", 0,
                       run=["train", LENET, "--data", "digits:64:1", *SAME])

        def reported():
            projects = [one["project"] for one in coordinator.api("GET", "/projects") if one["trains"]]
            points = coordinator.api("GET", f"/projects/{projects[0]}/curve") if projects else []
            return len(points) > 2 and points

        points = until(reported, 60) or []
        check(points and all(point["loss"] > 0 for point in points), "no loss is 0", points)
        check(all((point.get("epoch"), point.get("epochs"), point.get("steps")) == (point["step"], 100000, 100000) for point in points),
              "it tells epochs and steps", points)
        run.process.send_signal(signal.SIGINT)
        run.process.communicate(timeout=60)
        end(node)


def recipe_of_the_network():
    """Training through a coordinator takes the recipe of the network, as on one machine."""
    recipe = {"epochs": 2, "batch_size": 64, "optimizer": "adam", "learning_rate": 0.002, "schedule": "cosine", "weight_decay": 0.001}
    pathlib.Path("recipe.json").write_text(json.dumps({**SMOOTH, "recipe": recipe}))
    run = ["train", "recipe.json", *DATA, *SAME, "--eval-every", 0]
    alone = works(*run, "--save", "alone.safetensors").stdout
    with Coordinator() as coordinator:
        node = native_node(coordinator, *SAME)
        check(has_joined(node), "the node joins")
        exact = ["--pool-wire", "f32", "--pool-mode", "data", "--save", "pool.safetensors"]
        pool = Training(coordinator, *exact, run=run).finish()
        check(pool.by_nodes > 0, "the node computed a part", pool.output)
        end(node)
    first = alone.splitlines()[0]
    check("2 epochs in batches of 64" in first and "adam 0.002 cosine, decay 0.001" in first, "one machine takes the recipe", first)
    check(pool.output.splitlines()[0] == first, "the pool takes it too", pool.output)
    off = difference("pool.safetensors", "alone.safetensors")
    check(off < 1e-4, "the weights of one machine", off)


def cpu_seconds(process):
    spent = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def errors_name_a_remedy():
    with Coordinator() as coordinator:
        url, token = coordinator.url, coordinator.state / "author.token"
        pathlib.Path("other.token").write_text("another-token-of-enough-characters\n")
        refuses(["--pool-token-file", "does not know"], *RUN, "--pool", url, "--pool-token-file", "other.token")
        refuses(["--pool serve", "--pool-log"], *RUN, "--pool", url, "--pool-token-file", token, "--pool-log", "x.log")
        refuses(["--pool serve", "--pool-port"], *RUN, "--pool", url, "--pool-token-file", token, "--pool-port", 0)
    refuses([url.rpartition("/")[2]], *RUN, "--pool", url, "--pool-token-file", token)
    refuses(["https"], *RUN, "--pool", "http://pool.example", "--pool-token-file", token)
    refuses(["serve or a URL"], *RUN, "--pool", "somewhere")
    refuses(["--pool URL"], *RUN, "--pool", "serve", "--pool-port", 0, "--pool-token-file", token)


if __name__ == "__main__":
    with at_end:
        main(errors_name_a_remedy, recipe_of_the_network, reports_its_progress, commands_of_the_first_page, private_training,
             weights_of_one_machine, default_settings, paused_and_cancelled, killed_training, blobs_are_deleted)
