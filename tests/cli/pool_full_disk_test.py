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
    inputs = ["2", "3", "4", "5"]
    large, blob = b"of 3" * 10_000, b"a blob" * 10_000

    def take(node):
        _, ticket, control, payload = node.hear_frame("ticket")
        return ticket, control["token"], payload

    def answer(node, ticket, token, result):
        node.say("result", ticket, {"token": token}, result)

    def come_back(identity):
        node = Socket(coordinator)
        node.upgrade()
        node.say("hello", control={"functions": ["sample.primes"], **identity})
        return node

    def results():
        lines = coordinator.request("GET", f"/api/tasks/{task}/results")[2].splitlines()
        return [one["result"].encode() if "result" in one else coordinator.request("GET", f"/blobs/{one['blob']}")[2]
                for one in map(json.loads, lines)]

    with disk_of(300) as disk:  # the coordinator takes blobs only where 256 MiB are left over
        os.symlink(disk, "state")
        with Coordinator() as coordinator:
            task = coordinator.task(inputs, function="sample.primes")
            node = join_raw(coordinator, slots=2)
            identity = node.identity
            held = [take(node), take(node)]
            answer(node, *held[0][:2], b"of 2")
            check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a result")
            answer(node, *held[1][:2], large)
            check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a large one")
            ticket, token, payload = take(node)
            fill(disk, 0)
            name = hashlib.sha256(blob).hexdigest()
            status, _, text = coordinator.request("PUT", f"/blobs/{name}", blob)
            check(status == 422 and b"make room" in text, "a blob is refused, and why", f"{status} {text}")
            status, _, text = coordinator.request("POST", "/api/projects", json.dumps({"name": "another"}))
            check(status == 422 and b"disk is full" in text, "a project is refused, and why", f"{status} {text}")
            for result in (b"of " + payload, large):
                answer(node, ticket, token, result)
                check(node.close_code() == 1013, "a node whose result cannot be kept is told to come again later")
                node = come_back(identity)
            log = [json.loads(line) for line in pathlib.Path("state.log").read_text().splitlines() if line.startswith("{")]
            check(any("disk is full" in line.get("what", "") for line in log), "the log says why", log[-3:])
            check(results() == [b"of 2", large], "what was accepted stays")
            (disk / "filler").unlink()
            node = come_back(identity)
            node.hear_frame("welcome")
            answer(node, ticket, token, large)
            check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "with room again it is")
            coordinator.put_blob(blob)
            coordinator.kill()
            coordinator.begin()
            check(results() == [b"of 2", large, large], "also after its death", results())
            check(coordinator.request("GET", f"/blobs/{name}")[2] == blob, "the blob, too")
            last = join_raw(coordinator)
            answer(last, *take(last)[:2], b"of the last")
            check(last.hear_frame("verdict")[2]["verdict"] == "accepted", "and the rest is done")
            check(results() == [b"of 2", large, large, b"of the last"], "each once")


on_disks_of_its_own(a_full_disk)
