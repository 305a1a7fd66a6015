#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client sends its token only after the coordinator has proven that it knows the token. It never sends the token unencrypted."""
import http.client
import os
import pathlib
import socket
import subprocess
import threading

import pool
from pool import Coordinator, end, has_joined, js_node, native_node, node_js_is_there, until
from support import KAISEKI, LENET, check, main, refuses

TOKEN = "1" * 48


class Thief:
    """Another program on the port. It keeps the received bytes, and answers each request with answer(request)."""

    def __init__(self, answer, address="127.0.0.1", port=0):
        self.answer, self.heard = answer, b""
        self.listener = socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self.port}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        with peer:
            try:
                while part := peer.recv(65536):
                    self.heard += part
                    body = self.answer(part)
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            except (OSError, http.client.HTTPException):
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def clients_of(thief, home, tokens):
    """Each client that sends tokens, as a command and its arguments. `home` has the tokens, `tokens` their folder."""
    train = [KAISEKI, "train", LENET, "--data", "digits:64:1", "--epochs", "1", "--pool"]
    clients = {"join": [KAISEKI, "join", thief.url, "--gflops", "1"],
               "join with a token file": [KAISEKI, "join", thief.url, "--gflops", "1", "--token-file", tokens / "node.token"],
               "train": [*train, thief.url],
               "train with a token file": [*train, thief.url, "--pool-token-file", tokens / "author.token"],
               "train that serves": [*train, "serve", "--pool-port", thief.port]}
    if node_js_is_there():
        clients["a JavaScript node"] = ["node", pool.NODE_JS, thief.url, "--token-file", tokens / "node.token"]
    return {name: [str(part) for part in command] for name, command in clients.items()}


def keep_their_token(thief, home, tokens, but=()):
    for name, command in clients_of(thief, home, tokens).items():
        if name in but:
            continue
        thief.heard = b""
        log = open("client.log", "w+")
        client = subprocess.Popen(command, stdout=log, stderr=log, env={
            **os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_STATE_DIR": os.path.abspath(home)})
        check(until(lambda: thief.heard or client.poll() is not None, 60) and thief.heard, f"{name} asks", pathlib.Path("client.log").read_text())
        until(lambda: b"Bearer" in thief.heard or client.poll() is not None, 3)
        check(b"Bearer" not in thief.heard, f"{name} keeps its token", thief.heard[:500])
        if client.poll() is None:
            end(client, joined=False)


def other_programs():
    home = pathlib.Path("home")
    home.mkdir()
    for name in ("node", "author", "viewer"):
        (home / f"{name}.token").write_text(TOKEN)
        (home / f"{name}.token").chmod(0o600)
    for answer in (b"<!doctype html>", b"{}", b'{"proofs": []}', b'{"proofs": ["' + b"0" * 64 + b'"]}'):
        with Thief(lambda _, answer=answer: answer) as thief:
            keep_their_token(thief, home, home)


def a_program_that_asks_the_coordinator():
    """Another port: the proof names the port of the coordinator."""
    with Coordinator() as coordinator:
        def pass_on(request):
            return coordinator.request("GET", request.split()[1].decode(), token=False)[2]

        with Thief(pass_on) as thief:
            keep_their_token(thief, coordinator.state, coordinator.state)
        node = native_node(coordinator)
        check(has_joined(node) and node.poll() is None, "the coordinator itself gets the token", pathlib.Path(node.log).read_text())
        end(node)
        if node_js_is_there():
            node = js_node(coordinator)
            check(has_joined(node) and node.poll() is None, "also of a JavaScript node", pathlib.Path(node.log).read_text())
            end(node)


def keeps_its_token_at_localhost(name, command, thief, coordinator):
    def is_there():
        return any(node["connected"] for node in coordinator.api("GET", "/nodes"))

    thief.heard = b""
    log = open("client.log", "w+")
    client = subprocess.Popen(command, stdout=log, stderr=log, env={
        **os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_STATE_DIR": os.path.abspath(coordinator.state)})
    until(lambda: b"Bearer" in thief.heard or client.poll() is not None or is_there(), 30)
    check(b"Bearer" not in thief.heard, f"{name} keeps its token at localhost", thief.heard[:500])
    if client.poll() is None:
        end(client, joined=False)
    check(until(lambda: not is_there(), 30), f"{name} has left")


def a_program_on_another_address():
    """The coordinator's port on another address of this machine: the proof names the address of the coordinator."""
    with Coordinator() as coordinator:
        def pass_on(request):
            return coordinator.request("GET", request.split()[1].decode(), token=False)[2]

        there = 0
        for address in ("::1", "127.0.0.2"):
            try:
                thief = Thief(pass_on, address, coordinator.port)
            except OSError:  # this machine does not have the address
                continue
            there += 1
            with thief:
                keep_their_token(thief, coordinator.state, coordinator.state, but=["train that serves"])
                # `localhost` may be either address. The coordinator may get the token, the other program never.
                thief.url = f"http://localhost:{thief.port}"
                for name, command in clients_of(thief, coordinator.state, coordinator.state).items():
                    if "train" not in name:
                        keeps_its_token_at_localhost(name, command, thief, coordinator)
        check(there, "this machine has another loopback address")


def token_stays_on_this_machine():
    """A token goes to other machines over TLS only."""
    pathlib.Path("home").mkdir()
    pathlib.Path("home/node.token").write_text(TOKEN)
    pathlib.Path("home/node.token").chmod(0o600)
    refuses(["https"], "join", "http://192.0.2.1:9", "--token-file", "home/node.token", "--gflops", 1)
    if node_js_is_there():
        script = subprocess.run(["node", pool.NODE_JS, "http://192.0.2.1:9", "--token-file", "home/node.token"],
                                stderr=subprocess.PIPE, text=True, timeout=60)
        check(script.returncode == 1 and "expected https" in script.stderr, "a JavaScript node keeps it too", script.stderr)
    # The last address is not recognized as this machine's.
    for host, given in (("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)):
        with Thief(lambda _: b"{}") as thief:
            node = subprocess.Popen([KAISEKI, "join", f"http://{host}:{thief.port}", "--gflops", "1"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env={**os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_STATE_DIR": os.path.abspath("home")})
            check(until(lambda: thief.heard, 30), "it asks")
            check((b"/proof" in thief.heard) == given, f"a token for {host}: {given}", thief.heard)
            end(node, joined=False)


if __name__ == "__main__":
    main(other_programs, a_program_that_asks_the_coordinator, a_program_on_another_address, token_stays_on_this_machine)
