#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A coordinator with a full disk. It refuses results that it cannot store, with the reason. It keeps accepted
results. When there is room again it continues, also after a crash.
"""
import hashlib
import json
import os
import pathlib

from pool import Coordinator, Socket, join_raw
from small_disk import disk_of, fill, with_own_disks
from support import check


def a_full_disk():
    large, blob = b"large" * 10_000, b"a blob" * 10_000

    def take(node):
        _, ticket, control, payload = node.hear_frame("ticket")
        return ticket, control["token"], payload

    def answer(node, ticket, token, result):
        node.say("result", ticket, {"token": token}, result)

    def come_back(one):
        node = Socket(coordinator)
        node.upgrade()
        node.say("hello", control={"functions": [one.function], **one.identity})
        node.held = one.held
        return node

    def results_of(task):
        lines = coordinator.request("GET", f"/api/tasks/{task}/results")[2].splitlines()
        return [one["result"].encode() if "result" in one else coordinator.request("GET", f"/blobs/{one['blob']}")[2]
                for one in map(json.loads, lines)]

    def results():
        return results_of(small), results_of(of_large)

    with disk_of(300) as disk:  # the coordinator takes blobs only if 256 MiB remain free
        os.symlink(disk, "state")
        with Coordinator() as coordinator:
            small = coordinator.task(["2", "3", "4"], function="sample.primes")
            of_large = coordinator.task(["a", "b"], function="test.large")
            nodes = []
            for function in ("sample.primes", "test.large"):
                node = join_raw(coordinator, slots=2, functions=[function])
                node.function, node.held = function, [take(node), take(node)]
                nodes.append(node)
            answer(nodes[0], *nodes[0].held.pop(0)[:2], b"of 2")
            answer(nodes[1], *nodes[1].held.pop(0)[:2], large)
            for node in nodes:
                check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a result")
            fill(disk, 0)
            name = hashlib.sha256(blob).hexdigest()
            status, _, text = coordinator.request("PUT", f"/blobs/{name}", blob)
            check(status == 507 and b"make room" in text, "a blob is refused with the reason", f"{status} {text}")
            status, _, text = coordinator.request("POST", "/api/projects", json.dumps({"name": "another"}))
            check(status == 507 and b"disk is full" in text, "a project is refused with the reason", f"{status} {text}")
            for node, result in zip(nodes, (b"of 3", large)):
                answer(node, *node.held[0][:2], result)
                check(node.close_code() == 1013, "a node whose result cannot be stored must come again later")
            for stop in (coordinator.kill, coordinator.end):
                stop()
                coordinator.begin()
                check(results() == ([b"of 2"], [large]), "it starts on a full disk, and accepted results can be read", results())
                check(coordinator.request("POST", "/api/projects", json.dumps({"name": "another"}))[0] == 507, "it stores nothing")
            log = [json.loads(line) for line in pathlib.Path("state.log").read_text().splitlines() if line.startswith("{")]
            check(any("disk is full" in line.get("what", "") for line in log), "the log has the reason", log[-3:])
            check(results() == ([b"of 2"], [large]), "accepted results stay", results())
            (disk / "filler").unlink()
            for node, result in zip(map(come_back, nodes), (b"of 3", large)):
                node.hear_frame("welcome")
                answer(node, *node.held[0][:2], result)
                check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "with room again its result is accepted")
            coordinator.put_blob(blob)
            coordinator.kill()
            coordinator.begin()
            check(results() == ([b"of 2", b"of 3"], [large, large]), "they stay after a crash", results())
            check(coordinator.request("GET", f"/blobs/{name}")[2] == blob, "the blob stays too")
            last = join_raw(coordinator)
            answer(last, *take(last)[:2], b"of the last")
            check(last.hear_frame("verdict")[2]["verdict"] == "accepted", "the rest is done")
            check(results() == ([b"of 2", b"of 3", b"of the last"], [large, large]), "each ticket counts once", results())


with_own_disks(a_full_disk)
