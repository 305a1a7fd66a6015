#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./quickstart with mirrors that accept and then send nothing. It shows how long it has waited, and gives up soon.
It trains on digits within 90 s. It ends with how to open the page that trains. Fakes replace the packages and
builds.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time

from support import KAISEKI, ROOT, check, main, on_a_terminal


class Stalling(threading.Thread):
    """A proxy that accepts connections and never answers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.open = []
        self.start()

    def run(self):
        while True:
            self.open.append(self.server.accept())


def stand_in(program, script):
    pathlib.Path(program).write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(program, 0o755)


def make_tree():
    for folder in ("cmake", "bin", "web", "build/quickstart/cli"):
        os.makedirs(folder)
    for program in ("cmake/install-packages", "bin/cmake", "bin/npm", "web/build"):
        stand_in(program, "echo '[1/1] built'")
    stand_in("cmake/find-node", f"echo {os.getcwd()}/bin:")
    os.symlink(KAISEKI, "build/quickstart/cli/kaiseki")
    for name in ("models", "examples"):
        os.symlink(ROOT / name, name)
    shutil.copy(ROOT / "quickstart", "quickstart")


def stalling_mirrors():
    make_tree()
    proxy = Stalling()
    start = time.monotonic()
    status, seen = on_a_terminal(["./quickstart", "--device", "cpu"], {
        "https_proxy": proxy.url, "http_proxy": proxy.url, "no_proxy": "", "KAISEKI_CACHE_DIR": os.path.abspath("cache"),
        "KAISEKI_DATA": None, "TERM": "xterm", "LANG": "C.UTF-8", "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    seconds = time.monotonic() - start
    print(f"quickstart without MNIST: {seconds:.0f} s after the build")
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", seen)
    check(status == 0 and seconds < 90, "it ends within 90 s of the build", f"{seconds} s\n{plain}")
    waited = [int(found) for found in re.findall(r"downloading train-images-idx3-ubyte.gz.*?at most 40 s, (\d+) s", plain)]
    check(len(set(waited)) > 15 and waited == sorted(waited), "it shows how long it has waited", str(waited))
    check(not waited or max(waited) <= 41, "it gives up after 40 s", str(waited))
    check("generated digits instead" in plain, "it names the data that it uses instead", plain)
    found = re.search(r"LeNet is right on ([\d.]+) %", plain)
    check(found and float(found[1]) >= 98, "98 % of digits and more", plain[-2000:])


def last_lines(path, says=""):
    done = subprocess.run(["./quickstart", "--data", "digits:100", "--epochs", "0", "--device", "cpu"], capture_output=True,
                          text=True, timeout=120, env={**os.environ, "KAISEKI_CACHE_DIR": os.path.abspath("cache"), "PATH": path})
    check(done.returncode == 0, "it ends with status 0", done.stdout + done.stderr)
    check(says in done.stdout, f"it prints {says}", done.stdout)
    return done.stdout.partition("\nNext\n")[2]


def the_page():
    make_tree()
    path = f"{os.getcwd()}/bin:{os.environ['PATH']}"
    stand_in("web/build", "echo $1 >built")
    seen = last_lines(path)
    check("kaiseki serve " in seen and "http://127.0.0.1:8080/" in seen, "it ends with the page's address", seen)
    check(pathlib.Path("built").read_text() == "build/quickstart/wasm\n", "the page was built")
    again = r"^  cmake/install-packages page && ./quickstart "
    os.remove("built")
    for program, says in (("cmake/find-node", "expected Node 20.19"), ("cmake/install-packages", "This needs root")):
        stand_in(program, f'[ "$1" = build ] && exit; echo "{says}" >&2; exit 1')
        seen = last_lines(path, says=f"left out: {says}")
        check("kaiseki serve" not in seen and re.search(again + ".*for a page", seen, re.M), "it says what is missing", seen)
        check(not os.path.exists("built"), "it does not try to build the page")
        stand_in(program, f"echo {os.getcwd()}/bin:")
    stand_in("web/build", "exit 1")
    seen = last_lines(path)
    check("kaiseki serve" not in seen and re.search(again + ".*again", seen, re.M),
          "it says what to do if the page could not be built", seen)
    os.makedirs("without")
    for program in "awk basename bash cat cut dirname env mkdir nproc sed sh sleep tail tee timeout".split():
        os.symlink(shutil.which(program), f"without/{program}")
    os.symlink("../bin/cmake", "without/cmake")
    seen = last_lines(os.path.abspath("without"))
    check("kaiseki serve" not in seen and re.search(again + ".*for a page", seen, re.M), "it says what to do without npm", seen)


def progress_in_a_file():
    make_tree()
    # Simulates packages and a build of 12 s, because a line comes every 10 s.
    stand_in("cmake/install-packages", '[ "$1" = build ] && sleep 12; exit 0')
    stand_in("bin/cmake", 'case "$*" in *--target*) for i in $(seq 12); do echo "[$i/12] built"; sleep 1; done ;; esac')
    os.remove("bin/npm")
    done = subprocess.run(["./quickstart", "--data", "digits:100", "--epochs", "0"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "KAISEKI_CACHE_DIR": os.path.abspath("cache"), "OCL_ICD_VENDORS": os.path.abspath("none"),
                               "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    check(done.returncode == 0, "ends well", done.stdout + done.stderr)
    lines = re.findall(r"^  \[(\d+)/12\] (\d+) s$", done.stdout, re.M)
    check(1 <= len(lines) <= 4 and all(int(seconds) >= 10 for _, seconds in lines), "a line every 10 s of the build", done.stdout)
    check(len(re.findall(r"^  installing 1\d s$", done.stdout, re.M)) == 1, "a line for packages", done.stdout)
    check("computing on the CPU" not in done.stdout + done.stderr, "no warning where there is no driver", done.stderr)
    check(len(re.findall("this machine has", done.stdout)) == 1, "one line says what to install", done.stdout)


main(stalling_mirrors, the_page, progress_in_a_file)
