#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The end of training: the saved files after the last epoch, after Ctrl-C and after a loss that is not finite.
Also weights that are not finite, and names with control characters.
"""
import json
import os
import pathlib
import re
import signal
import struct
import unicodedata

from npy import write_png
from support import LENET, ROOT, check, kaiseki, main, refuses, start, train, until_logged, works


def state():
    return pathlib.Path(os.environ["KAISEKI_STATE_DIR"])


def last_line(done):
    return done.stdout.splitlines()[-1]


def weights_without_save():
    done = train("--epochs", 1, data="digits:100:1")
    file = state() / "weights" / "lenet.safetensors"
    check(file.exists() and str(file) in last_line(done), "the last line names the kept weights", done.stdout)
    check("top-1" in works("eval", LENET, "--weights", file, "--data", "digits:100:1").stdout, "eval takes them")
    file.unlink()
    for arguments in (["--save", "w.safetensors"], ["--checkpoint", "run"]):
        train("--epochs", 1, *arguments, data="digits:100:1")
        check(not file.exists(), f"nothing is kept besides {arguments[0]}")
    done = train("--epochs", 1, data="digits:100:1", env={"KAISEKI_STATE_DIR": "/proc/nothing"})
    check("the weights are not saved" in done.stderr, "a warning if they cannot be kept", done.stderr)


def interrupted_where_nothing_can_be_written():
    saved, here = pathlib.Path("w.safetensors").resolve(), os.getcwd()
    log = pathlib.Path("log.jsonl").resolve()
    os.chdir("/proc")
    run = ["--data", "digits:4000:1", "--test-limit", 10, "--epochs", 50, "--save", saved]
    process = start("train", LENET, *run, "--log", log, "--log-every", 1)
    until_logged(process, log, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    os.chdir(here)
    check(process.returncode == 0, "status 0", out + err)
    check(saved.exists(), "--save is written", out + err)
    folder = state() / "lenet.checkpoint"
    check(f"--checkpoint {folder} --resume" in out.splitlines()[-1], "the last line names the folder", out)
    done = works("train", LENET, *run[:4], "--epochs", 0, "--checkpoint", folder, "--resume")
    check("continuing from" in done.stdout, "--resume continues", done.stdout)


def save_that_fails_at_the_end():
    os.mkdir("gone")
    log = pathlib.Path("end.jsonl")
    process = start("train", LENET, "--data", "digits:400:1", "--test-limit", 10, "--epochs", 1, "--save", "gone/w.safetensors",
                    "--log", log, "--log-every", 1)
    until_logged(process, log, 1)
    os.rmdir("gone")
    out, err = process.communicate()
    file = state() / "weights" / "lenet.safetensors"
    check(process.returncode == 1 and "gone" in err, "status 1, and the folder is named", out + err)
    check(file.exists() and str(file) in out, "the weights are kept elsewhere", out + err)
    file.unlink()


def closed_terminal():
    """SIGHUP, twice, as a terminal may send it. After nohup it is ignored."""
    log = pathlib.Path("log.jsonl")
    run = ["train", LENET, "--data", "digits:4000:1", "--test-limit", 10, "--save", "w.safetensors", "--log", log, "--log-every", 1]
    process = start(*run, "--epochs", 50)
    until_logged(process, log, 3)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate()
    check(process.returncode == 0 and pathlib.Path("w.safetensors").exists(), "a closed terminal ends training, and --save is written",
          f"{process.returncode} {out + err}")
    log.unlink()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    process = start(*run, "--epochs", 2)
    signal.signal(signal.SIGHUP, before)
    until_logged(process, log, 3)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate()
    check(process.returncode == 0 and "epoch 2/2" in out, "nohup keeps it running", out + err)


def error_in_the_middle():
    """A damaged picture, which training reads after some steps."""
    for name in ("dark", "light"):
        for i in range(20):
            write_png(pathlib.Path("data", name, f"{i}.png"), 28, 40 if name == "dark" else 200)
    picture = pathlib.Path("data/dark/11.png")
    picture.write_bytes(picture.read_bytes()[:-20])
    kept = state() / "weights" / "lenet.safetensors"
    for arguments, file in (["--save", "w.safetensors"], pathlib.Path("w.safetensors")), ([], kept):
        done = refuses(["dark/11.png"], "train", LENET, "--data", "data", "--epochs", 1, "--batch-size", 1, "--eval-every", 0, *arguments)
        check("stopped after step " in done.stdout and f"weights     {file}" in done.stdout, "the weights of the last step", done.stdout)
        check(file.exists(), f"{file} is written")
        file.unlink(missing_ok=True)


def divergence():
    refuses(["epoch 1", "--warmup", "--clip-norm"], "train", LENET, "--data", "digits:128:1", "--batch-size", 64, "--lr", 1e30,
            "--epochs", 1)


def weights_that_are_not_finite():
    train("--epochs", 0, "--save", "w.safetensors", data="digits:100:1")
    content = bytearray(pathlib.Path("w.safetensors").read_bytes())
    size = struct.unpack("<Q", content[:8])[0]
    begin = json.loads(content[8:8 + size])["conv1.weight"]["data_offsets"][0]
    content[8 + size + begin:8 + size + begin + 4] = struct.pack("<f", float("nan"))
    # Without the checksum, as another program writes it.
    content = content.replace(b'"kaiseki_sha256"', b'"another_sha256"')
    pathlib.Path("nan.safetensors").write_bytes(content)
    picture = ROOT / "examples" / "seven.png"
    for arguments in (["eval", LENET, "--data", "digits:100:1"], ["predict", LENET, picture]):
        for json_too in ([], ["--json"]):
            done = refuses(["not finite", "conv1.weight"], *arguments, "--weights", "nan.safetensors", *json_too)
            check(done.stdout == "", "no result is printed", done.stdout)


def names_with_control_characters():
    name = "a\x1b[31mb\x07"
    layers = [{"name": name, "type": "fully_connected", "output_size": 10}]
    pathlib.Path("net.json").write_text(json.dumps({"name": name, "inputs": {"x": {"shape": [1, 28, 28]}}, "layers": layers}))
    pathlib.Path("other.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": [dict(layers[0], name="c\x1b")]}))
    train("--epochs", 0, "--save", "w.tar", data="digits:100:1")
    said = [works("summary", "net.json"), works("summary", "net.json", "--json"),
            works("train", "net.json", "--data", "digits:100:1", "--epochs", 1, "--save", "n.safetensors"),
            refuses(["a\\x1b[31mb"], "eval", "net.json", "--data", "digits:100:1", "--weights", "w.tar"),
            kaiseki("train", "other.json", "--data", "digits:100:1", "--epochs", 0, "--weights", "n.safetensors"),
            kaiseki("predict", "net.json", "--weights", "n.safetensors", "no\x1bthing.png"),
            kaiseki("bench", "gemm", "\x1b")]
    for done in said:
        check("\x1b" not in done.stdout + done.stderr and "\x07" not in done.stdout + done.stderr,
              f"no control characters from {done.args[1:3]}", repr(done.stdout + done.stderr))
    check("a\\x1b[31mb" in said[0].stdout, "the name is escaped", said[0].stdout)


def classes_with_control_characters():
    """The weights' metadata names the classes. U+009B and U+202E act on a terminal too."""
    train("--epochs", 0, "--save", "w.safetensors", data="digits:100:1")
    content = pathlib.Path("w.safetensors").read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    names = ["\x1b[31mred", "\x9b2J", "\u202ekana", "懐石", *map(str, range(4, 10))]
    header["__metadata__"].pop("kaiseki_sha256")
    header["__metadata__"]["class_names"] = "\n".join(names)
    text = json.dumps(header).encode()
    pathlib.Path("c.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size:])
    picture = ROOT / "examples" / "seven.png"
    predict = ["predict", LENET, picture, "--weights", "c.safetensors", "--top", 10]
    shown, lines = works(*predict), works(*predict, "--json")
    for done in (shown, lines, kaiseki("eval", LENET, "--weights", "c.safetensors", "--data", "digits:100:1")):
        text = done.stdout + done.stderr
        check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text), f"no control characters from {done.args[1]}", repr(text))
    check("\\xc2\\x9b2J" in shown.stdout, "they are escaped", shown.stdout)
    check("懐石" in json.loads(lines.stdout).values(), "JSON has the names", lines.stdout)
    columns = {columns_of(line[:line.index("%")]) for line in shown.stdout.splitlines()[1:]}
    check(len(columns) == 1, "the numbers are in one column", shown.stdout)


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def sums_that_do_not_fit():
    layers = [{"name": "a", "type": "convolution", "output_channels": 64, "kernel_size": 3}]
    pathlib.Path("net.json").write_text(json.dumps({"inputs": {"x": {"shape": [128, 4000, 4000]}}, "layers": layers}))
    done = kaiseki("summary", "net.json")
    check(done.returncode == 0, "the network is described", done.stderr)
    refuses(["reaches 2^63", "16777216"], "summary", "net.json", "--batch-size", 16777216)


main(weights_without_save, interrupted_where_nothing_can_be_written, save_that_fails_at_the_end, closed_terminal, error_in_the_middle,
     divergence, weights_that_are_not_finite, names_with_control_characters, classes_with_control_characters, sums_that_do_not_fit)
