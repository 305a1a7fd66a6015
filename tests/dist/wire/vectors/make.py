#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes frames.json next to this file: messages that docs/protocol.md allows, and messages that it forbids. With a
folder, writes each message to its own file there.
"""
import json
import pathlib
import struct
import sys

NAMES = ["hello", "welcome", "ready", "ticket", "result", "verdict", "give_back", "drain", "echo", "error", "cancel"]


def header(kind=1, ticket=0, payload=0, control=0, magic=b"KAIS", version=1, flags=0, reserved=0):
    return struct.pack("<4sBBHQQII", magic, version, kind, flags, ticket, payload, control, reserved)


def good(name, kind, ticket=0, control=None, payload=b""):
    text = json.dumps(control, ensure_ascii=False).encode() if control else b""
    message = header(NAMES.index(kind) + 1, ticket, len(payload), len(text)) + text + payload
    return {"name": name, "hex": message.hex(), "type": kind, "ticket": ticket, "control": control or {},
            "payload_hex": payload.hex()}


def bad(name, message):
    return {"name": name, "hex": message.hex()}


def with_control(text):
    return header(control=len(text)) + text


GOOD = [
    *(good(f"an empty {kind}", kind) for kind in NAMES),
    good("the largest ticket", "ticket", 2**53 - 1, {"token": "t"}, b"\x00\x01\x02"),
    good("text beyond ASCII", "error", control={"error": "日本語 𝄞 \u0000"}),
    good("nested control", "welcome", control={"a": [1, -2.5, True, None, {"b": []}], "c": 1e300}),
    good("only a payload", "echo", payload=bytes(range(256))),
]

BAD = [
    bad("nothing", b""),
    bad("half a header", header()[:31]),
    bad("another magic", header(magic=b"KAIT")),
    bad("version 0", header(version=0)),
    bad("version 2", header(version=2)),
    bad("type 0", header(kind=0)),
    bad("type 12", header(kind=12)),
    bad("a flag", header(flags=1)),
    bad("something reserved", header(reserved=1)),
    bad("ticket 2^53", header(ticket=2**53)),
    bad("a payload of 2^63 bytes", header(payload=2**63)),
    bad("a payload of 2^64 - 1 bytes", header(payload=2**64 - 1)),
    bad("a payload that is not there", header(payload=1)),
    bad("a payload that is not announced", header() + b"x"),
    bad("a control part that is not there", header(control=2)),
    bad("a control part of 2^32 - 1 bytes", header(control=2**32 - 1)),
    bad("control: a list", with_control(b"[]")),
    bad("control: a number", with_control(b"1")),
    bad("control: null", with_control(b"null")),
    bad("control: half an object", with_control(b'{"a": ')),
    bad("control: two objects", with_control(b"{} {}")),
    bad("control: not UTF-8", with_control(b'{"a": "\xff"}')),
    bad("control: a surrogate", with_control(b'{"a": "\xed\xa0\x80"}')),
    bad("control: an overlong slash", with_control(b'{"a": "\xc0\xaf"}')),
    bad("control: NaN", with_control(b'{"a": NaN}')),
    bad("control: a comma too many", with_control(b'{"a": 1,}')),
    bad("control: a key twice", with_control(b'{"a": 1, "b": [2, {"c": 3}], "a": 4}')),
    bad("control: a key twice within", with_control(b'{"a": [{"b": 1, "b": 2}]}')),
    bad("control: a key twice, spelt differently", with_control(b'{"a": "\\"a\\"", "\\u0061": 2}')),
]

if len(sys.argv) > 1:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for i, one in enumerate(GOOD + BAD):
        (folder / str(i)).write_bytes(bytes.fromhex(one["hex"]))
    sys.exit()
file = pathlib.Path(__file__).with_name("frames.json")
file.write_text(json.dumps({"good": GOOD, "bad": BAD}, indent=1, ensure_ascii=False) + "\n")
print(f"{len(GOOD)} good, {len(BAD)} bad")
