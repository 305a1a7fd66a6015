#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that take more than their share: of messages, sockets, requests, output; and who counts as one behind a proxy."""
import http.client
import pathlib
import socket
import time

from pool import Coordinator, Socket, counted, frame, join_raw, plain, until
from support import check, main

FAST = ("messages_per_second=100000", "bytes_per_second=1e9")


def floods():
    with Coordinator(limits=("messages_per_second=50", "output_bytes=1000000", "sockets_per_address=20",
                             "header_bytes=2000", "header_lines=20", "json_bytes=1000", "blob_bytes=1000")) as coordinator:
        node = join_raw(coordinator)
        start = time.monotonic()
        node.send(node.message(frame("echo", payload=b"x")) * 200)
        for _ in range(200):
            node.hear_frame("echo")
        check(time.monotonic() - start > 1.5, "messages wait over their rate", time.monotonic() - start)
        counted(coordinator, "message_rate", 0, "messages over their rate")
        before = coordinator.refused("message_rate")
        node.send(node.message(b"p", opcode=9) * 500)
        check(node.close_code() == 1008, "pings without end")
        counted(coordinator, "message_rate", before, "pings without end")

        def asks(reason, status, method, path, body=None, headers=None):
            before = coordinator.refused(reason)
            got = coordinator.request(method, path, body, headers)[0]
            check(got == status, f"{method} {path[:40]}: {status}", got)
            counted(coordinator, reason, before, path[:40])

        asks("header_bytes", 431, "GET", "/" + "x" * 3000)
        asks("header_lines", 431, "GET", "/", headers={f"X-{i}": "y" for i in range(30)})
        asks("body_bytes", 413, "POST", "/api/projects", b"x" * 1001)
        asks("body_bytes", 413, "PUT", "/blobs/" + "0" * 64, b"x" * 1001)
        asks("author_token", 401, "GET", "/api/projects", headers={"Authorization": "Bearer wrong"})
        asks("author_token", 401, "POST", "/blobs/x", headers={"Authorization": f"Bearer {coordinator.node_token}"})
        asks("request", 400, "GET", "/%zz")
        peer = Socket(coordinator)
        peer.send(b"NONSENSE\r\n\r\n")
        check(peer.answer()[0] == 400, "no HTTP")

        before = coordinator.refused("sockets_per_address")
        peers = []
        for _ in range(60):
            peers.append(Socket(coordinator))
            time.sleep(0.02)
        for peer in peers:
            peer.close()
        time.sleep(1)
        counted(coordinator, "sockets_per_address", before, "too many sockets of one address")
    with Coordinator(limits=("sockets_per_address=50", "connections_per_second=5")) as coordinator:
        for _ in range(100):
            Socket(coordinator).close()
        time.sleep(1)
        counted(coordinator, "connection_rate", 0, "too many sockets one after the other")


def links():
    """Who measures a link has the token for nodes, and asks as seldom as an address may connect."""
    with Coordinator(limits=("sockets_per_address=20", "connections_per_second=1")) as coordinator:
        connection = http.client.HTTPConnection("127.0.0.1", coordinator.port, timeout=30)
        other = http.client.HTTPConnection("127.0.0.1", coordinator.port, timeout=30, source_address=("127.0.0.2", 0))
        token = {"Authorization": f"Bearer {coordinator.node_token}"}

        def ask(over, method="GET", path="/link?bytes=4194304", headers=token):
            over.request(method, path, headers=headers)
            answer = over.getresponse()
            return answer.status, len(answer.read())

        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Origin": f"http://127.0.0.1:{coordinator.port}"}):
            for method in ("GET", "HEAD"):
                status, _ = ask(connection, method, headers=headers)
                check(status == 401, f"{method} without the token", f"{headers} {status}")
        check(coordinator.refused("node_token") == 6, "they are counted", coordinator.refused("node_token"))
        check(coordinator.refused("link_rate") == 0, "and are no measurements")
        check(ask(connection) == (200, 4194304), "a large one")
        got = [ask(connection, path="/link?bytes=1") for _ in range(1500)]
        check(got[:639] == [(200, 1)] * 639, "twenty measurements of 32 requests", got[:639])
        check(any(status == 429 for status, _ in got), "too many of one address", got)
        counted(coordinator, "link_rate", 0, "too many of one address")
        check(ask(connection, path="/healthz")[0] == 200, "its other requests are answered")
        check(ask(other)[0] == 200, "so are those of another address")
        check(until(lambda: ask(connection)[0] == 200, 10, 0.2), "and later its own")


def who_does_not_read():
    with Coordinator(limits=(*FAST, "output_bytes=300000")) as coordinator:
        node = join_raw(coordinator)
        node.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        node.socket.settimeout(5)
        big = node.message(frame("echo", payload=b"x" * 60000))
        try:
            for _ in range(400):
                node.send(big)
        except OSError:
            pass
        counted(coordinator, "output_bytes", 0, "output that is not read")
    with Coordinator(limits=(*FAST, "ping_seconds=1", "pong_seconds=4", "rate_seconds=8")) as coordinator:
        node = join_raw(coordinator)
        node.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        big, pong = plain(frame("echo", payload=b"x" * 60000)), node.message(b"", opcode=10)
        before, start = coordinator.refused("slow"), time.monotonic()
        closed = False
        try:
            for _ in range(300):
                node.send(big)
            while time.monotonic() - start < 25:
                node.send(pong)
                time.sleep(1.6)
        except OSError:
            closed = True
        check(closed, "output that stands still ends, whatever pongs say", time.monotonic() - start)
        counted(coordinator, "slow", before, "output that stands still")
        check(until(lambda: coordinator.metrics()["kaiseki_connections"] <= 1, 5), "its connection has gone",
              coordinator.metrics()["kaiseki_connections"])
        start = time.monotonic()
        check(coordinator.end() == 0 and time.monotonic() - start < 20, "the coordinator ends", time.monotonic() - start)


def output_of_all():
    """Many that do not read, each within its own limit: together they are over that of all, and those who read go on."""
    with Coordinator(limits=(*FAST, "output_bytes_of_all=3000000")) as coordinator:
        good = join_raw(coordinator)
        big = plain(frame("echo", payload=b"x" * 60000))
        nodes = [join_raw(coordinator) for _ in range(6)]
        for node in nodes:
            node.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            node.socket.settimeout(5)
            try:
                for _ in range(150):
                    node.send(big)
            except OSError:
                pass
            good.send(good.message(frame("echo", payload=b"still")))
            check(good.hear_frame("echo")[3] == b"still", "who reads goes on")
        check(until(lambda: coordinator.request("GET", "/metrics")[0] == 200, 30), "and when they have gone, so does the API")
        counted(coordinator, "output_bytes_of_all", 0, "output of all that is not read")
        check(coordinator.refused("output_bytes") == 0, "none was over its own limit", coordinator.refused("output_bytes"))


def bytes_of_a_node():
    """The first result of each ticket is free; the rest is at a rate, also over another connection."""
    with Coordinator(limits=("bytes_per_second=50000", "result_bytes=300000")) as coordinator:
        good = join_raw(coordinator)
        task = coordinator.task([], function="sample.primes")
        coordinator.add(task, ["7"] * 30, max_result_bytes=260_000)

        def answers(node, count):
            for _ in range(count):
                _, ticket, control, _ = node.hear_frame("ticket")
                node.last = plain(frame("result", ticket, {"token": control["token"]}, b"x" * 250_000))
                node.send(node.last)
                check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a result")

        answers(good, 20)
        check(coordinator.refused("byte_rate") == 0, "whoever sends what it is asked for is never too fast")

        def again_and_again(node, message, what):
            before, count = coordinator.refused("byte_rate"), 0
            try:
                while count < 100:
                    node.send(message)
                    node.hear_frame("verdict", "echo")
                    count += 1
            except (EOFError, OSError):
                pass
            counted(coordinator, "byte_rate", before, what)
            return count

        count = again_and_again(good, good.last, "the same result again and again")
        check(2 <= count <= 4, "no more than the burst", count)

        def come_back(node):
            again = Socket(coordinator)
            again.upgrade()
            again.say("hello", control={"functions": ["sample.primes"], **node.identity})
            check(again.hear_frame("welcome")[2]["node"] == node.identity["node"], "it comes back")
            again.identity = node.identity
            return again

        back = come_back(good)
        back.say("echo")
        check(back.hear_frame("echo"), "a small message passes")
        back.send(good.last)
        check(back.close_code() == 1013, "another connection has no more")

        def goes_on():
            back = come_back(good)
            back.send(good.last)
            try:
                return back.hear_frame("verdict")
            except EOFError:
                return None

        check(until(goes_on, 40, 6), "later it goes on")
        taker = join_raw(coordinator, slots=0)
        taker.say("ready", control={"slots": 1})
        _, ticket, control, _ = taker.hear_frame("ticket")
        old = plain(frame("result", ticket, {"token": control["token"]}, b"x" * 250_000))
        taker.send(old)
        count, before = 0, coordinator.refused("byte_rate")
        try:
            while count < 50:
                _, ticket, control, _ = taker.hear_frame("ticket")
                taker.say("give_back", ticket, {"token": control["token"]})
                taker.send(old)
                count += 1
        except (EOFError, OSError):
            pass
        counted(coordinator, "byte_rate", before, "tickets that are given back pay for nothing")
        check(count <= 6, "and bring no bytes", count)
        other = join_raw(coordinator, slots=0)
        count = again_and_again(other, plain(frame("echo", payload=b"x" * 60000)), "large echoes")
        check(8 <= count <= 14, "a new node has ten seconds of its rate", count)

        holder = join_raw(coordinator, slots=3)
        leases = [holder.hear_frame("ticket") for _ in range(3)]
        coordinator.kill()
        coordinator.begin()
        back = come_back(holder)
        for _, ticket, control, _ in leases:
            back.send(plain(frame("result", ticket, {"token": control["token"]}, b"x" * 250_000)))
            check(back.hear_frame("verdict")[2]["verdict"] == "accepted", "what was kept over a restart is taken")


def input_of_all():
    """Many that begin large results and do not end them: together they are over the limit, and others go on."""
    with Coordinator(limits=("input_bytes_of_all=3000000",)) as coordinator:
        task = coordinator.task([], function="sample.primes", max_attempts=100)
        coordinator.add(task, ["7"] * 8, max_result_bytes=1_000_000)
        good, nodes = join_raw(coordinator, slots=0), []
        for _ in range(8):
            node = join_raw(coordinator)
            _, ticket, control, _ = node.hear_frame("ticket")
            node.whole = frame("result", ticket, {"token": control["token"]}, b"x" * 900_000)
            nodes.append(node)
        for node in nodes:
            try:
                node.send(plain(node.whole[:800_000], fin=False))
            except OSError:  # closed before all was sent
                pass
            good.send(good.message(frame("echo", payload=b"still")))
            check(good.hear_frame("echo")[3] == b"still", "others go on")
        counted(coordinator, "input_bytes_of_all", 0, "input of all that is not whole")
        codes = []
        for node in nodes:
            try:
                node.send(plain(node.whole[800_000:], opcode=0))
                codes.append(node.hear_frame("verdict")[2]["verdict"])
            except (OSError, EOFError):
                codes.append("closed")
        check(set(codes) == {"accepted", "closed"}, "some are whole in the end, some had to go", codes)
        again = join_raw(coordinator)
        _, ticket, control, _ = again.hear_frame("ticket")
        again.send(plain(frame("result", ticket, {"token": control["token"]}, b"x" * 900_000)))
        check(again.hear_frame("verdict")[2]["verdict"] == "accepted", "then there is room again")


def input_of_all_that_drips():
    """Most of the room is taken by messages that hardly go on: they make way for one that comes at once; who just began
    another one is not judged by that before."""
    with Coordinator(limits=("input_bytes_of_all=3100000", "minimum_rate=1", "rate_seconds=2")) as coordinator:
        task = coordinator.task([], function="sample.primes", max_attempts=100)
        coordinator.add(task, ["7"] * 6, max_result_bytes=1_000_000)

        def take_ticket(node):
            _, ticket, control, _ = node.hear_frame("ticket")
            node.whole = frame("result", ticket, {"token": control["token"]}, b"x" * 900_000)
            return node

        *slow, young, good = [take_ticket(join_raw(coordinator)) for _ in range(5)]
        for node in (*slow, young):
            node.send(plain(node.whole[:700_000], fin=False))
        for _ in range(50):  # until that is what has come of them lately
            time.sleep(0.1)
            for node in slow:
                node.send(plain(b"x" * 200, opcode=0, fin=False))
            young.send(plain(b"x" * 150, opcode=0, fin=False))
        young.send(plain(young.whole[707_500:], opcode=0))
        check(young.hear_frame("verdict")[2]["verdict"] == "accepted", "a whole one")
        take_ticket(young).send(plain(young.whole[:700_000], fin=False))
        good.send(plain(good.whole))
        check(good.hear_frame("verdict")[2]["verdict"] == "accepted", "what comes at once is taken")
        counted(coordinator, "input_bytes_of_all", 0, "what dripped")
        gone = sum(node.closed(0.2) is not None for node in slow)
        check(gone == 1, "no more of them went than had to", gone)
        young.send(plain(young.whole[700_000:], opcode=0))
        check(young.hear_frame("verdict")[2]["verdict"] == "accepted", "the young one stays")


def pages_that_are_not_read():
    """Who asks for large pages and takes nothing leaves room for the others, or is the first to go."""
    folder = pathlib.Path("large")
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>page")
    (folder / "large.wasm").write_bytes(bytes(8_000_000))

    def asks(coordinator, count):
        peers = []
        for _ in range(count):
            peer = Socket(coordinator)
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.send(b"GET /large.wasm HTTP/1.1\r\nHost: localhost\r\n\r\n")
            peers.append((peer.answer()[0], peer))
        return peers

    patient = ("rate_seconds=1000", "output_bytes_of_all=1000000")
    with Coordinator("--web", folder, limits=patient) as coordinator:
        peers = asks(coordinator, 12)
        check({status for status, _ in peers} == {200}, "all of them are served", peers)
        check(coordinator.request("GET", "/healthz")[0] == 200, "there is room for others")
        check(coordinator.refused("output_bytes_of_all") == 0, "and nobody had to go")
        peers += asks(coordinator, 12)
        check(until(lambda: coordinator.request("GET", "/healthz")[0] == 200, 20), "with more of them, those go")
        counted(coordinator, "output_bytes_of_all", 0, "pages that are not read")
        status, _, got = coordinator.request("GET", "/large.wasm")
        check(status == 200 and got == bytes(8_000_000), "who reads gets all of it", status)
        for _, peer in peers:
            peer.close()


def requests_of_a_proxy():
    """One connection of a proxy serves many clients, each request with no more than a place for its time."""
    with Coordinator("--trust-proxy", "--host", "::ffff:127.0.0.1",
                     limits=("sockets_per_address=2", "connections_per_second=0.001")) as coordinator:
        def ask(connection, client):
            connection.request("GET", "/healthz", headers={"X-Forwarded-For": client})
            answer = connection.getresponse()
            answer.read()
            return answer.status

        proxies = [http.client.HTTPConnection("127.0.0.1", coordinator.port, timeout=30) for _ in range(5)]
        for i in range(60):
            for proxy in proxies:
                status = ask(proxy, f"198.51.100.{i % 3}")
                check(status == 200, "requests are no connections, and idle ones of a proxy keep no place", f"{i} {status}")
        check(ask(proxies[0], "::ffff:198.51.100.1") == 200, "an address is the same in both its spellings")
        check(coordinator.refused("forwarded") == 0, "none was refused")
        for proxy in proxies:
            proxy.close()


def behind_a_proxy():
    """Clients are told apart by the address that the proxy saw, not by what they say themselves."""
    with Coordinator("--trust-proxy", limits=("sockets_per_address=2",), pages=True) as coordinator:
        own = f"http://127.0.0.1:{coordinator.port}"

        def page(client):
            peer = Socket(coordinator)
            status = peer.upgrade(Origin=own, Authorization=None, X_Forwarded_For=client)
            if status == 101:
                peer.say("hello", control={"functions": ["sample.primes"]})
                peer.hear_frame("welcome")
            return status, peer

        task = coordinator.task(["7"], function="sample.primes", verification="quorum", quorum=2)
        status, first = page("198.51.100.7")
        check(status == 101, "a client", status)
        status, second = page("192.0.2.1, 198.51.100.7")
        check(status == 101, "the same again", status)
        for forged in ("198.51.100.7", "203.0.113.5,198.51.100.7", "nobody"):
            before = coordinator.refused("forwarded")
            check(page(forged)[0] == 503, f"one too many: {forged}")
            counted(coordinator, "forwarded", before, forged)
        check(coordinator.refused("sockets_per_address") == 2, "for its connections", coordinator.refused("sockets_per_address"))
        status, other = page("2001:db8::1")
        check(status == 101, "another client", status)

        def vote(node):
            node.say("ready", control={"slots": 1})
            _, ticket, control, _ = node.hear_frame("ticket")
            node.say("result", ticket, {"token": control["token"]}, b"true")
            return node.hear_frame("verdict")[2]["verdict"]

        check(vote(first) == "pending", "a voice")
        second.say("ready", control={"slots": 1})
        time.sleep(1.5)  # a tick and more
        second.say("echo")
        check(second.hear_frame("ticket", "echo")[0] == "echo", "none for a second node of that client")
        check(vote(other) == "accepted", "another's voice counts")
        check(coordinator.api("GET", f"/tasks/{task}")["done"] == 1, "two agree")
    with Coordinator(limits=("sockets_per_address=5",)) as coordinator:
        peers = [Socket(coordinator) for _ in range(4)]
        for peer in peers:
            peer.upgrade(X_Forwarded_For="198.51.100.7")
        check(coordinator.request("GET", "/healthz", headers={"X-Forwarded-For": "198.51.100.8"})[0] == 200, "the fifth")

        def fifth():  # refused until the place of the request above is free
            peers.append(Socket(coordinator))
            try:
                return peers[-1].upgrade(X_Forwarded_For="198.51.100.9") == 101
            except ConnectionError:
                return False

        check(until(fifth, 20), "its place is free again")
        sixth = Socket(coordinator)
        check(sixth.closed(10) is not None, "without --trust-proxy the header is nothing")


if __name__ == "__main__":
    main(floods, bytes_of_a_node, links, who_does_not_read, output_of_all, input_of_all, input_of_all_that_drips, pages_that_are_not_read,
         requests_of_a_proxy, behind_a_proxy)
