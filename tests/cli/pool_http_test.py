#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The coordinator's HTTP as docs/openapi.yaml and docs/serve.md describe it: blobs, pages and tokens."""
import hashlib
import json
import math
import os
import pathlib
import re
import socket
import ssl
import subprocess
import time

import yaml

from pool import Coordinator, Socket, end, join_raw, native_node, until
from support import ROOT, check, main, refuses


def said_by(name, least):
    """Runs the commands of a page in order, against a coordinator with one node. Returns their output."""
    page = (ROOT / "docs" / name).read_text()
    script = "set -e\n" + "\n".join(re.findall(r"```sh\n(.*?)```", page, re.S))
    commands = [line for line in script.splitlines() if "curl" in line]
    check(len(commands) >= least, f"the commands of {name} were found", script)
    with Coordinator() as coordinator:
        node = native_node(coordinator)
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=120,
                              env={**os.environ, "URL": coordinator.url, "STATE": str(coordinator.state.resolve())})
        check(done.returncode == 0, f"all commands of {name} work", done.stdout + done.stderr)
        end(node)
    return done.stdout.splitlines()


def documented_examples():
    said = said_by("serve.md", 10)
    lines = [json.loads(line) for line in said if line.startswith("{")]
    results = {one["ticket"]: one["result"] for one in lines if "result" in one}
    check(sorted(results.values()) == ["false", "true"], "they give results", said)


def examples_of_the_samples():
    primes, pi, tiles = [line for line in said_by("samples.md", 13) if not line.startswith("{")]
    check(primes == "168" and tiles == "9" and abs(float(pi) - math.pi) < 0.01, "the samples give the right results", (primes, pi, tiles))


def every_documented_path():
    text = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())
    with Coordinator() as coordinator:
        blob = coordinator.put_blob(b"some bytes")
        task = coordinator.task(["7"], name="t", function="sample.primes")
        project = coordinator.api("GET", "/projects")[0]["project"]
        node = join_raw(coordinator)
        ids = {"project": project, "task": task, "hash": blob, "node": node.identity["node"]}
        bodies = {("post", "/api/projects"): {"name": "p"}, ("post", "/api/projects/{project}/tasks"): {"function": "f"},
                  ("post", "/api/tasks/{task}/tickets"): {"tickets": []}, ("patch", "/api/tasks/{task}"): {"priority": 1}}
        schemas = text["components"]["schemas"]
        for path, methods in sorted(text["paths"].items(), key=lambda one: ("delete" in one[1], -one[0].count("/"))):
            url = re.sub(r"{(\w+)}", lambda one: str(ids[one[1]]), path)
            for method in sorted(set(methods) - {"parameters"}, key=lambda one: one == "delete"):
                body = bodies.get((method, path))
                data = b"some bytes" if method == "put" else json.dumps(body).encode() if body is not None else None
                status, headers, answer = coordinator.request(method.upper(), url, data)
                described = methods[method]["responses"]
                check(str(status) in described and status < 300, f"{method} {path}", f"{status} {answer[:200]}")
                if methods[method].get("security") != []:
                    check(coordinator.request(method.upper(), url, data, token=False)[0] == 401, f"{method} {path} requires a token")
            listed = {one.upper() for one in methods} - {"PARAMETERS"}
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - listed:
                status = coordinator.request(method, url)[0]
                check(status in (404, 405), f"{method} {path} does not exist", status)
        status = coordinator.api("POST", "/projects", {"name": "again"})
        task = coordinator.api("POST", f"/projects/{status['project']}/tasks", {"function": "f", "name": "n"})["task"]
        got = coordinator.api("GET", f"/tasks/{task}")
        check(set(got) == set(schemas["Task"]["properties"]), "a task's fields", got)
        known = coordinator.api("GET", "/nodes")
        check(known and all(set(one) == set(schemas["Node"]["properties"]) for one in known), "a node's fields", known)

        lapsing = [coordinator.api("POST", "/projects", {"name": "lapsing", "lapse": 1.5})["project"] for _ in range(2)]

        def there():
            coordinator.api("POST", f"/projects/{lapsing[0]}/renew", status=204)
            return [one["project"] for one in coordinator.api("GET", "/projects") if one.get("lapse") == 1.5]

        check(until(lambda: there() == lapsing[:1], 10), "a project that is not renewed lapses", there())

        def wrong(what, path, body, *words):
            status, _, answer = coordinator.request("POST", f"/api{path}", body)
            check(status in (400, 422) and all(word in answer.decode() for word in words), what, f"{status} {answer}")

        wrong("no JSON", "/projects", b"{", "line 1")
        wrong("a list", "/projects", b"[]", "an object")
        wrong("a number for a name", "/projects", b'{"name": 1}', "name", "a text")
        wrong("a weight of 0", "/projects", b'{"name": "x", "weight": 0}', "weight")
        wrong("an unknown verification", f"/projects/{status}/tasks".replace(str(status), str(got["project"])),
              b'{"function": "f", "verification": "trust"}', "verification", "none, quorum or adaptive")
        check(got["verification"] == "adaptive", "the results of public nodes are compared by default", got)
        for verification in ("none", "quorum", "adaptive"):
            spec = {"function": "f", "verification": verification}
            made = coordinator.api("POST", f"/projects/{got['project']}/tasks", spec)["task"]
            check(coordinator.api("GET", f"/tasks/{made}")["verification"] == verification, f"verification {verification}")
        wrong("a ticket that is text", f"/tasks/{task}/tickets", b'{"tickets": ["x"]}', "tickets[0]")
        wrong("half a base64", f"/tasks/{task}/tickets", b'{"tickets": [{"input_base64": "?"}]}', "input_base64")
        wrong("an input that is too long", f"/tasks/{task}/tickets", json.dumps({"tickets": [{"input": "x" * 70000}]}), "65536")
        wrong("an accuracy over 1", f"/projects/{got['project']}/curve", b'{"step": 1, "accuracy": 1.5}', "accuracy")
        def unchanged(what, task, body):
            before = coordinator.api("GET", f"/tasks/{task}")
            check(coordinator.request("PATCH", f"/api/tasks/{task}", json.dumps(body))[0] in (400, 422), what)
            check(coordinator.api("GET", f"/tasks/{task}") == before, f"{what} changes nothing", before)

        unchanged("an unknown state", task, {"priority": 7, "state": "gone"})
        unchanged("a priority out of range", task, {"priority": 7000, "state": "paused"})
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "cancelled", "priority": 3})
        unchanged("a cancelled task that is to go on", task, {"priority": 7, "state": "running"})
        for path in ("/api/tasks/999", "/api/tasks/x", "/api/tasks/1/2/3", "/api", "/api/", "/api/nothing", "/api/nodes/0"):
            check(coordinator.request("GET", path)[0] == 404, f"{path} does not exist")


def every_documented_error():
    """Every error has an answer that docs/openapi.yaml lists: on every path, and for errors that only the pool
    detects.
    """
    paths = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())["paths"]
    with Coordinator(limits=("json_bytes=1000", "blob_bytes=1000")) as coordinator:
        task = coordinator.task(["7"], function="sample.primes")
        ids = {"project": coordinator.api("GET", "/projects")[0]["project"], "task": task, "hash": coordinator.put_blob(b"some bytes"),
               "node": join_raw(coordinator).identity["node"]}

        def answers(expected, method, path, body=None, query="", known=ids, token=True):
            url = re.sub(r"{(\w+)}", lambda one: str(known[one[1]]), path) + query
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            status, _, answer = coordinator.request(method.upper(), url, data, token=token)
            check(status == expected, f"{method} {path} with {body} returns {expected}", f"{status} {answer[:200]}")
            check(str(expected) in paths[path][method]["responses"], f"{method} {path}: {expected} is documented")

        for path, methods in paths.items():
            for method in sorted(set(methods) - {"parameters"}):
                if methods[method].get("security") != []:
                    answers(401, method, path, token=False)
                if re.search(r"{(project|task|node)}", path) or (method, path) == ("get", "/blobs/{hash}"):
                    answers(404, method, path, known={"project": 999, "task": 999, "node": "0", "hash": "0" * 64})
                if "requestBody" in methods[method]:
                    answers(400, method, path, b"{")
                    answers(413, method, path, b"x" * 1001)
        blob, tickets = "/blobs/{hash}", "/api/tasks/{task}/tickets"
        answers(404, "put", blob, b"", known={"hash": "none"})
        answers(413, "put", blob, b"x" * 1001)
        answers(422, "put", blob, b"other bytes", known={"hash": "0" * 64})
        answers(422, "put", blob, b"some bytes", query="?project=999")
        answers(422, "get", "/link", query="?bytes=0")
        answers(422, "post", "/api/projects", {})
        answers(422, "post", "/api/projects", {"name": ""})
        answers(422, "post", "/api/projects/{project}/tasks", {"name": "of no code"})
        answers(422, "post", "/api/projects/{project}/tasks", {"module": "0" * 64})
        answers(422, "post", tickets, {"tickets": [{"blobs": ["0" * 64]}]})
        answers(422, "delete", "/api/nodes/{node}", query="?reason=")
        coordinator.api("PATCH", f"/tasks/{task}", {"state": "cancelled"})
        answers(422, "patch", "/api/tasks/{task}", {"state": "running"})
        answers(422, "post", tickets, {"tickets": [{"input": "7"}]})


def blobs():
    with Coordinator() as coordinator:
        data = bytes(range(256)) * 2000
        name = coordinator.put_blob(data)
        check(coordinator.put_blob(data) == name, "storing it twice is the same as once")
        status, headers, got = coordinator.request("GET", f"/blobs/{name}", token=False)
        check(status == 200 and got == data, "the whole blob", status)
        check(headers["ETag"] == f'"{name}"' and "immutable" in headers["Cache-Control"], "it may be cached forever", headers)
        check("sandbox" in headers["Content-Security-Policy"] and headers["Content-Disposition"] == "attachment",
              "the browser runs none of it", headers)
        for header, first, count in (("bytes=0-99", 0, 100), ("bytes=500000-", 500000, 12000), ("bytes=-7", 511993, 7)):
            status, headers, got = coordinator.request("GET", f"/blobs/{name}", headers={"Range": header})
            check(status == 206 and got == data[first:first + count], header, f"{status} {len(got)}")
            check(headers["Content-Range"] == f"bytes {first}-{first + count - 1}/{len(data)}", "the range is right", headers)
        status, headers, got = coordinator.request("GET", f"/blobs/{name}", headers={"Range": "bytes=512000-"})
        check(status == 416 and headers["Content-Range"] == "bytes */512000", "a range beyond the end", headers)
        status, _, got = coordinator.request("GET", f"/blobs/{name}", headers={"If-None-Match": f'"{name}"'})
        check(status == 304 and got == b"", "an unchanged blob is not sent again", status)
        status, headers, got = coordinator.request("HEAD", f"/blobs/{name}")
        check(status == 200 and got == b"" and headers["Content-Length"] == "512000", "its header", headers)
        other = hashlib.sha256(b"other").hexdigest()
        check(coordinator.request("PUT", f"/blobs/{other}", b"wrong bytes")[0] == 422, "bytes of another hash")
        for path in (other, name.upper(), name[:-1], "../author.token", "..%2fauthor.token", ""):
            check(coordinator.request("GET", f"/blobs/{path}")[0] == 404, f"no blob {path}")
        check(coordinator.request("PUT", f"/blobs/{other}", b"other", token=False)[0] == 401, "only an author stores blobs")
        file = coordinator.state / "blobs" / name
        coordinator.end()
        file.write_bytes(b"damaged" + data[7:])
        coordinator.begin()
        check(coordinator.put_blob(data) == name, "a damaged blob is put again")
        check(coordinator.request("GET", f"/blobs/{name}")[2] == data, "then it is whole")
        os.utime(file, (1, 1))
        check(coordinator.put_blob(data) == name and file.stat().st_mtime > 1e9, "storing a blob again renews its age")


def bodies_without_a_known_end():
    """If the end of a body is not certain, the request is refused. A body could hide a second request from a proxy."""
    with Coordinator() as coordinator:
        hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for lines in ("Transfer-Encoding: gzip", "Transfer-Encoding: x", "Transfer-Encoding: gzip, chunked",
                      "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: identity",
                      "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
                      "Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding:\r\nContent-Length: 0"):
            for method, path in (("POST", "/api/projects"), ("GET", "/healthz"), ("PUT", "/blobs/" + "0" * 64)):
                peer = Socket(coordinator)
                peer.send(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {coordinator.author_token}\r\n"
                          f"{lines}\r\n\r\n".encode() + hidden)
                said = b""
                while part := peer.socket.recv(65536):
                    said += part
                check(said[9:12] in (b"400", b"501") and said.count(b"HTTP/1.1 ") == 1,
                      f"{method} with {lines!r} is refused, and its body is no request", said)
        peer = Socket(coordinator)
        peer.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden)
        check(peer.answer()[0] == 200 and peer.read(3) == b"ok\n" and peer.answer()[0] == 200, "an empty chunked body is a body")


def pages():
    folder = pathlib.Path("web")
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>page")
    (folder / "assets" / "app.js").write_text("export {}")
    (folder / "volunteer").mkdir()
    (folder / "volunteer" / "task.html").write_text("<!doctype html>")
    (folder / "assets" / "m.wasm").write_bytes(b"\0asm")
    (folder / "console").mkdir()
    (folder / "console" / "index.html").write_text("<!doctype html>console")
    (folder / ".secret").write_text("hidden")
    pathlib.Path("outside.txt").write_text("outside")
    os.symlink("../outside.txt", folder / "link.txt")
    with Coordinator("--web", folder) as coordinator:
        types = {"/": "text/html", "/assets/app.js": "text/javascript", "/assets/m.wasm": "application/wasm"}
        for path, kind in types.items():
            status, headers, got = coordinator.request("GET", path, token=False)
            check(status == 200 and headers["Content-Type"].startswith(kind), path, headers)
            for name, value in (("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"),
                                ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
                                ("Referrer-Policy", "no-referrer")):
                check(headers.get(name) == value, f"{path}: {name}", headers)
            policy = headers["Content-Security-Policy"]
            check("default-src 'none'" in policy and "'unsafe-inline'" not in policy and "'unsafe-eval'" not in policy and
                  "frame-ancestors 'none'" in policy and "require-trusted-types-for" in policy, "the page's policy", policy)
        headers = coordinator.request("GET", "/volunteer/task.html", token=False)[1]
        check(headers["Content-Security-Policy"] == "default-src 'none'; script-src 'unsafe-inline' blob: 'wasm-unsafe-eval'; "
              "worker-src blob:; frame-ancestors 'self'; sandbox allow-scripts",
              "a task's frame has no origin and no network, and only its own scripts", headers)
        check(headers["Cross-Origin-Resource-Policy"] == "cross-origin", "Firefox loads a frame without an origin", headers)
        check(coordinator.first[2].split() == ["console", coordinator.url + "/console/"], "it prints the address", coordinator.first)
        status, headers, _ = coordinator.request("GET", "/console", token=False)
        check(status == 308 and headers["Location"] == "/console/", "a folder's page redirects", f"{status} {headers}")
        check(coordinator.request("GET", "/console/", token=False)[2] == b"<!doctype html>console", "the page exists")
        tag = coordinator.request("GET", "/", token=False)[1]["ETag"]
        check(coordinator.request("GET", "/", headers={"If-None-Match": tag}, token=False)[0] == 304, "an unchanged page is not sent again")
        for path in ("/.secret", "/link.txt", "/../outside.txt", "/%2e%2e/outside.txt", "/assets", "/assets/", "//", "/index.html/"):
            check(coordinator.request("GET", path, token=False)[0] == 404, f"{path} is not served")
        check(coordinator.request("GET", "/healthz", token=False)[0] == 200, "healthy")
    with Coordinator() as coordinator:
        check(b"Kaiseki" in coordinator.request("GET", "/", token=False)[2], "its own page if there is no other")
        coordinator.process.terminate()
        said = coordinator.process.stdout.read()  # web/e2e tests the pages in a command
        check("none: this command was built without them (use --web DIR" in said or f"pages        {coordinator.url}/" in said,
              "it prints whether there are pages", said)
    pathlib.Path("empty").mkdir()
    refuses(["index.html", "empty"], "serve", "--web", "empty", "--port", 0, "--state", "s")
    with Coordinator("--web", "none") as coordinator:
        coordinator.process.terminate()
        said = coordinator.process.stdout.read()
        check("pages" not in said, "no pages with --web none", said)


def served_mnist():
    names = [f"{one}-ubyte.gz" for one in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")]
    os.environ.update(KAISEKI_DATA=str(pathlib.Path("sets").resolve()), KAISEKI_CACHE_DIR=str(pathlib.Path("cache").resolve()))
    folder = pathlib.Path("sets", "mnist")
    folder.mkdir(parents=True)
    with Coordinator(pages=True) as coordinator:
        for name in names:
            check(coordinator.request("HEAD", f"/data/mnist/{name}", token=False)[0] == 404, f"no {name} without the files")
    for i, name in enumerate(names):  # the last is not packed
        path = folder / (name if i < 3 else name.removesuffix(".gz"))
        path.write_bytes(f"file {i}".encode())
    with Coordinator(pages=True) as coordinator:
        for i, name in enumerate(names):
            status, headers, got = coordinator.request("GET", f"/data/mnist/{name}", token=False)
            check((status, got) == (200, f"file {i}".encode()), f"GET {name}", f"{status} {got}")
            status, headers, got = coordinator.request("HEAD", f"/data/mnist/{name}", token=False)
            check((status, headers["Content-Length"], got) == (200, "6", b""), f"HEAD {name}", f"{status} {headers} {got}")


def viewers_and_everyone():
    with Coordinator() as coordinator:
        viewer = {"Authorization": f"Bearer {(coordinator.state / 'viewer.token').read_text().strip()}"}
        task = coordinator.task(["7", "8"], function="sample.primes", name="open")
        coordinator.task(["7"], function="sample.primes", name="secret", public_data=False)
        paused = coordinator.task(["7"], function="sample.primes", name="paused")
        coordinator.api("PATCH", f"/tasks/{paused}", {"state": "paused"})
        for path in ("/api/projects", "/api/tasks", f"/api/tasks/{task}", "/api/nodes", "/metrics"):
            check(coordinator.request("GET", path, headers=viewer, token=False)[0] == 200, f"a viewer reads {path}")
        for method, path in (("POST", "/api/projects"), ("PATCH", f"/api/tasks/{task}"), ("DELETE", "/api/projects/1"),
                             ("DELETE", "/api/nodes/0"), ("PUT", "/blobs/" + "0" * 64)):
            check(coordinator.request(method, path, b"{}", viewer, token=False)[0] == 401, f"a viewer may not {method} {path}")
        check(coordinator.api("GET", "/role") == {"role": "author"}, "an author learns the role")
        check(json.loads(coordinator.request("GET", "/api/role", headers=viewer, token=False)[2]) == {"role": "viewer"}, "a viewer learns the role")
        project = coordinator.api("GET", f"/tasks/{task}")["project"]
        points = [{"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.25, "accuracy": 0.5}]
        check([one["trains"] for one in coordinator.api("GET", "/projects")] == [False] * 3, "no project trains")
        for point in points:
            check(coordinator.request("POST", f"/api/projects/{project}/curve", json.dumps(point))[0] == 204, "a point is stored")
        check(coordinator.api("GET", f"/projects/{project}/curve") == points, "the curve")
        check(coordinator.api("GET", f"/projects/{project}/curve?after=1") == points[1:], "the curve's new points")
        check([one["project"] for one in coordinator.api("GET", "/projects") if one["trains"]] == [project], "that project trains")
        listed = coordinator.api("GET", "/tasks")
        check([one["free"] for one in listed if one["task"] == task] == [2], "the list has the counts", listed)
        offers = json.loads(coordinator.request("GET", "/pool", token=False)[2])
        check([one["tasks"] for one in offers["projects"]] == [[{"task": task, "name": "open", "function": "sample.primes", "modules": False,
                                                     "open": 2, "waits": "", "done": 0}]], "everyone sees running public tasks", offers)


def state_survives_a_restart():
    with Coordinator() as coordinator:
        task = coordinator.task(["7", "8"], function="sample.primes")
        node = join_raw(coordinator)
        _, ticket, control, _ = node.hear_frame("ticket")
        node.say("result", ticket, {"token": control["token"]}, b"true")
        check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "accepted")
        token = coordinator.author_token
        start = time.monotonic()
        coordinator.kill()
        coordinator.begin()
        check(time.monotonic() - start < 10, "it is back", time.monotonic() - start)
        check(coordinator.author_token == token, "the tokens are the same")
        status = coordinator.api("GET", f"/tasks/{task}")
        check(status["done"] == 1 and status["free"] + status["leased"] == 1, "no accepted result is lost", status)
        again = Socket(coordinator)
        again.upgrade()
        again.say("hello", control={**node.identity, "functions": ["sample.primes"]})
        check(again.hear_frame("welcome")[2]["node"] == node.identity["node"], "it recognizes its nodes")
        again.say("result", ticket, {"token": control["token"]}, b"true")
        check(again.hear_frame("verdict")[2]["verdict"] == "duplicate", "it counts nothing twice")


def history_survives_a_restart():
    def plotted(seconds=0):
        return coordinator.api("GET", f"/history?seconds={seconds}")

    with Coordinator() as coordinator:
        node = join_raw(coordinator)
        check(until(lambda: any(plotted()["nodes"])), "a point with the node", plotted())
        project = coordinator.api("POST", "/projects", {"name": "trained"})["project"]
        point = {"step": 3, "loss": 0.5, "accuracy": 0.75, "steps": 9, "epoch": 1, "epochs": 2}
        coordinator.request("POST", f"/api/projects/{project}/curve", json.dumps(point))
        before = plotted()
        check(len(before["time"]) == len(before["rate"]) == len(before["nodes"]), "three lists of one length", before)
        node.close()
        check(coordinator.end() == 0, "it ends")
        coordinator.begin()
        check(coordinator.api("GET", f"/projects/{project}/curve") == [point], "the training's curve is kept")
        after = until(lambda: len(plotted()["time"]) > len(before["time"]) and plotted()) or plotted()
        check([after[key][:len(before["time"]) - 1] for key in after] == [before[key][:-1] for key in before], "it goes on",
              f"{before}\n{after}")
        check(any(plotted(60)["nodes"]) and plotted(1)["nodes"] == [0] * len(plotted(1)["nodes"]), "as long as asked for", plotted(60))
        coordinator.end()
        (coordinator.state / "history.json").write_text('{"last": 1')
        coordinator.begin()
        check(until(lambda: plotted()["time"]), "after a damaged file it begins anew", plotted())


def drains():
    with Coordinator(limits=("drain_seconds=5",)) as coordinator:
        task = coordinator.task(["7", "8"], function="sample.primes")
        node = join_raw(coordinator)
        _, ticket, control, _ = node.hear_frame("ticket")
        coordinator.process.terminate()
        check(node.hear_frame("drain")[2]["seconds"] == 5, "nodes get a drain frame")
        node.say("result", ticket, {"token": control["token"]}, b"true")
        check(node.hear_frame("verdict")[2]["verdict"] == "accepted", "a result that is being computed still counts")
        check(node.close_code() == 1001, "then the connection ends")
        check(coordinator.process.wait(10) == 0, "the status is 0")
        coordinator.begin()
        check(coordinator.api("GET", f"/tasks/{task}")["done"] == 1, "the result was stored")


def tls():
    with Coordinator(tls=True) as coordinator:
        check(coordinator.url.startswith("https://"), "an https URL", coordinator.url)

        def curl(path, *more):
            return subprocess.run(["curl", "-sf", "--cacert", "cert.pem", "-H", f"Authorization: Bearer {coordinator.author_token}",
                                   coordinator.url + path, *more], capture_output=True, text=True, timeout=60).stdout

        project = json.loads(curl("/api/projects", "-d", '{"name": "t"}'))["project"]
        task = json.loads(curl(f"/api/projects/{project}/tasks", "-d", '{"function": "sample.primes"}'))["task"]
        curl(f"/api/tasks/{task}/tickets", "-d", '{"tickets": [{"input": "97"}]}')
        node = native_node(coordinator, "--tls-ca", "cert.pem")
        check('"result": "true"' in curl(f"/api/tasks/{task}/results?follow=1"), "a ticket over TLS")
        check("max-age" in curl("/healthz", "-i"), "HSTS")
        check(end(node) == 0, "the node ends", pathlib.Path(node.log).read_text())
        stranger = native_node(coordinator)
        check(until(lambda: "certificate" in pathlib.Path(stranger.log).read_text(), 10), "an unknown certificate is refused")
        end(stranger, joined=False)


def ciphers():
    """TLS 1.2 with forward secrecy and without CBC, or TLS 1.3."""
    def shakes_hands(coordinator, ciphers=None, version=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = context.maximum_version = version or ssl.TLSVersion.TLSv1_2
        context.set_ciphers((ciphers or "DEFAULT") + ":@SECLEVEL=0")
        try:
            with socket.create_connection(("127.0.0.1", coordinator.port), timeout=30) as plain:
                context.wrap_socket(plain).close()
            return True
        except (ssl.SSLError, ConnectionError):
            return False

    for key in (["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"]):
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                               "-days", "2", "-subj", "/CN=127.0.0.1"], capture_output=True, text=True)
        check(made.returncode == 0, "a certificate", made.stderr)
        with Coordinator("--tls-cert", "cert.pem", "--tls-key", "key.pem") as coordinator:
            check(shakes_hands(coordinator, version=ssl.TLSVersion.TLSv1_3), "TLS 1.3")
            check(shakes_hands(coordinator, "ECDHE+AESGCM"), "forward secrecy")
            check(shakes_hands(coordinator, "ECDHE+CHACHA20"), "ChaCha20")
            check(not shakes_hands(coordinator, version=ssl.TLSVersion.TLSv1_1), "no TLS 1.1")
            for wrong in ("ECDHE+AES:!AESGCM:!AESCCM", "kRSA+AESGCM", "kRSA+AES"):
                check(not shakes_hands(coordinator, wrong), f"no {wrong}")


def documented_limits():
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", (ROOT / "docs/serve.md").read_text(), re.M))
    header = (ROOT / "dist/net/limits.h").read_text()
    fields = {name: eval(value) for name, value in re.findall(r"^  double (\w+) =\s+([\d <]+);", header, re.M)}
    check({name: int(value) for name, value in rows.items()} == fields, "the page's limits are the program's", f"{rows} {fields}")
    page = (ROOT / "docs/serve.md").read_text()
    reasons = re.search(r"kRefusals = [^{]*{(.*?)}", (ROOT / "dist/net/refusal.h").read_text(), re.S)[1]
    missing = [one for one in re.findall(r'"(\w+)"', reasons) if f"`{one}`" not in page]
    check(not missing, "the page lists every reason", missing)


if __name__ == "__main__":
    main(documented_examples, examples_of_the_samples, every_documented_path, every_documented_error, blobs,
         bodies_without_a_known_end, pages, viewers_and_everyone, state_survives_a_restart, history_survives_a_restart, drains,
         tls, ciphers, documented_limits, served_mnist)
