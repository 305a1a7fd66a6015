#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./quickstart with mirrors that accept and then send nothing. It shows how long it has waited, and gives up after its
patience. Then it trains on digits. It ends with how to open the page that trains. Fakes replace the packages and
builds. The copy under test has shorter times.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

from support import KAISEKI, ROOT, check, main, on_a_terminal

TIMES = {"patience=40 ": "patience=6 ", "line_every=10 ": "line_every=2 "}  # in seconds: those of the script and of its copy


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
    script = (ROOT / "quickstart").read_text()
    for time, shorter in TIMES.items():
        check(script.count(f"\n{time}") == 1, f"the script sets {time}", script)
        script = script.replace(f"\n{time}", f"\n{shorter}")
    pathlib.Path("quickstart").write_text(script)
    os.chmod("quickstart", 0o755)


def stalling_mirrors():
    make_tree()
    proxy = Stalling()
    status, seen = on_a_terminal(["./quickstart", "--device", "cpu"], {
        "https_proxy": proxy.url, "http_proxy": proxy.url, "no_proxy": "", "KAISEKI_CACHE_DIR": os.path.abspath("cache"),
        "KAISEKI_DATA": None, "TERM": "xterm", "LANG": "C.UTF-8", "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", seen)
    check(status == 0, "it ends with status 0", f"{status}\n{plain}")
    waited = [int(found) for found in re.findall(r"downloading train-images-idx3-ubyte.gz.*?at most 6 s, (\d+) s", plain)]
    check(len(set(waited)) > 1 and waited == sorted(waited), "it shows how long it has waited", f"{waited}\n{plain}")
    check("not here within 6 s" in plain, "it gives up after its patience", plain)
    check("generated digits instead" in plain, "it names the data that it uses instead", plain)
    found = re.search(r"LeNet is right on ([\d.]+) %", plain)
    print(f"right on {found and found[1]} % of digits")
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
    # These stand-ins end when the output has their second line, so each shows at least two.
    wait = 'for i in $(seq 1000); do [ "$(grep -c "%s" output)" -ge 2 ] && break; sleep 0.1; done'
    stand_in("cmake/install-packages", wait % "^  installing ")
    stand_in("web/build", wait % "^  the page's own parts, from npm ")
    stand_in("bin/cmake", f"""case "$*" in *--target*) i=0
        {wait % "^  .[0-9]*/99. "} & while kill -0 $! 2>/dev/null; do echo "[$((i += 1))/99] built"; sleep 0.2; done ;; esac""")
    with open("output", "w") as output:
        done = subprocess.run(["./quickstart", "--data", "digits:100", "--epochs", "0"], stdout=output, stderr=subprocess.PIPE,
                              text=True, timeout=300,
                              env={**os.environ, "KAISEKI_CACHE_DIR": os.path.abspath("cache"), "OCL_ICD_VENDORS": os.path.abspath("none"),
                                   "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    seen = pathlib.Path("output").read_text()
    check(done.returncode == 0, "ends well", seen + done.stderr)
    for what, line in (("the packages", "installing"), ("the build", r"\[\d+/99\]"), ("the page", "the page's own parts, from npm")):
        shown = [int(seconds) for seconds in re.findall(rf"^  {line} (\d+) s$", seen, re.M)]
        steps = [after - before for before, after in zip([0, *shown], shown)]
        check(len(shown) >= 2 and min(steps) >= 2, f"lines for {what}, at least 2 s apart", seen)
    check("computing on the CPU" not in seen + done.stderr, "no warning where there is no driver", done.stderr)
    check(len(re.findall("^  no GPU: this machine has .* GPU", seen, re.M)) == 1, "one line says what to install", seen)


main(stalling_mirrors, the_page, progress_in_a_file)
