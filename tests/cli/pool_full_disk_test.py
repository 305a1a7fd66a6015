#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A coordinator whose disk is really full: what it cannot keep is refused with the reason, what it accepted stays, and with
room again it goes on, also after its death."""
import hashlib
import json
import os
import pathlib

from pool import Coordinator, Socket, join_raw
from small_disk import disk_of, fill, on_disks_of_its_own
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

    with disk_of(300) as disk:  # the coordinator takes blobs only where 256 MiB are left over
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
            check(status == 507 and b"make room" in text, "a blob is refused, and why", f"{status} {text}")
            status, _, text = coordinator.request("POST", "/api/projects", json.dumps({"name": "another"}))
            check(status == 507 and b"disk is full" in text, "a project is refused, and why", f"{status} {text}")
            for node, result in zip(nodes, (b"of 3", large)):
                answer(node, *node.held[0][:2], result)
                check(node.close_code() == 1013, "a node whose result cannot be kept is told to come again later")
            log = [json.loads(line) for line in pathlib.Path("state.log").read_text().splitlines() if line.startswith("{")]
            check(any("disk is full" in line.get("what", "") for line in log), "the log says why", log[-3:])
            check(results() == ([b"of 2"], [large]), "what was accepted stays", results())
            (disk / "filler").unlink()
            for node, result in zip(map(come_back, nodes), (b"of 3", large)):
                node.hear_frame("welcome")
                answer(node, *node.held[0][:2], result)
                check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "with room again it is")
            coordinator.put_blob(blob)
            coordinator.kill()
            coordinator.begin()
            check(results() == ([b"of 2", b"of 3"], [large, large]), "also after its death", results())
            check(coordinator.request("GET", f"/blobs/{name}")[2] == blob, "the blob, too")
            last = join_raw(coordinator)
            answer(last, *take(last)[:2], b"of the last")
            check(last.hear_frame("verdict")[2]["verdict"] == "accepted", "and the rest is done")
            check(results() == ([b"of 2", b"of 3", b"of the last"], [large, large]), "each once", results())


on_disks_of_its_own(a_full_disk)
