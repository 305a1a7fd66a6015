#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that exceed their limits of messages, sockets, requests or output. Also tests how clients behind a proxy count.
"""
import http.client
import pathlib
import socket
import time

from pool import Coordinator, Socket, counted, frame, join_raw, plain, until
from support import check, main

FAST = ("messages_per_second=100000", "bytes_per_second=1e9")


def counted_at_last(coordinator, reason, before, what):
    """Like counted(), but waits. The coordinator may first refuse this address's requests for the metrics too."""
    def more():
        try:
            return coordinator.refused(reason) > before
        except OSError:
            return False

    check(until(more), f"{what}: counted as {reason}")


def floods():
    with Coordinator(limits=("messages_per_second=50", "output_bytes=1000000", "sockets_per_address=20",
                             "header_bytes=2000", "header_lines=20", "json_bytes=1000", "blob_bytes=1000")) as coordinator:
        node = join_raw(coordinator)
        start = time.monotonic()
        node.send(node.message(frame("echo", payload=b"x")) * 200)
        for _ in range(200):
            node.hear_frame("echo")
        check(time.monotonic() - start > 1.5, "messages above the rate wait", time.monotonic() - start)
        counted(coordinator, "message_rate", 0, "messages over their rate")
        node = join_raw(coordinator)
        node.send(node.message(b"p", opcode=9) * 19)
        node.say("echo")
        check(node.hear_frame("echo"), "a few pings are answered")
        node.send(node.message(b"p", opcode=9) * 10)
        check(node.close_code() == 1008, "endless pings close the connection")
        counted(coordinator, "ping_rate", 0, "pings without end")

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
        check(peer.answer()[0] == 400, "a request that is not HTTP is refused")

        before = coordinator.refused("sockets_per_address")
        peers = [Socket(coordinator) for _ in range(60)]
        check(until(lambda: any(peer.closed(0.01) is not None for peer in peers)), "some are closed")
        for peer in peers:
            peer.close()
        counted_at_last(coordinator, "sockets_per_address", before, "too many sockets of one address")


def tokens_beside_a_flood():
    """Above the rate of its address, a connection is served only if its first request has a token."""
    with Coordinator(limits=("sockets_per_address=50", "connections_per_second=0.001"), pages=True) as coordinator:
        for _ in range(100):
            Socket(coordinator).close()
        check(coordinator.request("GET", "/", token=False)[0] == 429, "a request without a token is refused")
        check(coordinator.request("GET", "/", headers={"Authorization": "Bearer wrong"})[0] == 429, "or with a wrong one")
        page = Socket(coordinator)
        check(page.upgrade(Origin=coordinator.url, Authorization=None) == 429, "so is a page")
        counted(coordinator, "connection_rate", 0, "too many sockets one after the other")
        flood = [Socket(coordinator) for _ in range(300)]
        for _ in range(20):
            flood += [Socket(coordinator) for _ in range(5)]
            check(coordinator.api("GET", "/projects") == [], "an author is answered")
        node = join_raw(coordinator)
        flood += [Socket(coordinator) for _ in range(100)]
        node.say("echo")
        check(node.hear_frame("echo"), "a node with the token joins and stays")
        for peer in flood:
            peer.close()


def pings_of_all():
    """Nodes without a token share a rate of pings and echoes. Those with one do not wait for it."""
    with Coordinator(pages=True, limits=("pings_of_all_per_second=100",)) as coordinator:
        node = join_raw(coordinator)
        for what, ask in (("pings", lambda one: one.message(b"p", opcode=9)), ("echoes", lambda one: one.message(frame("echo")))):
            pages = [join_raw(coordinator, slots=0, page=True) for _ in range(20)]
            before = coordinator.refused("ping_rate_of_all")
            start = time.monotonic()
            for page in pages:
                page.send(ask(page) * 15)
            node.say("echo")
            check(node.hear_frame("echo"), "a node with the token is answered")
            answered = time.monotonic() - start
            for page in pages:
                page.send(page.message(b"", opcode=8))
                page.close_code()
            ended = time.monotonic() - start
            check(ended > 1.5, f"300 {what} wait for their rate", ended)
            check(answered < ended / 2, f"it does not wait for 300 {what}", f"{answered} {ended}")
            counted(coordinator, "ping_rate_of_all", before, what)


def links():
    """Measuring a link needs the token for nodes. Its rate is limited like the rate of connections."""
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
        check(coordinator.refused("link_rate") == 0, "they are not measurements")
        check(ask(connection) == (200, 4194304), "a large measurement")
        got = [ask(connection, path="/link?bytes=1") for _ in range(1500)]
        check(got[:639] == [(200, 1)] * 639, "twenty measurements of 32 requests", got[:639])
        check(any(status == 429 for status, _ in got), "too many of one address", got)
        counted(coordinator, "link_rate", 0, "too many of one address")
        check(ask(connection, path="/healthz")[0] == 200, "its other requests are answered")
        check(ask(other)[0] == 200, "another address's requests are answered")
        check(until(lambda: ask(connection)[0] == 200, 10, 0.2), "later its own are answered")


def client_that_does_not_read():
    with Coordinator(limits=(*FAST, "output_bytes=300000")) as coordinator:
        node = join_raw(coordinator)
        node.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        node.socket.settimeout(1)
        big = node.message(frame("echo", payload=b"x" * 60000))
        try:
            for _ in range(400):
                node.send(big)
        except OSError:
            pass
        counted(coordinator, "output_bytes", 0, "output that is not read")
    with Coordinator(limits=(*FAST, "ping_seconds=0.5", "pong_seconds=2", "rate_seconds=4")) as coordinator:
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
                time.sleep(0.8)  # a slow peer
        except OSError:
            closed = True
        check(closed, "blocked output closes the connection even with pongs", time.monotonic() - start)
        counted(coordinator, "slow", before, "output that stands still")
        check(until(lambda: coordinator.metrics()["kaiseki_connections"] <= 1, 5), "its connection is closed",
              coordinator.metrics()["kaiseki_connections"])
        start = time.monotonic()
        check(coordinator.end() == 0 and time.monotonic() - start < 20, "the coordinator ends", time.monotonic() - start)


def total_output():
    """Many clients do not read, each within its own limit. Together they exceed the total limit, and clients that
    read continue.
    """
    with Coordinator(limits=(*FAST, "output_bytes_of_all=3000000")) as coordinator:
        good = join_raw(coordinator)
        big = plain(frame("echo", payload=b"x" * 60000))
        nodes = [join_raw(coordinator) for _ in range(6)]
        for node in nodes:
            node.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            node.socket.settimeout(1)
            try:
                for _ in range(150):
                    node.send(big)
            except OSError:
                pass
            good.send(good.message(frame("echo", payload=b"still")))
            check(good.hear_frame("echo")[3] == b"still", "a client that reads continues")
        check(until(lambda: coordinator.request("GET", "/metrics")[0] == 200, 30), "after they leave, the API answers")
        counted(coordinator, "output_bytes_of_all", 0, "output of all that is not read")
        check(coordinator.refused("output_bytes") == 0, "none exceeded its own limit", coordinator.refused("output_bytes"))


def bytes_of_a_node():
    """The first result of each ticket is free. The rest has a rate limit, also across connections."""
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
        check(coordinator.refused("byte_rate") == 0, "bytes that were requested are never too fast")

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
            check(again.hear_frame("welcome")[2]["node"] == node.identity["node"], "it returns")
            again.identity = node.identity
            return again

        back = come_back(good)
        back.say("echo")
        check(back.hear_frame("echo"), "a small message is accepted")
        back.send(good.last)
        check(back.close_code() == 1013, "another connection has no further allowance")

        def goes_on():
            back = come_back(good)
            back.send(good.last)
            try:
                return back.hear_frame("verdict")
            except EOFError:
                return None

        check(until(goes_on, 40, 6), "later it continues")
        taker = join_raw(coordinator, slots=0)
        taker.say("ready", control={"slots": 1})
        _, ticket, control, _ = taker.hear_frame("ticket")
        old = plain(frame("result", ticket, {"token": control["token"]}, b"x" * 250_000))
        taker.send(old)
        count, before = 0, coordinator.refused("byte_rate")
        try:
            while count < 50:
                taker.say("give_back", ticket, {"token": control["token"]})
                taker.send(old)
                taker.hear_frame("verdict")
                count += 1
        except (EOFError, OSError):
            pass
        counted(coordinator, "byte_rate", before, "tickets that are given back pay for nothing")
        check(count <= 6, "and transfer no bytes", count)
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
            check(back.hear_frame("verdict")[2]["verdict"] == "accepted", "results stored before a restart are accepted")


def total_input():
    """Many nodes start large results and do not finish them. Together they exceed the limit, and others continue."""
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
            check(good.hear_frame("echo")[3] == b"still", "others continue")
        counted(coordinator, "input_bytes_of_all", 0, "input of all that is not whole")
        codes = []
        for node in nodes:
            try:
                node.send(plain(node.whole[800_000:], opcode=0))
                codes.append(node.hear_frame("verdict")[2]["verdict"])
            except (OSError, EOFError):
                codes.append("closed")
        check(set(codes) == {"accepted", "closed"}, "some results complete, some are closed", codes)
        again = join_raw(coordinator)
        _, ticket, control, _ = again.hear_frame("ticket")
        again.send(plain(frame("result", ticket, {"token": control["token"]}, b"x" * 900_000)))
        check(again.hear_frame("verdict")[2]["verdict"] == "accepted", "then there is room again")


def total_input_of_slow_messages():
    """Slow messages use most of the room. They make way for a message that arrives at once. A node that has just
    started another message is not judged by its last one.
    """
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
        for _ in range(50):  # until the recent rate has this value
            time.sleep(0.1)  # slow peers
            for node in slow:
                node.send(plain(b"x" * 200, opcode=0, fin=False))
            young.send(plain(b"x" * 150, opcode=0, fin=False))
        young.send(plain(young.whole[707_500:], opcode=0))
        check(young.hear_frame("verdict")[2]["verdict"] == "accepted", "a whole result")
        take_ticket(young).send(plain(young.whole[:700_000], fin=False))
        good.send(plain(good.whole))
        check(good.hear_frame("verdict")[2]["verdict"] == "accepted", "a message that arrives at once is accepted")
        counted(coordinator, "input_bytes_of_all", 0, "what dripped")
        gone = sum(node.closed(0.2) is not None for node in slow)
        check(gone == 1, "only as many were closed as necessary", gone)
        young.send(plain(young.whole[700_000:], opcode=0))
        check(young.hear_frame("verdict")[2]["verdict"] == "accepted", "the new connection stays")


def unread_pages():
    """A client that requests large pages and does not read leaves room for others, or is closed first."""
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
        check(coordinator.refused("output_bytes_of_all") == 0, "no connection was closed")
        peers += asks(coordinator, 12)
        check(until(lambda: coordinator.request("GET", "/healthz")[0] == 200, 20), "with more clients, those are closed")
        counted(coordinator, "output_bytes_of_all", 0, "pages that are not read")
        status, _, got = coordinator.request("GET", "/large.wasm")
        check(status == 200 and got == bytes(8_000_000), "a client that reads gets all of it", status)
        for _, peer in peers:
            peer.close()


def requests_of_a_proxy():
    """One connection of a proxy serves many clients. Each request occupies a place only while it runs."""
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
                check(status == 200, "requests are not connections, and a proxy's idle ones occupy no place", f"{i} {status}")
        check(ask(proxies[0], "::ffff:198.51.100.1") == 200, "both spellings of an address are the same")
        check(coordinator.refused("forwarded") == 0, "none was refused")
        for proxy in proxies:
            proxy.close()


def behind_a_proxy():
    """Clients are told apart by the address that the proxy saw, not by their own headers."""
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
        check(status == 101, "the same client", status)
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

        check(vote(first) == "pending", "a vote")
        def has_no_ticket():
            second.say("echo")
            return second.hear_frame("ticket", "echo")[0] == "echo"

        def points():  # the coordinator adds one in some of its ticks
            return len(coordinator.api("GET", "/history?seconds=60")["time"])

        second.say("ready", control={"slots": 1})
        check(has_no_ticket(), "a second node of that client has no vote")
        before = points()
        check(until(lambda: points() > before), "a tick", before)
        check(has_no_ticket(), "nor after a tick")
        check(vote(other) == "accepted", "another client's vote counts")
        check(coordinator.api("GET", f"/tasks/{task}")["done"] == 1, "two votes agree")
    with Coordinator(limits=("sockets_per_address=5",)) as coordinator:
        peers = [Socket(coordinator) for _ in range(4)]
        for peer in peers:
            peer.upgrade(X_Forwarded_For="198.51.100.7")
        check(coordinator.request("GET", "/healthz", headers={"X-Forwarded-For": "198.51.100.8"})[0] == 200, "the fifth is served")

        def fifth():  # refused until the place of the request above is free
            peers.append(Socket(coordinator))
            try:
                return peers[-1].upgrade(X_Forwarded_For="198.51.100.9") == 101
            except ConnectionError:
                return False

        check(until(fifth, 20), "its place is free again")
        sixth = Socket(coordinator)
        check(sixth.closed(10) is not None, "without --trust-proxy the header is ignored")


if __name__ == "__main__":
    main(floods, tokens_beside_a_flood, pings_of_all, bytes_of_a_node, links, client_that_does_not_read, total_output, total_input,
         total_input_of_slow_messages, unread_pages, requests_of_a_proxy, behind_a_proxy, together=True)
