#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that break the protocol: each is refused and counted, and others are not disturbed."""
import collections
import concurrent.futures
import functools
import http.client
import json
import os
import pathlib
import resource
import socket
import struct
import subprocess
import time

import pool
from pool import (Coordinator, Socket, counted, end, frame, has_joined, join_raw, js_node, native_node, node_js_is_there, plain,
                  until)
from support import KAISEKI, check, main

SLOW = ("handshake_seconds=2", "rate_seconds=2", "ping_seconds=2", "pong_seconds=2", "result_bytes=1000000")


def refused_upgrade(coordinator, reason, status, what, **headers):
    before = coordinator.refused(reason)
    peer = Socket(coordinator)
    got = peer.upgrade(**headers)
    check(got == status, f"{what}: {status}", got)
    counted(coordinator, reason, before, what)
    peer.close()


def joining():
    with Coordinator(pages=True) as coordinator:
        own = f"http://127.0.0.1:{coordinator.port}"
        refused_upgrade(coordinator, "node_token", 401, "a wrong token", Authorization="Bearer " + "0" * 48)
        refused_upgrade(coordinator, "node_token", 401, "no token and no page", Authorization=None)
        refused_upgrade(coordinator, "node_token", 401, "the author's token",
                        Authorization=f"Bearer {coordinator.author_token}")
        refused_upgrade(coordinator, "node_token", 401, "a page with a wrong token", Origin=own, Authorization="Bearer x")
        for origin in ("http://evil.example", "null", own.replace("http:", "https:"), own + ".evil.example", own + "/"):
            refused_upgrade(coordinator, "origin", 403, f"a page of {origin}", Origin=origin, Authorization=None)
        for host in ("evil.example", f"evil.example:{coordinator.port}", "127.0.0.1.evil.example", "127.0.0.1:80; x"):
            refused_upgrade(coordinator, "host", 421, f"the host {host}", Host=host)
        refused_upgrade(coordinator, "host", 421, "no host", Host=None)
        for wrong in ({"Sec_WebSocket_Version": "8"}, {"Sec_WebSocket_Key": "c2hvcnQ="}, {"Sec_WebSocket_Key": "?" * 24},
                      {"Sec_WebSocket_Key": None}):
            refused_upgrade(coordinator, "websocket", 400, f"{wrong}", **wrong)
        peer = Socket(coordinator)
        check(peer.upgrade(Origin=own, Authorization=None) == 101, "a page of the coordinator")
        node = join_raw(coordinator)
        check(node.identity["node"], "a node with the token", node.identity)
    with Coordinator("--origin", "https://pool.example") as coordinator:
        peer = Socket(coordinator)
        check(peer.upgrade(Origin="https://pool.example", Authorization=None) == 101, "a page of an allowed origin")


def closes(coordinator, code, reason, what, *messages, node=None):
    before = coordinator.refused(reason)
    node = node or join_raw(coordinator)
    for message in messages:
        try:
            node.send(message)
        except OSError:
            break
    got = node.close_code(20)
    node.close()
    check(got == code, f"{what}: close code {code}", got)
    counted(coordinator, reason, before, what)


def bad_frames():
    with Coordinator(limits=("result_bytes=1000000",)) as coordinator:
        node = Socket(coordinator)
        message = node.message
        echo = frame("echo", payload=b"x" * 100)
        closes(coordinator, 1003, "text_message", "text", message(b"hello", opcode=1))
        closes(coordinator, 1002, "frame", "garbage", message(b"\xff" * 100))
        closes(coordinator, 1002, "frame", "a short message", message(b"KAIS"))
        closes(coordinator, 1002, "frame", "an empty message", message(b""))
        closes(coordinator, 1002, "frame", "a frame of the server's", message(frame("welcome")))
        closes(coordinator, 1002, "frame", "control that is no JSON", message(frame("ready", control_bytes=3) + b"{x}"))
        closes(coordinator, 1002, "frame", "a second hello", message(frame("hello")))
        closes(coordinator, 1002, "frame", "slots that are no number", message(frame("ready", control={"slots": "many"})))
        closes(coordinator, 1002, "websocket", "no mask", message(echo, mask=False))
        closes(coordinator, 1002, "websocket", "a reserved bit", message(echo, rsv=4))
        closes(coordinator, 1002, "websocket", "a reserved opcode", message(echo, opcode=5))
        closes(coordinator, 1002, "websocket", "a long ping", message(b"p" * 126, opcode=9))
        closes(coordinator, 1002, "websocket", "a fragmented ping", message(b"p", opcode=9, fin=False))
        closes(coordinator, 1002, "websocket", "a continuation of nothing", message(echo, opcode=0))
        for code in (999, 1005, 1006, 2000, 5000, 65535):
            closes(coordinator, 1002, "websocket", f"the close code {code}", message(struct.pack(">H", code), opcode=8))
        closes(coordinator, 1009, "frame_bytes", "2^63 - 1 bytes", message(b"x", length=2**63 - 1))
        closes(coordinator, 1009, "frame_bytes", "a frame over what any may have", message(b"x", length=10**7))
        closes(coordinator, 1009, "frame_bytes", "a payload of 2^53 - 1 bytes",
               message(frame("echo", payload_bytes=2**53 - 1)))
        closes(coordinator, 1002, "frame", "a payload of 2^63 bytes", message(frame("echo", payload_bytes=2**63)))
        closes(coordinator, 1009, "frame_bytes", "an echo that is too long", message(frame("echo", payload=b"x" * 65537)))
        closes(coordinator, 1009, "frame_bytes", "a payload where none belongs", message(frame("ready", payload=b"x")))
        told = join_raw(coordinator)
        told.send(message(frame("ready", control={"slots": "many"})))
        text = told.hear_frame("error")[2]["error"]
        check("slots" in text and "a number" in text, "the reason names the mistake", text)
        early = Socket(coordinator)
        early.upgrade()
        closes(coordinator, 1002, "frame", "ready before hello", message(frame("ready", control={"slots": 1})), node=early)

        node = join_raw(coordinator)
        node.send(node.message(echo[:40], fin=False) + node.message(b"ping", opcode=9) +
                  node.message(echo[40:90], opcode=0, fin=False) + node.message(b"", opcode=0, fin=False) +
                  node.message(echo[90:], opcode=0))
        check(node.hear() == (10, b"ping"), "a pong between fragments")
        check(node.hear_frame("echo")[3] == b"x" * 100, "a fragmented message returns whole")
        node.send(node.message(struct.pack(">H", 1000), opcode=8))
        check(node.close_code() == 1000, "a close is answered")


def raw_frame(kind, text):
    """A frame whose control part is exactly `text`."""
    return frame(kind, control_bytes=len(text)) + text


def rewritten_json():
    """JSON that becomes longer when it is written again: echoes return unchanged, errors are cut."""
    with Coordinator(pages=True) as coordinator:
        honest = join_raw(coordinator)
        node = join_raw(coordinator)
        compact = raw_frame("echo", b'{"x":[' + b",".join([b"1"] * 25000) + b"]}")
        node.send(node.message(compact))
        opcode, data = node.hear()
        check(opcode == 2 and data == compact, "an echo is equal byte for byte", data[:100])
        page = Socket(coordinator)
        check(page.upgrade(Origin=f"http://127.0.0.1:{coordinator.port}", Authorization=None) == 101, "a page")
        key = b'"' + b"\x01" * 20000 + b'"'
        page.send(page.message(raw_frame("hello", b"{" + key + b":1," + key + b":1}")))
        text = page.hear_frame("error")[2]["error"]
        check(0 < len(text) <= 200, "an error's text is cut", len(text))
        check(page.close_code() == 1002, "its connection ends")
        honest.send(honest.message(frame("echo", payload=b"still")))
        check(honest.hear_frame("echo")[3] == b"still", "others continue")


def large_results():
    with Coordinator(pages=True) as coordinator:
        task = coordinator.task([], function="sample.primes")
        coordinator.add(task, ["7"], max_result_bytes=1_000_000)
        node = join_raw(coordinator)
        _, ticket, control, _ = node.hear_frame("ticket")
        node.close()
        check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["leased"] == 0, 5), "it has left")
        again = Socket(coordinator)
        again.upgrade()
        again.say("hello", control={**node.identity, "functions": ["sample.primes"]})
        again.hear_frame("welcome")
        again.send(plain(frame("result", ticket, {"token": control["token"]}, b"y" * 200_000)))
        check(again.hear_frame("verdict")[2]["verdict"] == "accepted", "200 kB after a reconnection")
        page = Socket(coordinator)
        page.upgrade(Origin=f"http://127.0.0.1:{coordinator.port}", Authorization=None)
        page.say("hello", control={})
        page.hear_frame("welcome")
        closes(coordinator, 1009, "frame_bytes", "200 kB for a ticket that it never had",
               plain(frame("result", ticket, {"token": control["token"]}, b"y" * 200_000)[:100_000], fin=False), node=page)
        coordinator.add(task, ["9"], max_result_bytes=40_000_000)
        node = join_raw(coordinator)
        _, ticket, control, _ = node.hear_frame("ticket")
        node.send(plain(frame("result", ticket, {"token": control["token"]}, b"y" * 20_000_000)))
        check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a first result of 20 MB")


def node_that_leaves_at_once():
    """A page that claims a thousand threads and leaves gets two tickets, and does not use up their attempts."""
    with Coordinator(pages=True) as coordinator:
        task = coordinator.task([str(i) for i in range(20)], function="sample.primes", max_attempts=3)
        for _ in range(5):
            page = Socket(coordinator)
            page.upgrade(Origin=f"http://127.0.0.1:{coordinator.port}", Authorization=None)
            page.say("hello", control={"functions": ["sample.primes"], "threads": 1024})
            page.hear_frame("welcome")
            page.say("ready", control={"slots": 1024})
            for _ in range(2):
                page.hear_frame("ticket")
            page.say("echo")
            check(page.hear_frame("ticket", "echo")[0] == "echo", "two tickets and no more")
            page.close()
            check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["leased"] == 0, 5), "they are free")
        status = coordinator.api("GET", f"/tasks/{task}")
        check(status["dead"] == 0 and status["free"] == 20, "no ticket is dead", status)


def errors_of_nodes():
    """Texts that are not Unicode, and results that are too large, are errors of the ticket, not of the connection."""
    with Coordinator() as coordinator:
        def fails(what, words, **ticket):
            task = coordinator.task([], max_attempts=1, **({"module": ticket.pop("module")} if "module" in ticket
                                                           else {"function": "sample.primes"}))
            coordinator.api("POST", f"/tasks/{task}/tickets", {"tickets": [ticket]})
            check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["dead"] == 1, 30), f"{what}: has failed")
            texts = [one["error"] for one in coordinator.api("GET", f"/tasks/{task}/errors")]
            check(len(texts) == 1 and all(word in texts[0] for word in words), what, texts)

        native = native_node(coordinator)
        fails("bytes that are no UTF-8", [], input_base64="/////w==")
        fails("a native result that is too large", ["max_result_bytes"], input="7", max_result_bytes=1)
        check(end(native) == 0, "the native node ends")
        if not node_js_is_there():
            return
        script = js_node(coordinator, "--threads", 1)
        half = b"export const calculate = () => { throw new Error('x'.repeat(999) + '\\u{1f600}'); };"
        large = b"export const calculate = () => new Uint8Array(20000000);"
        fails("half a character", ["xxx"], input="1", module=coordinator.put_blob(half))
        control = b"export const calculate = () => { throw new Error('\\u009b2J'); };"
        fails("a control character", ["2J"], input="1", module=coordinator.put_blob(control))
        printed = pathlib.Path(script.log).read_text()
        check("\\u009b2J" in printed and "\x9b" not in printed, "control characters do not reach the terminal", printed[-500:])
        fails("a result that is too large", ["max_result_bytes", "20000000"], input="1", module=coordinator.put_blob(large))
        check(end(script) == 0, "the JavaScript node ends")
        check(coordinator.refused("frame") == 0 and coordinator.refused("frame_bytes") == 0, "no node was expelled")


def full_disk():
    """A waiting node gets its ticket as soon as there is room again."""
    task_spec = {"function": "sample.primes"}
    popen, pool.subprocess.Popen = pool.subprocess.Popen, functools.partial(subprocess.Popen, restore_signals=False)
    try:
        coordinator = Coordinator()
    finally:
        pool.subprocess.Popen = popen
    with coordinator:
        def room(most):
            resource.prlimit(coordinator.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

        node = join_raw(coordinator, slots=0)
        coordinator.task(["7", "9"], **task_spec)
        room(1000)
        node.say("ready", control={"slots": 1})
        name = "kaiseki_transactions_failed_total"
        check(until(lambda: coordinator.metrics().get(name, 0) > 0, 10), "a transaction fails", coordinator.metrics())
        room(resource.RLIM_INFINITY)
        node.socket.settimeout(10)
        check(node.hear_frame("ticket")[0] == "ticket", "the waiting node gets a ticket")


def results_of_others():
    with Coordinator() as coordinator:
        task = coordinator.task(["7", "8", "9"], function="sample.primes", max_attempts=100)
        honest, thief = join_raw(coordinator), join_raw(coordinator)
        _, ticket, control, payload = honest.hear_frame("ticket")
        check(payload in (b"7", b"8", b"9") and control["function"] == "sample.primes", "a ticket", control)
        _, own, own_control, _ = thief.hear_frame("ticket")

        def answer(node, of, token, result=b"false"):
            node.say("result", of, {"token": token}, result)
            return node.hear_frame("verdict")[2]

        before = coordinator.refused("result")
        stolen = answer(thief, ticket, control["token"])
        check(stolen["verdict"] == "refused", "another node's lease is refused", stolen)
        for token in ("", "x", control["token"][:-1], control["token"][:-1] + ("0" if control["token"][-1] != "0" else "1"),
                      own_control["token"] + control["token"]):
            check(answer(honest, ticket, token)["verdict"] == "refused", f"the token {token[:40]}")
        check(coordinator.refused("result") >= before + 6, "the refusals are counted", coordinator.refused("result"))
        check(coordinator.api("GET", f"/tasks/{task}")["done"] == 0, "nothing counts so far")

        check(answer(honest, ticket, control["token"], b"true")["verdict"] == "accepted", "the honest node's result counts")
        before = coordinator.refused("replay")
        for _ in range(3):
            check(answer(honest, ticket, control["token"], b"false")["verdict"] == "duplicate", "a replay")
        check(coordinator.refused("replay") == before + 3, "replays are counted")
        results = [json.loads(line) for line in
                   coordinator.request("GET", f"/api/tasks/{task}/results")[2].splitlines()]
        check([one["result"] for one in results] == ["true"], "accepted once", results)

        before = coordinator.refused("stale")
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "cancelled"})
        late = answer(thief, own, own_control["token"], b"true")
        check(late["verdict"] == "stale", "a cancelled task's result", late)
        check(coordinator.refused("stale") == before + 1, "it is counted")

        for node in (honest, thief):
            node.say("ready", control={"slots": 0})
            node.say("echo")
            node.hear_frame("echo")
        small = coordinator.task([], function="sample.primes")
        coordinator.add(small, ["7"], max_result_bytes=10)
        third = join_raw(coordinator)
        _, ticket, control, _ = third.hear_frame("ticket")
        closes(coordinator, 1009, "frame_bytes", "a result over its ticket's bytes",
               third.message(frame("result", ticket, {"token": control["token"]}, b"x" * 75)), node=third)
        check(until(lambda: coordinator.api("GET", f"/tasks/{small}")["leased"] == 0, 5), "its ticket is free at once")
        errors = coordinator.api("GET", f"/tasks/{small}/errors")
        check([one["error"] for one in errors] == ["expected a result of at most 10 bytes (max_result_bytes), got 75"],
              "it was an attempt, with the reason", errors)
        third = join_raw(coordinator)
        third.hear_frame("ticket")
        closes(coordinator, 1009, "frame_bytes", "a message over what any may have", third.message(b"x", length=10**8), node=third)
        check(until(lambda: len(coordinator.api("GET", f"/tasks/{small}/errors")) == 2, 20), "it is an attempt too")

        before = coordinator.refused("node_key")
        forger = Socket(coordinator)
        forger.upgrade()
        forger.say("hello", control={"node": honest.identity["node"], "key": thief.identity["key"]})
        check(forger.close_code() == 1008, "another node's identity is refused")
        counted(coordinator, "node_key", before, "another node's name")
        again = Socket(coordinator)
        again.upgrade()
        again.say("hello", control=honest.identity)
        check(again.hear_frame("welcome")[2]["node"] == honest.identity["node"], "a node that returns is recognized")
        check(honest.close_code() == 1008, "its earlier connection ends")
        coordinator.api("DELETE", f"/nodes/{honest.identity['node']}?reason=a+liar")
        expelled = Socket(coordinator)
        expelled.upgrade()
        expelled.say("hello", control=honest.identity)
        check(expelled.close_code() == 1008, "an expelled node is refused")


def expelled_nodes():
    """Native and JavaScript nodes that are expelled end with a message, and do not return under another name."""
    with Coordinator("--short-addresses") as coordinator:
        nodes = [native_node(coordinator)] + ([js_node(coordinator)] if node_js_is_there() else [])
        for node in nodes:
            check(has_joined(node), "a node joins")
        for known in coordinator.api("GET", "/nodes"):
            coordinator.api("DELETE", f"/nodes/{known['node']}?reason=a+liar")
        for node in nodes:
            check(until(lambda: node.poll() is not None, 20), "an expelled node ends")
            log = pathlib.Path(node.log).read_text()
            check(node.poll() == 1 and "expelled this node: " in log, "it prints the reason", log[-500:])
        check(until(lambda: not any(one["connected"] for one in coordinator.api("GET", "/nodes")), 10), "their connections are closed")
        known = coordinator.api("GET", "/nodes")
        check([(one["state"], one["reason"], one["connected"]) for one in known] == [("expelled", "a liar", False)] * len(nodes),
              "none returned, and the reason is kept", known)
        expelled = coordinator.metrics().get('kaiseki_pool_total{event="expelled"}')
        check(expelled == len(nodes), "they are counted", expelled)
        log = [json.loads(line) for line in pathlib.Path("state.log").read_text().splitlines() if line.startswith("{")]
        out = [one for one in log if one["event"] == "node_expelled"]
        check({one["node"] for one in out} == {one["node"] for one in known} and
              {(one["reason"], one["by"], one["address"]) for one in out} == {("a liar", "author", "127.0.0.0/24")},
              "the log names them", log)


def slow_peers():
    """Half a request, 1 byte a second, no pong, an endless slow message: each is closed, while a node continues to
    compute. All of them come at once.
    """
    with Coordinator(limits=SLOW) as coordinator, concurrent.futures.ThreadPoolExecutor(16) as threads:
        cases = []

        def waits(what, reason, peer, seconds, feed=None):
            def run():
                start = time.monotonic()
                peer.socket.settimeout(0.05)
                while time.monotonic() - start < seconds:
                    try:
                        if not peer.socket.recv(4096):
                            break
                    except socket.timeout:
                        pass
                    except ConnectionError:
                        break
                    try:
                        if feed:
                            peer.send(feed())
                            time.sleep(0.2)  # a slow peer
                    except OSError:
                        break
                peer.close()
                return time.monotonic() - start

            cases.append((what, reason, seconds, threads.submit(run)))

        def idle(node):
            start = time.monotonic()
            while time.monotonic() - start < 5:
                node.send(node.message(b"", opcode=10))
                time.sleep(0.5)  # a slow peer
            node.say("echo")
            return node.hear_frame("echo")[0]

        patient = Socket(coordinator)
        patient.send(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(patient.answer()[0] == 200, "a first request")
        first = time.monotonic()
        waits("silence", "handshake_time", Socket(coordinator), 6)
        peer = Socket(coordinator)
        peer.send(b"GET / HTTP/1.1\r\nHost: ")
        waits("a request byte by byte", "handshake_time", peer, 6, lambda: b"x")
        peer = Socket(coordinator)
        peer.send(f"PUT /blobs/{'0' * 64} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {coordinator.author_token}\r\n"
                  f"Content-Length: 1000000\r\n\r\n".encode())
        waits("a body byte by byte", "slow", peer, 8, lambda: b"x")
        peer = Socket(coordinator)
        peer.upgrade()
        waits("no hello", "hello", peer, 10)
        node = join_raw(coordinator)
        whole = iter(node.message(frame("echo", payload=b"x" * 60000)))
        waits("a message byte by byte", "slow", node, 8, lambda: bytes([next(whole)]))
        waits("no pong", "pong_time", join_raw(coordinator), 10)
        patience = threads.submit(idle, join_raw(coordinator))
        node = join_raw(coordinator)
        node.send(node.message(frame("echo", payload=b"x" * 60000)[:40], fin=False))
        waits("empty fragments without end", "fragments", node, 10, lambda n=node: n.message(b"", opcode=0, fin=False) * 5000)
        task = coordinator.task([], function="test.slow")
        coordinator.add(task, ["7"], max_result_bytes=1_000_000)
        node = join_raw(coordinator, functions=("test.slow",))
        _, ticket, _, _ = node.hear_frame("ticket")
        node.send(plain(frame("result", ticket, payload=b"x" * 900_000)[:800_000], fin=False))
        waits("pongs in an unfinished message", "slow", node, 10, lambda n=node: n.message(b"", opcode=10))
        time.sleep(max(0, first + 3 - time.monotonic()))  # between requests a longer silence is allowed
        patient.send(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(patient.answer()[0] == 200, "a second one")
        patient.send(b"GET / HTTP/1.1\r\nHost: ")
        waits("a further request byte by byte", "handshake_time", patient, 6, lambda: b"x")
        while not all(run.done() for *_, run in cases):
            good = join_raw(coordinator)
            good.send(good.message(frame("echo", payload=b"still")))
            check(good.hear_frame("echo")[3] == b"still", "others continue")
            good.close()
        for what, reason, seconds, run in cases:
            check(run.result() < seconds, f"{what}: closed in {seconds} s", run.result())
        for reason, count in collections.Counter(reason for _, reason, _, _ in cases).items():
            check(until(lambda: coordinator.refused(reason) == count, 5), f"{count} are counted as {reason}", coordinator.refused(reason))
        check(patience.result() == "echo", "an idle node may send pongs")


def listening_addresses():
    from support import refuses
    refuses(["--tls-cert", "loopback", "0.0.0.0"], "serve", "--host", "0.0.0.0", "--port", 0, "--state", "s")
    refuses(["--host", "localhost"], "serve", "--host", "localhost", "--port", 0, "--state", "s")
    refuses(["--tls-cert", "--tls-key"], "serve", "--tls-cert", "x.pem", "--port", 0, "--state", "s")
    refuses(["PEM", "x.pem"], "serve", "--tls-cert", "x.pem", "--tls-key", "x.pem", "--port", 0, "--state", "s")
    refuses(["unknown limit", "speed"], "serve", "--limit", "speed=1", "--port", 0, "--state", "s")
    refuses(["http://127.0.0.1:8080"], "join", "ftp://x")
    with Coordinator() as coordinator:
        refuses(["listen", str(coordinator.port)], "serve", "--port", coordinator.port, "--state", "other")
        refuses(["state"], "serve", "--port", 0, "--state", str(coordinator.state))
        with open("wrong.token", "w") as file:
            file.write("0" * 48)
        refuses(["--token-file"], "join", coordinator.url, "--token-file", "wrong.token", "--gflops", 1)
        if node_js_is_there():
            script = js_node(coordinator, "--token-file", "wrong.token")
            check(script.wait(30) == 1, "a script with a wrong token ends")
            check("--token-file" in pathlib.Path(script.log).read_text(), "it prints the reason", pathlib.Path(script.log).read_text())
        for file in ("author.token", "node.token"):
            mode = (coordinator.state / file).stat().st_mode & 0o777
            check(mode == 0o600, f"{file} is readable by its owner only", oct(mode))
        check(coordinator.author_token != coordinator.node_token and len(coordinator.author_token) == 48, "tokens")


if __name__ == "__main__":
    main(joining, bad_frames, rewritten_json, large_results, node_that_leaves_at_once, errors_of_nodes, full_disk,
         results_of_others, expelled_nodes, slow_peers, listening_addresses, together=True)
