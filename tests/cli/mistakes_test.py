#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad command lines and the line that each prints. The table is mistakes.txt. An entry is a command line as for a shell.
The line below it, indented by two, is the first line on standard error after "kaiseki: ". PREFIX is the folder of the
installed files. DEVICES is what --device accepts. `KAISEKI_WRITE_MISTAKES=1 mistakes_test.py KAISEKI` writes the messages
of this command into the table.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess

from npy import write_npy
from support import KAISEKI, ROOT, check, device_forms, main

INSTALLED = str(pathlib.Path(KAISEKI).parent.parent)
TABLE = pathlib.Path(__file__).resolve().with_name("mistakes.txt")


def make_files():
    """The files that the command lines name."""
    (pathlib.Path("empty")).mkdir()
    for name in ("empty.tar", "bad.safetensors", "bad.tar", "bad.onnx"):
        pathlib.Path(name).write_bytes(b"\x00\x01\x02" if name.startswith("bad") else b"")
    pathlib.Path("bad.json").write_text('{"layers": [{"type": "conv')
    pathlib.Path("file.txt").write_text("hello\n")
    pathlib.Path("token").write_text("0123456789abcdef0123456789abcdef\n")

    def network(name, shape, *layers):
        pathlib.Path(name).write_text(json.dumps({"inputs": {"x": {"shape": shape}}, "layers": layers}))

    network("esc.json", [3], {"name": "a\x1b[31m", "type": "nothing"})
    network("vector.json", [3], {"name": "a", "type": "fully_connected", "output_size": 3})
    network("few.json", [1, 28, 28], {"name": "a", "type": "fully_connected", "output_size": 3})
    network("huge.json", [1 << 20], {"name": "a", "type": "fully_connected", "output_size": 1 << 20})
    write_npy("x.npy", (1, 1, 28, 28), [0] * 784)
    write_npy("gy.npy", (1, 10), [0] * 10)


def table():
    """(command line, message) of each entry."""
    lines = TABLE.read_text().splitlines()
    return list(zip((line for line in lines[::2]), (line.removeprefix("  ") for line in lines[1::2])))


def run(entry):
    """The status and the lines on standard error. bash splits the command line."""
    env = {**os.environ, "KAISEKI_DEVICE": "cpu", "KAISEKI_STATE_DIR": os.path.abspath("state"), "COMMAND": KAISEKI}
    script = 'kaiseki() { exec "$COMMAND" "$@"; }; ' + entry[0]
    try:
        done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, ["no end"]
    said = done.stderr.replace(INSTALLED, "PREFIX").replace(f"expected {device_forms()}, got", "expected DEVICES, got")
    return done.returncode, said.splitlines()


def bad_command_lines():
    make_files()
    os.symlink(ROOT / "models", "models")
    entries = table()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, entries))
    if "KAISEKI_WRITE_MISTAKES" in os.environ:
        TABLE.write_text("".join(f"{line}\n  {(said or [''])[0].removeprefix('kaiseki: ')}\n"
                                 for (line, _), (_, said) in zip(entries, results)))
    check(len(entries) >= 300, "300 command lines", str(len(entries)))
    for (line, message), (status, said) in zip(entries, results):
        check(status == 1 and said[:1] == ["kaiseki: " + message], line, f"expected 1, {message}\ngot      {status}, {said}")


main(bad_command_lines)
