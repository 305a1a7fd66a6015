#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closed connections release all of their resources and places. The messages that they sent do not matter."""
import concurrent.futures
import pathlib
import resource
import socket
import struct
import time

from pool import Coordinator, Socket, frame, join_raw, until
from support import check, main

GAUGES = ("kaiseki_connections", "kaiseki_seats", "kaiseki_newcomers", "kaiseki_nodes", "kaiseki_tickets_held")
CLOSE_SECONDS = 5 + 1 + 2  # the deadline, the interval of its check, and a margin for a busy machine
RESET = struct.pack("ii", 1, 0)


def message(data, **how):
    return Socket.message(None, data, **how)


ECHO = frame("echo", payload=b"x" * 100)
CLOSE = message(struct.pack(">H", 1000), opcode=8)

# The bytes that a peer sends in one segment, and the code of the close frame that it gets.
ENDS = {
    "text and close": (message(b"hello", opcode=1) + CLOSE, 1003),
    "a reserved opcode and close": (message(ECHO, opcode=5) + CLOSE, 1002),
    "no mask and close": (message(ECHO, mask=False) + CLOSE, 1002),
    "a reserved bit and close": (message(ECHO, rsv=4) + CLOSE, 1002),
    "a long message and close": (message(b"x", length=10**9) + CLOSE, 1009),
    "a long payload and close": (message(frame("echo", payload_bytes=2**50)) + CLOSE, 1009),
    "no JSON and close": (message(frame("ready", control_bytes=3) + b"{x}") + CLOSE, 1002),
    "garbage and close": (message(b"\xff" * 100) + CLOSE, 1002),
    "a fragment and close": (message(ECHO[:40], fin=False) + CLOSE, 1000),
    "a continuation and close": (message(ECHO, opcode=0) + CLOSE, 1002),
    "a fragmented ping and close": (message(b"p", opcode=9, fin=False) + CLOSE, 1002),
    "a ping and close": (message(b"p", opcode=9) + CLOSE, 1000),
    "ten echoes and close": (10 * message(ECHO) + CLOSE, 1000),
    "close twice": (2 * CLOSE, 1000),
    "close and text": (CLOSE + message(b"hello", opcode=1), 1000),
    "close and 1 MB": (CLOSE + message(b"x" * 1000000), 1000),
    "text and 1 MB": (message(b"hello", opcode=1) + message(b"x" * 1000000), 1003),
    "half a header": (message(b"hello", opcode=1) + b"\x82", 1003),
    "close of one byte": (message(b"x", opcode=8), 1002),
    "close with a reason that is no UTF-8": (message(b"\x03\xe8\xff", opcode=8), 1002),
    "close 4999": (message(struct.pack(">H", 4999), opcode=8), 4999),
    "close without a code": (message(b"", opcode=8), 1000),
    **{f"close {code}": (message(struct.pack(">H", code), opcode=8), 1002) for code in (0, 999, 1005, 1006, 5000, 65535)},
}


def gauges(coordinator):
    metrics = coordinator.metrics()
    return {name: metrics.get(name) for name in GAUGES}


def stays(peer):
    """Keeps the socket open and stops reading."""


def ends_its_side(peer):
    peer.socket.shutdown(socket.SHUT_WR)


def resets(peer):
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    peer.close()


def nothing_stays(tls):
    with Coordinator(tls=tls) as coordinator:
        before = gauges(coordinator)
        task = coordinator.task(["7"] * 1000, function="sample.primes")

        def send(case):
            name, (data, code), then = case
            peer = join_raw(coordinator)
            peer.hear_frame("ticket")
            try:
                peer.send(data)
                if then != resets:
                    got = peer.close_code(20)
                    check(got == code, f"{name}: close code {code}", got)
                then(peer)
            except OSError:  # closed while it sends much data
                pass
            return peer

        cases = [(name, end, then) for name, end in ENDS.items() for then in (stays, ends_its_side, resets, Socket.close)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            peers = list(pool.map(send, cases))
        ended = until(lambda: gauges(coordinator) == before, CLOSE_SECONDS, 0.2)
        check(ended, "all is as before", f"{before} {gauges(coordinator)}")
        check(coordinator.api("GET", f"/tasks/{task}")["leased"] == 0, "no ticket stays leased", coordinator.api("GET", f"/tasks/{task}"))
        for peer in peers:
            peer.close()
        start = time.monotonic()
        check(coordinator.end() == 0 and time.monotonic() - start < 5, "the coordinator ends", time.monotonic() - start)


def nothing_stays_plain():
    nothing_stays(tls=False)


def nothing_stays_tls():
    nothing_stays(tls=True)


def before_the_upgrade():
    """Half a handshake, half a request and a wrong token are closed too."""
    for tls in (False, True):
        with Coordinator(tls=tls, limits=("handshake_seconds=2",)) as coordinator:
            before = gauges(coordinator)
            peers = []
            for data in (b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n"):
                peers.append(socket.create_connection(("127.0.0.1", coordinator.port)))
                peers[-1].sendall(data)
            for headers in ({"Authorization": "Bearer x"}, {"Sec_WebSocket_Key": "x"}, {"Host": "evil.example"}):
                peers.append(Socket(coordinator))
                peers[-1].upgrade(**headers)
            ended = until(lambda: gauges(coordinator) == before, CLOSE_SECONDS, 0.2)
            check(ended, "all is as before", f"{before} {gauges(coordinator)}")
            for peer in peers:
                peer.close()


def memory_stays():
    with Coordinator() as coordinator:
        def resident():
            return int(pathlib.Path(f"/proc/{coordinator.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()

        def violate(_):
            peer = Socket(coordinator)
            peer.upgrade()
            peer.send(ENDS["text and close"][0])
            peer.close()

        before = gauges(coordinator)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(violate, range(300)))
            memory = resident()
            list(pool.map(violate, range(3000)))
        ended = until(lambda: gauges(coordinator) == before, CLOSE_SECONDS, 0.2)
        check(ended, "3,000 connections leave nothing behind", f"{before} {gauges(coordinator)}")
        grown = resident() - memory
        check(grown < 1_000_000, "nor memory", grown)


def crowd(coordinator, addresses, each):
    """Opens pages from many networks, which join and then stay idle. Evicted pages are ignored."""
    peers = []
    for i in range(each):
        for j in range(addresses):
            try:
                peers.append(join_raw(coordinator, slots=0, source=f"127.{1 + j // 250}.{1 + j % 250}.1", page=True))
            except (OSError, EOFError):
                pass
    return peers


def works(node):
    _, ticket, control, payload = node.hear_frame("ticket")
    node.say("result", ticket, {"token": control["token"]}, b"true")
    return node.hear_frame("verdict")[2]["verdict"] == "accepted"


def a_crowd_keeps_nobody_out():
    """512 pages of 64 networks compete for 100 places. An author, a node with the token and a node that has worked are served."""
    with Coordinator(pages=True, limits=("sockets=100", "sockets_per_address=8")) as coordinator:
        task = coordinator.task(["7"] * 20, function="sample.primes", verification="none")
        worker, trusted = join_raw(coordinator, page=True, source="127.9.9.9"), join_raw(coordinator)
        check(works(worker) and works(trusted), "both nodes work")
        time.sleep(1.5)  # the coordinator checks which nodes are proven
        idle = join_raw(coordinator, slots=0, page=True, source="127.9.9.8")
        peers = crowd(coordinator, 64, 8)
        check(coordinator.refused("sockets") > 400, "newcomers make way", coordinator.refused("sockets"))
        # The request for the metrics itself occupies a place while it runs.
        check(gauges(coordinator)["kaiseki_seats"] >= 99, "all places are taken", gauges(coordinator))
        check(coordinator.api("GET", f"/tasks/{task}"), "an author gets through")
        check(works(worker) and works(trusted), "those that are known stayed")
        idle.say("echo")
        check(idle.hear_frame("echo"), "a lone newcomer of its network stayed, too")
        check(works(join_raw(coordinator, source="127.9.9.7")), "another node with the token joins")
        identity = worker.identity
        worker.close()
        again = join_raw(coordinator, page=True, source="127.9.9.9", **identity)
        time.sleep(1.5)  # the same
        peers += crowd(coordinator, 64, 4)
        check(works(again), "a node that has worked comes back and stays")
        for peer in peers:
            peer.close()
        check(until(lambda: gauges(coordinator)["kaiseki_seats"] <= 6, 10), "then the places are free", gauges(coordinator))


def one_address_and_one_network():
    with Coordinator(pages=True, limits=("sockets_per_address=8",)) as coordinator:
        peers = [join_raw(coordinator, slots=0, page=True) for _ in range(8)]
        check(coordinator.refused("sockets_per_address") >= 1, "the author gets the place of a newcomer")
        check(coordinator.request("GET", "/api/projects")[0] == 200, "and again")
        check(peers[0].closed(5) is not None, "the idlest one made way")
    with Coordinator(pages=True, limits=("sockets_per_address=2", "sockets_per_network=20")) as coordinator:
        other = join_raw(coordinator, slots=0, page=True, source="127.8.8.8")
        peers = [join_raw(coordinator, slots=0, page=True, source=f"127.7.7.{i + 1}") for i in range(30)]
        check(coordinator.refused("sockets_per_network") == 10, "a network has so many newcomers", coordinator.refused("sockets_per_network"))
        check(all(peer.closed(5) is not None for peer in peers[:10]), "its idlest ones made way")
        for peer in (*peers[10:], other):
            peer.say("echo")
            check(peer.hear_frame("echo"), "the others stayed")


def descriptors_run_out():
    """`sockets` exceeds the limit of file descriptors. The coordinator evicts new connections and still serves an author."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (160, hard))
    try:
        coordinator = Coordinator(pages=True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with coordinator:
        peers = crowd(coordinator, 64, 4)
        check(coordinator.request("GET", "/api/projects")[0] == 200, "an author gets through")
        coordinator.put_blob(b"x" * 100000)
        check(coordinator.refused("sockets") > 100, "newcomers made way", coordinator.refused("sockets"))
        for peer in peers:
            peer.close()


if __name__ == "__main__":
    main(nothing_stays_plain, nothing_stays_tls, before_the_upgrade, memory_stays, a_crowd_keeps_nobody_out, one_address_and_one_network,
         descriptors_run_out)
