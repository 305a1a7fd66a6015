#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The samples from end to end: nodes join and are killed, and the coordinator too. The results are mathematically
right.
"""
import base64
import json
import math
import os
import pathlib
import re
import signal

from pool import Coordinator, end, has_joined, js_node, native_node, node_js_is_there, until
from support import ROOT, check, main


def sieve(limit):
    prime = [False, False] + [True] * (limit - 1)
    for i in range(2, limit + 1):
        for j in range(2 * i, limit + 1, i):
            prime[j] = False
    return [i for i in range(limit + 1) if prime[i]]


def module(coordinator, name):
    return coordinator.put_blob((ROOT / "web" / "samples" / f"{name}.js").read_bytes())


def accepted(coordinator, task):
    return coordinator.api("GET", f"/tasks/{task}")["done"]


def primes():
    """One candidate for each ticket. One node is killed, one joins, and the coordinator is killed and returns."""
    with Coordinator() as coordinator:
        nodes = [native_node(coordinator, "--jobs", 2), native_node(coordinator, "--jobs", 1)]
        if node_js_is_there():
            nodes.append(js_node(coordinator, "--threads", 2))
        check(all(has_joined(node) for node in nodes), "all nodes join")
        project = coordinator.api("POST", "/projects", {"name": "primes"})["project"]
        task = coordinator.api("POST", f"/projects/{project}/tasks", {
            "name": "primes", "function": "sample.primes", "module": module(coordinator, "primes")})["task"]
        coordinator.add(task, [str(i) for i in range(1, 501)])
        check(until(lambda: accepted(coordinator, task) > 50), "tickets are done")
        nodes[0].kill()
        nodes[0].wait()
        nodes.append(native_node(coordinator))
        check(has_joined(nodes[-1]), "another node joins")
        coordinator.add(task, [str(i) for i in range(501, 1001)])
        check(until(lambda: accepted(coordinator, task) > 300), "the others continue")
        coordinator.kill()
        coordinator.begin()
        results = coordinator.results(task)
        first = min(one["ticket"] for one in results)
        found = [one["ticket"] - first + 1 for one in results if one["result"] == "true"]
        check(len(results) == 1000 and len({one["ticket"] for one in results}) == 1000, "each ticket once", len(results))
        check(sorted(found) == sieve(1000), "the prime numbers up to 1000", sorted(found))
        owners = {one["node"] for one in results}
        check(len(owners) >= len(nodes) - 1, "all nodes computed a part", owners)
        for node in nodes[1:]:
            check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])
        nodes = coordinator.api("GET", "/nodes")
        check(until(lambda: not any(one["connected"] for one in coordinator.api("GET", "/nodes"))), "all nodes have left", nodes)
        check(coordinator.end() == 0, "the coordinator ends with status 0")


def pi():
    """Native and JavaScript nodes give the same bytes for the same tickets: two must agree on each."""
    with Coordinator() as coordinator:
        inputs = [json.dumps({"seed": seed, "points": 20000}) for seed in range(40)]
        javascript = node_js_is_there()
        nodes = [native_node(coordinator, "--jobs", 1), (js_node if javascript else native_node)(coordinator)]
        task = coordinator.task(inputs, name="pi", function="sample.pi", module=module(coordinator, "pi"),
                                verification="quorum", quorum=2)
        results = coordinator.results(task)
        inside = sum(int(one["result"]) for one in results)
        check(len(results) == 40 and all(one["checked"] for one in results), "all agreed on", results[:3])
        check(abs(4 * inside / 800000 - math.pi) < 5 * 1.642 / math.sqrt(800000), "pi", 4 * inside / 800000)
        for node in nodes:
            check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])
        said = [re.search(r'([\d,]+) results accepted|"accepted":(\d+)', pathlib.Path(node.log).read_text()) for node in nodes]
        counts = [int((one.group(1) or one.group(2)).replace(",", "")) for one in said if one]
        check(len(counts) == 2 and sum(counts) == 40, "the node with the second of two results finishes the ticket and counts it", counts)


def mandelbrot():
    """A picture that fills in tile by tile. Native code and JavaScript give the same tiles."""
    tiles, size = 4, 32
    inputs = [json.dumps({"left": -2 + 2.5 * column / tiles, "top": 1.25 - 2.5 * row / tiles, "step": 2.5 / tiles / size,
                          "width": size, "height": size, "iterations": 100})
              for row in range(tiles) for column in range(tiles)]
    with Coordinator() as coordinator:
        pictures = []
        kinds = [("function", native_node)] + [("module", js_node)] * node_js_is_there()
        for kind, begin in kinds:
            code = "sample.mandelbrot" if kind == "function" else module(coordinator, "mandelbrot")
            task = coordinator.task(inputs, name="mandelbrot", **{kind: code})
            node = begin(coordinator)
            lines = sorted(coordinator.results(task), key=lambda one: one["ticket"])
            check(len(lines) == tiles * tiles, "all tiles", len(lines))
            pictures.append([base64.b64decode(one["result_base64"]) if "result_base64" in one else one["result"].encode()
                             for one in lines])
            check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])
        check(all(picture == pictures[0] for picture in pictures), "the pictures are equal")
        points = b"".join(pictures[0])
        area = sum(point == 100 for point in points) * (2.5 / tiles / size) ** 2
        check(abs(area - 1.5065918849) < 0.1, "the area of the Mandelbrot set", area)


def interrupted_node():
    """Ctrl-C gives unfinished tickets back: other nodes get them at once, not after a deadline."""
    with Coordinator() as coordinator:
        slow = [json.dumps({"seed": seed, "points": 200000000}) for seed in range(2)]
        task = coordinator.task(slow, function="sample.pi")
        node = native_node(coordinator, "--jobs", 2)
        check(until(lambda: coordinator.api("GET", f"/tasks/{task}")["leased"] == 2), "both are computed")
        node.send_signal(signal.SIGINT)
        check(node.wait(20) == 0, "status 0", pathlib.Path(node.log).read_text())
        status = coordinator.api("GET", f"/tasks/{task}")
        check(status["free"] == 2 and status["leased"] == 0, "both are free again", status)
        given_back = coordinator.metrics().get('kaiseki_pool_total{event="given_back"}')
        check(given_back == 2, "the node gave them back, before its connection ended", given_back)


def failing_modules():
    """A module's error belongs to its ticket. Endless modules are ended. None reaches Node, the network or code from
    strings.
    """
    if not node_js_is_there():
        return
    bad = {
        "throws": "export function calculate() { throw new Error('as it likes'); }",
        "never ends": "export function calculate() { for (;;); }",
        "no function": "export const x = 1;",
        "not JavaScript": "export function {",
        "imports": "import fs from 'node:fs'; export const calculate = () => 'got ' + typeof fs;",
        "imports later": "export const calculate = async () => 'got ' + typeof (await import('node:fs'));",
        "process": "export const calculate = () => process.version;",
        "eval": "export const calculate = () => eval('1 + 1') + '';",
        "function": "export const calculate = () => new Function('return 7')() + '';",
        "escape": "export const calculate = (a) => a.constructor.constructor('return process')().version;",
        "escape by the list of blobs": "export const calculate = (a, b) => b.constructor.constructor('return process')().version;",
        "network": "export const calculate = async () => (await fetch('http://127.0.0.1/')).status + '';",
        "a number": "export const calculate = () => 1;",
        "grows without end": "const all = []; export const calculate = () => { for (;;) all.push(new Uint8Array(1 << 20)); };",
    }
    with Coordinator() as coordinator:
        good = module(coordinator, "primes")
        name = "\x1b[2J<img onerror=alert(1)>"
        for what, code in bad.items():
            # A node of its own for each, because a node rests longer after each failure.
            node = js_node(coordinator, "--threads", 1, "--seconds", 1, "--name", name)
            task = coordinator.task(["1"], name=what, module=coordinator.put_blob(code.encode()), max_attempts=1)
            results = coordinator.results(task)
            check(len(results) == 1 and results[0].get("dead"), f"a module that {what} fails", results)
            errors = coordinator.api("GET", f"/tasks/{task}/errors")
            check(errors and errors[0]["error"], f"{what}: the reason is reported", errors)
            results = coordinator.results(coordinator.task(["7"], module=good))
            check(results[0].get("result") == "true", "the node still works afterwards", results)
            names = {one["name"] for one in coordinator.api("GET", "/nodes")}
            check(names == {"[2J<img onerror=alert(1)>"}, "control characters are removed", names)
            check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])


def webassembly():
    """A module that returns the number of its input's bytes, as 4 bytes. A module with an import is refused."""
    if not node_js_is_there():
        return
    head = b"\0asm\x01\0\0\0"
    counts = head + bytes.fromhex("010c0260017f017f60027f7f017f" "0303020001" "050401010101" "0721"
                                  "03") + b"\x06memory\x02\0\x08allocate\0\0\x09calculate\0\x01" + bytes.fromhex(
        "0a1a02" "0500418008" "0b" "12004108410436020041" "0c2001360200" "41080b")
    imports = head + bytes.fromhex("0104016000000207010161016200" "00")
    with Coordinator() as coordinator:
        node = js_node(coordinator, "--threads", 1)
        task = coordinator.task(["seven"], module=coordinator.put_blob(counts))
        results = coordinator.results(task)
        check(results[0].get("result") == "\x05\0\0\0", "the number of bytes", results)
        task = coordinator.task(["1"], module=coordinator.put_blob(imports), max_attempts=1)
        check(coordinator.results(task)[0].get("dead"), "imports are refused")
        text = coordinator.api("GET", f"/tasks/{task}/errors")[0]["error"]
        check("imports" in text, "the error names imports", text)
        check(end(node) == 0, "a node ends with status 0", pathlib.Path(node.log).read_text()[-2000:])


if __name__ == "__main__":
    main(primes, pi, mandelbrot, interrupted_node, failing_modules, webassembly)
