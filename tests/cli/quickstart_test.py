#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./quickstart with mirrors that accept and then say nothing: it shows how long it has waited, gives up soon, and
trains on digits within 90 s. The packages and the build are stood in for."""
import os
import pathlib
import re
import shutil
import socket
import threading
import time

from support import KAISEKI, ROOT, check, main, on_a_terminal


class Stalling(threading.Thread):
    """A proxy that accepts and never answers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.open = []
        self.start()

    def run(self):
        while True:
            self.open.append(self.server.accept())


def make_tree():
    for folder in ("cmake", "bin", "build/quickstart/cli"):
        os.makedirs(folder)
    for program in ("cmake/install-packages", "bin/cmake"):
        pathlib.Path(program).write_text("#!/bin/sh\necho '[1/1] built'\n")
        os.chmod(program, 0o755)
    os.symlink(KAISEKI, "build/quickstart/cli/kaiseki")
    for name in ("models", "examples"):
        os.symlink(ROOT / name, name)
    shutil.copy(ROOT / "quickstart", "quickstart")


def mirrors_that_stall():
    make_tree()
    proxy = Stalling()
    start = time.monotonic()
    status, seen = on_a_terminal(["./quickstart", "--device", "cpu"], {
        "https_proxy": proxy.url, "http_proxy": proxy.url, "no_proxy": "", "KAISEKI_CACHE_DIR": os.path.abspath("cache"),
        "KAISEKI_DATA": None, "TERM": "xterm", "LANG": "C.UTF-8", "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    seconds = time.monotonic() - start
    print(f"quickstart without MNIST: {seconds:.0f} s after the build")
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", seen)
    check(status == 0 and seconds < 90, "ends within 90 s of the build", f"{seconds} s\n{plain}")
    waited = [int(found) for found in re.findall(r"downloading train-images-idx3-ubyte.gz.*?(\d+) s of 40", plain)]
    check(len(set(waited)) > 15 and waited == sorted(waited), "shows how long it has waited", str(waited))
    check(not waited or max(waited) <= 41, "gives up after 40 s", str(waited))
    check("generated digits instead" in plain, "says what it takes instead", plain)
    found = re.search(r"LeNet is right on ([\d.]+) %", plain)
    check(found and float(found[1]) >= 98, "98 % of digits and more", plain[-2000:])


main(mirrors_that_stall)
