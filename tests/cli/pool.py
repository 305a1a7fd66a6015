# SPDX-License-Identifier: MIT
"""A coordinator for tests, its API, and a raw WebSocket of a node, which can send any bytes."""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import subprocess
import time

from support import KAISEKI, ROOT, check, skip, until

TYPES = ["hello", "welcome", "ready", "ticket", "result", "verdict", "give_back", "drain", "echo", "error", "cancel"]
NODE_JS = ROOT / "web" / "pool" / "join.js"


def make_certificate():
    """cert.pem and key.pem for 127.0.0.1, as options of kaiseki serve."""
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                           "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1",
                           "-addext", "subjectAltName=IP:127.0.0.1"], capture_output=True, text=True)
    check(made.returncode == 0, "a certificate", made.stderr)
    return "--tls-cert", "cert.pem", "--tls-key", "key.pem"


class Coordinator:
    """kaiseki serve on its own port and in its own folder."""

    program = [KAISEKI]

    def __init__(self, *arguments, state="state", limits=(), pages=False, tls=False):
        self.state, self.arguments = pathlib.Path(state), [*map(str, arguments)]
        self.tls = None
        if tls:
            self.arguments += make_certificate()
            self.tls = ssl.create_default_context(cafile="cert.pem")
        if pages:
            pathlib.Path("pages").mkdir(exist_ok=True)
            pathlib.Path("pages", "index.html").write_text("<!doctype html>page")
            self.arguments += ["--web", "pages"]
        for limit in ("sockets_per_address=1000", "connections_per_second=1000000", "drain_seconds=0.2", *limits):
            self.arguments += ["--limit", limit]
        self.port = 0
        self.begin()

    def begin(self):
        log = (self.state.parent / f"{self.state.name}.log").open("a")
        self.process = subprocess.Popen(
            [*self.program, "serve", "--port", str(self.port), "--state", str(self.state), *self.arguments],
            stdout=subprocess.PIPE, stderr=log, text=True)
        self.first = [self.process.stdout.readline()]
        self.url = self.first[0].split()[-1] if self.first[0] else ""
        self.port = int(self.url.rpartition(":")[2] or 0)
        if not self.url:
            raise RuntimeError("no coordinator: " + (self.state.parent / f"{self.state.name}.log").read_text())
        self.first += [self.process.stdout.readline() for _ in range(2)]
        self.author_token = (self.state / "author.token").read_text().strip()
        self.node_token = (self.state / "node.token").read_text().strip()

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """Stops it as an operator does. Returns its exit status."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()

    def request(self, method, path, body=None, headers=None, token=True):
        """Returns status, headers and body."""
        if self.tls:
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.tls)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(headers or {})
        if token:
            headers.setdefault("Authorization", f"Bearer {self.author_token}")
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), data

    def api(self, method, path, value=None, status=None):
        code, _, data = self.request(method, f"/api{path}", json.dumps(value) if value is not None else None)
        check(code in (status or (200, 201)) if not isinstance(status, int) else code == status,
              f"{method} /api{path}", f"{code} {data[:300]}")
        return json.loads(data) if data else None

    def put_blob(self, data):
        name = hashlib.sha256(data).hexdigest()
        status, _, answer = self.request("PUT", f"/blobs/{name}", data)
        check(status in (200, 201), "a blob is stored", f"{status} {answer}")
        return name

    def task(self, inputs, **spec):
        """Makes a project with one task. Returns the task's id."""
        project = self.api("POST", "/projects", {"name": "test"})["project"]
        task = self.api("POST", f"/projects/{project}/tasks", spec)["task"]
        self.add(task, inputs)
        return task

    def add(self, task, inputs, **ticket):
        for at in range(0, len(inputs), 500):
            tickets = [{"input": text, **ticket} for text in inputs[at:at + 500]]
            self.api("POST", f"/tasks/{task}/tickets", {"tickets": tickets})

    def results(self, task, seconds=120):
        """Waits until no ticket is open. Returns all results by ticket."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        connection.request("GET", f"/api/tasks/{task}/results?follow=1", headers={"Authorization": f"Bearer {self.author_token}"})
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return [json.loads(line) for line in lines if line]

    def metrics(self):
        text = self.request("GET", "/metrics")[2].decode()
        return {name: float(value) for name, value in re.findall(r"^(\S+) (\S+)$", text, re.M)}

    def refused(self, reason):
        return self.metrics()[f'kaiseki_refused_total{{reason="{reason}"}}']


def frame(kind, ticket=0, control=None, payload=b"", **wrong):
    text = json.dumps(control).encode() if control else b""
    header = struct.pack("<4sBBHQQII", b"KAIS", 1, TYPES.index(kind) + 1, 0, ticket,
                         wrong.get("payload_bytes", len(payload)), wrong.get("control_bytes", len(text)), 0)
    return header + text + payload


class Socket:
    """A raw connection."""

    def __init__(self, coordinator, source="127.0.0.1"):
        self.coordinator = coordinator
        self.socket = socket.create_connection(("127.0.0.1", coordinator.port), timeout=30, source_address=(source, 0))
        if getattr(coordinator, "tls", None):
            self.socket = coordinator.tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.left = b""

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read(self, count):
        while len(self.left) < count:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError
            self.left += part
        data, self.left = self.left[:count], self.left[count:]
        return data

    def closed(self, seconds=30):
        """Returns the seconds until the other side closed, or None if it did not."""
        start = time.monotonic()
        self.socket.settimeout(seconds)
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        except socket.timeout:
            return None
        return time.monotonic() - start

    def answer(self):
        """Returns status and header lines of an HTTP response without a body."""
        while b"\r\n\r\n" not in self.left:
            part = self.socket.recv(65536)
            if not part:
                break
            self.left += part
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, head.decode()

    def upgrade(self, path="/node", **headers):
        """Requests a WebSocket with the node's token, unless the headers have another. Returns the status."""
        lines = {"Host": f"127.0.0.1:{self.coordinator.port}", "Connection": "Upgrade", "Upgrade": "websocket",
                 "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                 "Authorization": f"Bearer {self.coordinator.node_token}"}
        lines.update({name.replace("_", "-"): value for name, value in headers.items()})
        self.key = lines["Sec-WebSocket-Key"]
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        self.send(f"GET {path} HTTP/1.1\r\n{text}\r\n".encode())
        status, head = self.answer()
        if status == 101:
            digest = hashlib.sha1(self.key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
            check(base64.b64encode(digest).decode() in head, "the key's answer", head)
        return status

    def message(self, data, opcode=2, fin=True, mask=True, rsv=0, length=None):
        size = len(data) if length is None else length
        head = bytes([(fin << 7) | rsv << 4 | opcode])
        top = 0x80 if mask else 0
        if size < 126:
            head += bytes([top | size])
        elif size < 65536:
            head += bytes([top | 126]) + struct.pack(">H", size)
        else:
            head += bytes([top | 127]) + struct.pack(">Q", size)
        key = os.urandom(4) if mask else b""
        body = bytes(b ^ key[i % 4] for i, b in enumerate(data)) if mask else data
        return head + key + body

    def say(self, kind, ticket=0, control=None, payload=b"", **wrong):
        self.send(self.message(frame(kind, ticket, control, payload, **wrong)))

    def hear(self):
        """Returns the next message: opcode and bytes."""
        first, second = self.read(2)
        size = second & 127
        if size == 126:
            size = struct.unpack(">H", self.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.read(8))[0]
        return first & 15, self.read(size)

    def hear_frame(self, *kinds):
        """Returns the next frame of these kinds: (kind, ticket, control, payload). Answers pings."""
        while True:
            opcode, data = self.hear()
            if opcode == 9:
                self.send(self.message(data, opcode=10))
            if opcode == 8:
                raise EOFError(f"closed: {data}")
            if opcode != 2:
                continue
            _, _, kind, _, ticket, payload, control, _ = struct.unpack("<4sBBHQQII", data[:32])
            if not kinds or TYPES[kind - 1] in kinds:
                text = data[32:32 + control]
                return TYPES[kind - 1], ticket, json.loads(text) if text else {}, data[32 + control:]

    def close_code(self, seconds=30):
        """Returns the code of the next close frame, 0 if the connection ends without one, None if nothing comes."""
        self.socket.settimeout(seconds)
        try:
            while True:
                opcode, data = self.hear()
                if opcode == 8:
                    return struct.unpack(">H", data[:2])[0] if data else 1005
        except (EOFError, ConnectionError):
            return 0
        except socket.timeout:
            return None


def join_raw(coordinator, slots=1, functions=("sample.primes",), source="127.0.0.1", page=False, **hello):
    """Opens a raw node that has been welcomed. A page has no token."""
    node = Socket(coordinator, source)
    origin = {"Origin": coordinator.url, "Authorization": None} if page else {}
    check(node.upgrade(**origin) == 101, "a WebSocket")
    node.say("hello", control={"name": "raw", "functions": list(functions), "threads": max(1, slots), **hello})
    node.identity = node.hear_frame("welcome")[2]
    if slots:
        node.say("ready", control={"slots": slots})
    return node


def plain(data, opcode=2, fin=True):
    """Encodes a message quickly: its mask is zero."""
    length = struct.pack(">BH", 126, len(data)) if len(data) < 65536 else struct.pack(">BQ", 127, len(data))
    return bytes([(fin << 7) | opcode, 0x80 | length[0]]) + length[1:] + b"\0\0\0\0" + data


def counted(coordinator, reason, before, what):
    check(until(lambda: coordinator.refused(reason) > before, 5), f"{what}: counted as {reason}", coordinator.refused(reason))


def native_node(coordinator, *arguments):
    log = open(f"node-{time.monotonic_ns()}.log", "w+")
    process = subprocess.Popen(
        [KAISEKI, "join", coordinator.url, "--token-file", str(coordinator.state / "node.token"), "--gflops", "1",
         *map(str, arguments)], stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "KAISEKI_DEVICE": "cpu"})
    process.log = log.name
    return process


def node_js_is_there():
    if shutil.which("node"):
        return True
    skip("Node is not installed: JavaScript nodes are not tested")
    return False


def js_node(coordinator, *arguments, script=NODE_JS):
    log = open(f"js-{time.monotonic_ns()}.log", "w+")
    process = subprocess.Popen(
        ["node", str(script), coordinator.url, "--token-file", str(coordinator.state / "node.token"), *map(str, arguments)],
        stdout=log, stderr=subprocess.STDOUT)
    process.log = log.name
    return process


def has_joined(node, seconds=60):
    return until(lambda: '"joined"' in pathlib.Path(node.log).read_text() or node.poll() is not None, seconds)


def end(process, seconds=20, joined=True):
    """Sends SIGTERM and returns the exit status. Before a node has joined it does not handle signals."""
    if joined:
        has_joined(process)
    process.terminate()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None
