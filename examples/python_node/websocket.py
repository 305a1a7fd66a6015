# SPDX-License-Identifier: MIT
"""A WebSocket (RFC 6455) to a coordinator: whole binary messages, and nothing that the protocol does not need."""
import base64
import hashlib
import hmac
import json
import os
import socket
import ssl
import struct
import threading
import urllib.parse

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
SILENCE = 60  # seconds after which the coordinator counts as lost; it pings after 25


class Closed(Exception):
    """The connection has ended. `code` is 1006 if no close frame came."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with code {code}: {reason}")
        self.code = code


def mask(data, key):
    """Returns data XOR the repeated key. Whole numbers do this faster than a loop."""
    size = len(data)
    return (int.from_bytes(data, "little") ^ int.from_bytes((key * (size // 4 + 1))[:size], "little")).to_bytes(size, "little")


class WebSocket:
    def __init__(self, url, token):
        to = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((to.hostname, to.port or (443 if to.scheme == "https" else 80)), SILENCE)
        if to.scheme == "https":
            self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=to.hostname)
        self.sending = threading.Lock()
        self.stream = self.socket.makefile("rb")
        if to.scheme == "http":
            self.expect_proof(to, token)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /node HTTP/1.1\r\nHost: {to.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
                             f"Authorization: Bearer {token}\r\n\r\n").encode())
        head = self.read_head()
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        if head.split()[1] != "101" or accept not in head:
            raise ConnectionError(f"expected an upgrade to a WebSocket, got {head.splitlines()[0]}")

    def read_head(self):
        return b"".join(iter(self.stream.readline, b"\r\n")).decode()

    def expect_proof(self, to, token):
        """Lets the coordinator prove that it knows the token, before another program on the port gets the token."""
        nonce = os.urandom(16).hex()
        self.socket.sendall(f"GET /proof?nonce={nonce} HTTP/1.1\r\nHost: {to.netloc}\r\n\r\n".encode())
        lengths = [line.split(":")[1] for line in self.read_head().splitlines() if line.lower().startswith("content-length:")]
        proofs = json.loads(self.stream.read(int(lengths[0])))["proofs"]
        text = f"kaiseki coordinator {self.socket.getpeername()[0]} {to.port or 80} {nonce}"
        if hmac.new(token.encode(), text.encode(), "sha256").hexdigest() not in proofs:
            raise ConnectionError("expected a coordinator that knows the token")

    def send(self, data, opcode=BINARY):
        size, key = len(data), os.urandom(4)
        short = size if size < 126 else 126 if size < 65536 else 127
        length = {126: struct.pack(">H", size % 65536), 127: struct.pack(">Q", size)}.get(short, b"")
        with self.sending:
            self.socket.sendall(bytes([0x80 | opcode, 0x80 | short]) + length + key + mask(data, key))

    def read(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise Closed(1006)
        return data

    def receive(self):
        """Returns the next binary message. Answers pings. Throws Closed."""
        message = b""
        while True:
            first, size = self.read(2)
            if size > 125:
                size = int.from_bytes(self.read(2 if size == 126 else 8), "big")
            data, opcode = self.read(size), first & 15
            if opcode == PING:
                self.send(data, PONG)
            elif opcode == CLOSE:
                self.send(data[:2], CLOSE)
                raise Closed(int.from_bytes(data[:2], "big") if data else 1005, data[2:].decode())
            elif opcode in (BINARY, CONTINUATION):
                message += data
                if first & 0x80:
                    return message
