#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One test for each of the five security holes of Sashimi, the pool of the MILJS paper. Any client could answer any
ticket. Anybody could send code to every client. Clients evaluated the code of tasks in their page. Texts of clients
became HTML. There was a default password. web/e2e (console.test.js, volunteer.test.js) tests the browser's part.
"""
import base64
import hashlib
import pathlib
import re
import socket
import subprocess
import threading

from pool import NODE_JS, Coordinator, Socket, counted, end, frame, join_raw, node_js_is_there, until
from support import KAISEKI, ROOT, check, main

SOURCES = [file for folder in ("pool", "src", "samples") for file in (ROOT / "web" / folder).rglob("*")
           if file.suffix in (".js", ".ts", ".tsx")]


def any_client_answers_any_ticket():
    """Sashimi ran UPDATE ... WHERE id = ? AND status = "calculating". In Kaiseki a result counts only with the lease's
    token, from the node that has the lease.
    """
    with Coordinator() as coordinator:
        task = coordinator.task(["7", "8"], function="sample.primes")
        honest = join_raw(coordinator)
        _, ticket, control, payload = honest.hear_frame("ticket")
        thief = join_raw(coordinator)
        _, own, own_control, _ = thief.hear_frame("ticket")
        for what, token in (("no token", ""), ("any token", own_control["token"][::-1]), ("the other's", control["token"])):
            before = coordinator.refused("result")
            thief.say("result", ticket, {"token": token}, b"wrong")
            check(thief.hear_frame("verdict")[2]["verdict"] == "refused", f"another node's ticket with {what}")
            counted(coordinator, "result", before, what)
        honest.say("result", ticket, {"token": control["token"]}, b"right")
        check(honest.hear_frame("verdict")[2]["verdict"] == "accepted", "the lease's holder is accepted")
        thief.say("give_back", own, {"token": own_control["token"]})
        lines = coordinator.request("GET", f"/api/tasks/{task}/results")[2].decode()
        check('"right"' in lines and "wrong" not in lines, "only that result counts", lines)


class Impostor(threading.Thread):
    """A coordinator that welcomes a node and sends it an unknown frame."""

    def __init__(self, unknown):
        super().__init__(daemon=True)
        self.unknown, self.listener = unknown, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self):
        while True:
            peer = self.listener.accept()[0]
            head = peer.recv(65536).decode()
            if not head.startswith("GET /node"):
                peer.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                peer.close()
                continue
            key = re.search(r"sec-websocket-key: *(\S+)", head, re.I).group(1)
            digest = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
            peer.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         f"Sec-WebSocket-Accept: {digest}\r\n\r\n".encode())
            peer.recv(65536)  # its hello
            for message in (frame("welcome", control={"node": "n", "key": "k"}), self.unknown):
                peer.sendall(bytes([0x82, len(message)]) + message)
            self.peer = peer  # keeps the connection open


def anybody_runs_code_on_every_client():
    """Sashimi had POST /management/run_code, open to all. Kaiseki has no such path, and no frame carries code."""
    with Coordinator() as coordinator:
        node = join_raw(coordinator)
        for method in ("GET", "POST", "PUT"):
            for path in ("/management/run_code", "/management/kill_project", "/api/management/run_code", "/api/run_code"):
                for token in (False, True):
                    status = coordinator.request(method, path, '{"code_to_run": "1"}' if method != "GET" else None, token=token)[0]
                    check(status in (401, 404, 405, 413) and (status != 401 or not token), f"{method} {path}, token: {token}", status)
        node.say("echo")
        check(node.hear_frame()[0] == "echo", "no node receives anything")
    code = frame("echo", payload=b"import('node:fs').then((fs) => fs.writeFileSync('ran', ''))")
    nodes = [[KAISEKI, "join", "--device", "cpu", "--gflops", "1"]] + [["node", NODE_JS]] * node_js_is_there()
    for i, command in enumerate(nodes):
        impostor = Impostor(code[:5] + bytes([250]) + code[6:])
        impostor.start()
        log = pathlib.Path(f"node-{i}.log")
        process = subprocess.Popen([*command, impostor.url], stdout=log.open("w"), stderr=subprocess.STDOUT)
        process.log = log
        check(until(lambda: "bad_frame" in log.read_text(), 60), "a frame of an unknown type is refused", log.read_text())
        end(process)
        check(not pathlib.Path("ran").exists(), "none of it runs")


def clients_evaluate_code():
    """Sashimi's eval() ran in the page with all of its rights. In Kaiseki only modules are code. A module is named by its
    hash and runs in a worker. failing_modules() of pool_samples_test.py tests what a module may try there.
    """
    found = [(file.name, line) for file in SOURCES for line in file.read_text().splitlines()
             if re.search(r"\beval\(|\bnew Function\b|setTimeout\(\s*['\"`]|(?<!wasm-)unsafe-eval", line)]
    check(len(SOURCES) > 20 and not found, "no code from texts", found)
    with Coordinator() as coordinator:
        policy = coordinator.request("GET", "/", token=False)[1]["Content-Security-Policy"]
        check("script-src 'self' 'wasm-unsafe-eval'; " in policy, "the browser's policy refuses it too", policy)
        project = coordinator.api("POST", "/projects", {"name": "p"})["project"]
        code = coordinator.request("POST", f"/api/projects/{project}/tasks", '{"name": "t", "module": "alert(1)"}')
        check(code[0] == 422, "a module is a hash, not a text", code)
        blob = coordinator.put_blob(b"export const calculate = () => 'as it was put';")
        for name in (blob, "0" * 64):
            status = coordinator.request("PUT", f"/blobs/{name}", b"export const calculate = () => 'other';")[0]
            got = coordinator.request("GET", f"/blobs/{name}", token=False)[2]
            check(b"other" not in got and (status == 422 or name == blob), "the bytes of a module cannot be changed", (status, got))


def texts_of_clients_become_html():
    """Sashimi wrote log lines by innerHTML. In Kaiseki texts stay text without control characters. No answer with such a
    text is a page for a browser.
    """
    found = [(file.name, line) for file in SOURCES for line in file.read_text().splitlines()
             if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment", line)]
    check(not found, "no HTML from texts", found)
    with Coordinator("--log", "events.log") as coordinator:
        text = "<img src=x onerror=alert(1)>\x1b[2J"
        node = Socket(coordinator)
        node.upgrade()
        node.say("hello", control={"name": text, "device": text, "functions": ["sample.primes"], "threads": 1})
        node.hear_frame("welcome")
        node.say("ready", control={"slots": 1})
        task = coordinator.task(["7"], function="sample.primes", max_attempts=1)
        _, ticket, control, _ = node.hear_frame("ticket")
        node.say("give_back", ticket, {"token": control["token"], "error": text})
        check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["dead"] == 1, 10), "its error is reported")
        for path in ("/api/nodes", f"/api/tasks/{task}", f"/api/tasks/{task}/errors", "/pool"):
            status, headers, body = coordinator.request("GET", path)
            check(status == 200 and headers["Content-Type"].startswith("application/json") and
                  headers.get("X-Content-Type-Options") == "nosniff", f"{path} is not a page", headers)
            check(b"\x1b" not in body and b"u001b" not in body, f"{path}: no control characters", body)
        policy = coordinator.request("GET", "/", token=False)[1]["Content-Security-Policy"]
        check("require-trusted-types-for 'script'" in policy, "the browser refuses HTML from texts", policy)
    log = pathlib.Path("events.log").read_text()
    check("\x1b" not in log, "the log has none either", log)


def a_default_password():
    """Sashimi had the default login sashimi/password. Kaiseki makes tokens at its first start and accepts nothing else."""
    states = []
    for name in ("one", "two"):
        with Coordinator(state=name) as coordinator:
            states.append([(coordinator.state / f"{who}.token").read_text() for who in ("author", "viewer", "node")])
            for user in ("sashimi:password", "admin:admin", ":", f"author:{coordinator.author_token}"):
                login = "Basic " + base64.b64encode(user.encode()).decode()
                for path in ("/api/projects", "/metrics"):
                    check(coordinator.request("GET", path, headers={"Authorization": login})[0] == 401, f"{user} at {path}")
            for token in ("", "password", "sashimi", coordinator.node_token):
                headers = {"Authorization": f"Bearer {token}"}
                check(coordinator.request("GET", "/api/projects", headers=headers)[0] == 401, f"the token {token[:8]}")
    tokens = [token for state in states for token in state]
    check(len(set(tokens)) == 6 and all(len(token.strip()) == 48 for token in tokens), "each coordinator has its own")


if __name__ == "__main__":
    main(any_client_answers_any_ticket, anybody_runs_code_on_every_client, clients_evaluate_code, texts_of_clients_become_html,
         a_default_password)
