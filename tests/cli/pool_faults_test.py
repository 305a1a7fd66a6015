#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random faults on the real programs: pool_faults_test.py KAISEKI CRASH_SERVE [SEEDS]. The coordinator dies at each
labeled point and by kill -9, its disk is full for a while, and it is stopped. Nodes are killed, stopped, cut off
inside a frame, and send twice. Each ticket must count exactly once with the right result, and nothing that was
acknowledged may be lost. A seed decides which faults happen and when. A run can be repeated, but not exactly,
because the system schedules its processes.
"""
import collections
import contextlib
import functools
import http.client
import json
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import pool
from pool import Coordinator, Socket, frame, join_raw, native_node, plain, until
from support import check, main

CRASH_SERVE = str(pathlib.Path(sys.argv[2]).resolve())
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
POINTS = {"accept.recorded": 12, "commit.before": 25, "commit.after": 25, "blob.written": 5, "blob.renamed": 5}
SMALL, LARGE = 40, 10  # in tickets
happened = collections.Counter()
slowest = 0.0


def is_prime(n):
    return n > 1 and all(n % i for i in range(2, int(n ** 0.5) + 1))


def right(function, text):
    if function == "sample.primes":
        return (b"true" if is_prime(int(text)) else b"false")
    return text * (20000 // len(text))  # as a blob


def waited(threads):
    """Seconds for which threads waited for a core (/proc/.../schedstat). A loaded machine is not a fault."""
    return sum(int(file.read_text().split()[1]) for file in pathlib.Path("/proc").glob(f"{threads}/schedstat")) / 1e9


class Faulty(Coordinator):
    def __init__(self):
        self.program = [CRASH_SERVE, "none", "0"]
        super().__init__()

    def begin(self):
        popen, pool.subprocess.Popen = pool.subprocess.Popen, functools.partial(subprocess.Popen, restore_signals=False)
        try:
            super().begin()  # writing a file that is too large then gives an error instead of a signal
        finally:
            pool.subprocess.Popen = popen

    def restart(self, point, times):
        """Kills it if it runs. When this returns, it serves again."""
        global slowest
        self.kill()
        self.program = [CRASH_SERVE, point, str(times)]
        start = time.monotonic() - waited("thread-self")
        try:
            self.begin()
        except RuntimeError:  # it died again at its start, when it ended old leases
            check(self.process.wait(5) == -signal.SIGKILL and point != "none", "it serves, or crashes at its point", point)
            happened[point] += 1
            return self.restart("none", 0)
        try:
            check(self.request("GET", "/healthz")[0] == 200, "it serves again")
            took = time.monotonic() - waited("thread-self") - start - waited(f"{self.process.pid}/task/*")
            slowest = max(slowest, took)
            check(took <= 2, "it serves again within 2 s", took)
        except (OSError, http.client.HTTPException):  # the nodes have already made it pass its next point
            check(until(lambda: self.process.poll() is not None, 5), "it serves, or has passed its point")


class Volunteer(threading.Thread):
    """A node with correct results, and with faults at the tickets that its seed selects."""

    def __init__(self, coordinator, seed):
        super().__init__(daemon=True)
        self.coordinator, self.random = coordinator, random.Random(seed)
        self.identity, self.unanswered, self.acknowledged = {}, {}, []
        self.done = threading.Event()
        self.faults = [self.random.choice(["cut", "twice", "back", "leave"]) for _ in range(3)]

    def run(self):
        while not self.done.is_set():
            try:
                self.serve(Socket(self.coordinator))
            except (OSError, EOFError):
                self.done.wait(0.02)

    def serve(self, node):
        try:
            node.socket.settimeout(0.2)
            if node.upgrade() != 101:
                return
            node.say("hello", control={"functions": ["sample.primes", "test.large"], "threads": 2, **self.identity})
            self.identity = node.hear_frame("welcome")[2]
            for ticket, (token, result) in list(self.unanswered.items()):
                node.send(self.message(ticket, token, result))
            node.say("ready", control={"slots": 2})
            while not self.done.is_set():
                try:
                    opcode = node.read(1)  # a time-out here does not split a frame
                except TimeoutError:
                    continue
                node.left = opcode + node.left
                node.socket.settimeout(5)
                self.take(node, *node.hear_frame("ticket", "verdict"))
                node.socket.settimeout(0.2)
        finally:
            node.close()

    def message(self, ticket, token, result):
        return plain(frame("result", ticket, {"token": token}, result))

    def take(self, node, kind, ticket, control, payload):
        if kind == "verdict":
            if control["verdict"] == "accepted":
                self.acknowledged.append((ticket, self.identity["node"]))
            check(control["verdict"] in ("accepted", "duplicate"), "a right result is accepted", control)
            self.unanswered.pop(ticket, None)
            return
        time.sleep(self.random.uniform(0, 0.03))  # simulates work
        result = right(control["function"], payload)
        fault = self.faults.pop() if self.faults and self.random.random() < 0.3 else None
        happened[fault or "answers"] += 1
        if fault == "back":
            return node.say("give_back", ticket, {"token": control["token"]})
        self.unanswered[ticket] = (control["token"], result)
        message = self.message(ticket, control["token"], result)
        if fault == "cut":
            node.send(message[:self.random.randrange(1, len(message))])
        if fault in ("cut", "leave"):
            raise EOFError
        node.send(message)
        if fault == "twice":
            node.send(message)


def no_room(coordinator, seconds):
    """The coordinator cannot write files for some seconds."""
    try:
        resource.prlimit(coordinator.process.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        time.sleep(seconds)  # the disk is full
        resource.prlimit(coordinator.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        happened["no room"] += 1
    except ProcessLookupError:
        pass


def stand_still(coordinator, seconds):
    if coordinator.process.poll() is None:
        coordinator.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)  # the process is stopped
        coordinator.process.send_signal(signal.SIGCONT)
        happened["stood still"] += 1


@contextlib.contextmanager
def stopped_coordinator():
    """Stops a coordinator until all nodes have given it up. A native node does so after 60 s, which is longer than
    its leases of 10 s.
    """
    with Coordinator(state="still") as coordinator, contextlib.ExitStack() as at_end:
        at_end.callback(coordinator.process.send_signal, signal.SIGCONT)
        raw = join_raw(coordinator, functions=["test.raw"])
        identity = raw.identity
        by_raw = coordinator.task(["1", "2", "3", "4"], function="test.raw")
        answers = {}

        def take():
            _, ticket, control, payload = raw.hear_frame("ticket")
            answers[ticket] = control["token"], b"of " + payload
            return ticket

        def answer(ticket):
            raw.say("result", ticket, {"token": answers[ticket][0]}, answers[ticket][1])

        def verdict():
            return raw.hear_frame("verdict")[2]["verdict"]

        answer(take())
        check(verdict() == "accepted", "a result, so leases are short")
        raw.say("ready", control={"slots": 2})
        sent, late = take(), take()
        native = native_node(coordinator, "--jobs", 1)
        at_end.callback(native.wait)
        at_end.callback(native.kill)
        by_native = coordinator.task([str(i) for i in range(1, SMALL + 1)], function="sample.primes")
        check(len(coordinator.results(by_native)) == SMALL, "a native node works")
        coordinator.process.send_signal(signal.SIGSTOP)
        answer(sent)
        yield
        for _ in range(3):  # a node gives up and tries again
            raw.close()
            raw = Socket(coordinator)
            raw.socket.settimeout(0.5)
            try:
                check(raw.upgrade() == 0, "nothing answers")
            except TimeoutError:
                pass
        check(until(lambda: '"waiting"' in pathlib.Path(native.log).read_text(), 200), "a native node gives up")
        coordinator.process.send_signal(signal.SIGCONT)
        raw = Socket(coordinator)
        check(raw.upgrade() == 101, "it serves again")
        raw.say("hello", control={"functions": ["test.raw"], "threads": 2, **identity})
        for ticket in (sent, late):
            answer(ticket)
            check(verdict() in ("accepted", "duplicate"), "a result that was computed meanwhile counts")
        raw.say("ready", control={"slots": 1})
        answer(take())
        check(verdict() == "accepted", "the raw node returns")
        coordinator.add(by_native, [str(i) for i in range(SMALL + 1, 2 * SMALL + 1)])
        check(len({one["ticket"] for one in coordinator.results(by_native)}) == 2 * SMALL, "the native node returns")
        lines = coordinator.results(by_raw)
        check([one["result"] for one in sorted(lines, key=lambda one: one["ticket"])] == ["of 1", "of 2", "of 3", "of 4"],
              "each ticket counts once", lines)


def one_seed(seed):
    luck = random.Random(seed)
    points = list(POINTS)
    coordinator = Faulty()
    volunteers, natives = [], []
    try:
        tasks = {function: coordinator.task([str(i) for i in range(1, count + 1)], function=function, max_attempts=1000)
                 for function, count in (("sample.primes", SMALL), ("test.large", LARGE))}
        volunteers = [Volunteer(coordinator, (seed << 8) + i) for i in range(3)]
        native = native_node(coordinator, "--jobs", 1)
        natives.append(native)
        deaths = [points[seed % len(points)], luck.choice(points)]
        coordinator.restart(deaths[0], luck.randint(1, POINTS[deaths[0]]))
        for volunteer in volunteers:
            volunteer.start()
        full_at, signal_at, kill_at, still_at = (luck.uniform(0.02, 0.3) for _ in range(4))
        native_end = luck.choice([signal.SIGKILL, signal.SIGSTOP])
        start, crashes, is_done = time.monotonic(), 0, False
        while not is_done and time.monotonic() - start < 60:
            now = time.monotonic() - start
            if now > full_at:
                full_at = 1e9
                no_room(coordinator, luck.uniform(0.05, 0.2))
            if now > still_at:
                still_at = 1e9
                stand_still(coordinator, luck.uniform(0.1, 0.5))
            if now > signal_at:
                signal_at = 1e9
                native.send_signal(native_end)
                happened[native_end.name] += 1
            if coordinator.process.poll() is not None or now > kill_at:
                died = coordinator.process.poll() is not None
                happened[coordinator.program[1] if died else "kill -9"] += 1
                kill_at = kill_at if died else 1e9
                crashes += 1
                if crashes == 1:
                    coordinator.restart(deaths[1], luck.randint(1, POINTS[deaths[1]]))
                else:
                    coordinator.restart("none", 0)
            try:
                states = [json.loads(coordinator.request("GET", f"/api/tasks/{task}")[2]) for task in tasks.values()]
                is_done = all(state["free"] + state["leased"] == 0 for state in states)
            except (OSError, EOFError, ValueError, http.client.HTTPException):
                pass
            time.sleep(0.01)
        check(is_done, f"seed {seed}: all tickets are done", f"{crashes} deaths")
        until(lambda: not any(one.unanswered for one in volunteers), 5)
        coordinator.restart("none", 0)
        acknowledged = [one for volunteer in volunteers for one in volunteer.acknowledged]
        owners = dict(acknowledged)
        check(len(owners) == len(acknowledged), f"seed {seed}: no ticket was accepted twice", acknowledged)
        for function, task in tasks.items():
            lines = coordinator.results(task)
            count = SMALL if function == "sample.primes" else LARGE
            check(len(lines) == count and len({one["ticket"] for one in lines}) == count, f"seed {seed}: each ticket once", len(lines))
            first = min((one["ticket"] for one in lines), default=0)
            for one in lines:
                got = one["result"].encode() if "result" in one else coordinator.request("GET", f"/blobs/{one.get('blob')}")[2]
                check(got == right(function, str(one["ticket"] - first + 1).encode()), f"seed {seed}: the right result", one)
                check(owners.pop(one["ticket"], one["node"]) == one["node"], f"seed {seed}: from the node that was acknowledged", one)
        check(not owners, f"seed {seed}: no acknowledged result is lost", owners)
    finally:
        for volunteer in volunteers:
            volunteer.done.set()
        for process in natives:
            process.kill()
            process.wait()
        coordinator.kill()
        for volunteer in volunteers:
            if volunteer.ident:
                volunteer.join()


def faults():
    with stopped_coordinator():
        for seed in range(SEEDS):
            one_seed(seed)
            shutil.rmtree("state", ignore_errors=True)
    print(f"{SEEDS} seeds, slowest restart {slowest:.2f} s: " + ", ".join(f"{what} {count}" for what, count in sorted(happened.items())))


if __name__ == "__main__":
    main(faults)
