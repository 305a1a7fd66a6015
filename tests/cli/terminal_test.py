#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Output on a terminal: it fits the width, and a change of the width leaves nothing behind."""
import atexit
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

from npy import write_png
from support import check, main, start, until, works, KAISEKI, LENET

SETTINGS = {"KAISEKI_DEVICE": "cpu", "TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}


class Terminal:
    """A terminal that breaks long lines again if its width changes. It stores unbroken lines and a cursor position."""

    def __init__(self, width):
        self.width, self.lines, self.row, self.column, self.drawn = width, [""], 0, 0, []

    def write(self, text):
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|.", text, re.S):
            line = self.lines[self.row]
            if part == "\r":
                self.column -= self.column % self.width
            elif part == "\n":
                self.row, self.column = self.row + 1, 0
                self.lines[self.row:self.row] = [""]
            elif part == "\x1b[J":
                self.drawn.append(line[:self.column])
                self.lines[self.row] = line[:self.column]
                del self.lines[self.row + 1:]
            elif part == "\x1b[K":
                self.drawn.append(line[:self.column])
                end = self.column - self.column % self.width + self.width
                self.lines[self.row] = line[:self.column] + line[end:]
            elif part[0] != "\x1b":
                self.lines[self.row] = line[:self.column].ljust(self.column) + part + line[self.column + 1:]
                self.column += 1


def on_terminal(width, *arguments, then=None):
    """Runs kaiseki on a terminal of this width. `then` is the width after the first live line. Returns the terminal."""
    child, master = pty.fork()
    if child == 0:
        os.environ.update(SETTINGS)
        os.execv("/bin/sh", ["sh", "-c", f'stty cols {width} && exec "$0" "$@"', KAISEKI, *map(str, arguments)])
    terminal = Terminal(width)
    while select.select([master], [], [], 120)[0]:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        while part[-1] & 0x80:  # a character that is not complete
            part += os.read(master, 1)
            if part.decode(errors="ignore").encode() == part:
                break
        terminal.write(part.decode(errors="replace"))
        if then and terminal.drawn and terminal.width != then:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, then, 0, 0))
            terminal.width = then
    check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, f"status 0 of {arguments}", "\n".join(terminal.lines))
    return terminal


TRAIN = ["train", LENET, "--data", "digits:3000:1", "--test-limit", 100, "--epochs", 2]


def eighty_columns():
    shown = on_terminal(80, *TRAIN)
    check(all(len(line) <= 80 for line in shown.lines if not line.startswith("weights ")), "all lines fit 80 columns",
          "\n".join(shown.lines))
    check(len([line for line in shown.lines if line.startswith("epoch ")]) == 2, "one line for each epoch", "\n".join(shown.lines))
    live = [line for line in shown.drawn if line.startswith("epoch") and " 0 images/s" not in line]
    check(live and all(re.fullmatch(r"epoch \d/2  [━╸ ]{8,40}  .*loss [\d.]+  accuracy .* left", line) and len(line) < 80 for line in live),
          "the live line has a bar, loss, accuracy and the time left", "\n".join(live))


def a_narrower_terminal_has_no_ghosts():
    for width in (100, 60):
        shown = on_terminal(width, *TRAIN, then=45)
        check(len(shown.drawn) > 3, "the live line was drawn", str(len(shown.drawn)))
        ghosts = [line for line in shown.lines if re.search(r"━|left|^epoch (?!\d/2  loss)|epoch .*epoch \d", line)]
        check(not ghosts, f"no rest of a live line of {width} columns", "\n".join(shown.lines))


def tables_fit():
    for arguments in (["devices"], ["tune", LENET, "--batch-size", 2, "--threads", 1], ["summary", "googlenet"]):
        shown = on_terminal(80, *arguments)
        long = [line for line in shown.lines if len(line) > 80 and not line.startswith(("not available", "saved in", "memory"))]
        check(not long, f"{arguments[0]} fits 80 columns", "\n".join(long))


CIFAR = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def confusion_of_named_classes_fits():
    """Ten classes have a table. Of twenty the table does not fit, so the pairs are listed."""
    for names in (CIFAR, [f"{name} {i}" for name in CIFAR for i in (1, 2)]):
        layers = [{"name": "fc", "type": "fully_connected", "output_size": len(names)}]
        pathlib.Path("net.json").write_text(json.dumps(
            {"name": "懐石" * 15, "inputs": {"image": {"shape": [1, 8, 8]}}, "layers": layers}))
        data = pathlib.Path(str(len(names)))
        for name in names:
            for i in range(10):
                write_png(data / name / f"{i}.png", 8, 10 * names.index(name))
        train = on_terminal(80, "train", "net.json", "--data", data, "--epochs", 0, "--save", "w.safetensors")
        check(all(columns_of(line) <= 80 for line in train.lines if not line.startswith("weights ")), "the header fits", "\n".join(train.lines))
        shown = on_terminal(80, "eval", "net.json", "--data", data, "--train-part", "--weights", "w.safetensors")
        long = [line for line in shown.lines if columns_of(line) > 80]
        check(not long, f"the confusion of {len(names)} classes fits 80 columns", "\n".join(long))
        said = "recall" if len(names) == 10 else "most confused"
        check(said in "\n".join(shown.lines), said, "\n".join(shown.lines))


STOPPED = []  # the evaluation of start_an_evaluation(), and the time since which it is stopped


def start_an_evaluation():
    """The process stops for a while, because a real evaluation of more than 10 s would keep the cores busy. The other
    tests run meanwhile.
    """
    works("train", LENET, "--data", "digits:100", "--epochs", 1, "--save", "lines.safetensors")
    process = start("eval", LENET, "--weights", "lines.safetensors", "--data", "digits:20000", "--train-part", "--batch-size", 1)
    ticks = lambda: int(pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11])
    while process.poll() is None and ticks() < 0.8 * os.sysconf("SC_CLK_TCK"):  # user time: then it evaluates
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)
    atexit.register(process.kill)
    STOPPED.extend([process, time.monotonic()])


def an_evaluation_writes_lines_to_a_file():
    process, since = STOPPED
    check(until(lambda: time.monotonic() - since > 10.5), "10 s have passed")
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()
    lines = re.findall(r"^evaluating  [\d,]+ of 20,000$", out, re.M)
    check(process.returncode == 0 and len(lines) == 1 and "\r" not in out, "one line after 10 s", out + err)


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def examples_of_the_help_work_anywhere():
    for command in ("train", "eval", "predict", "summary", "tune", "export", "bench", "run"):
        text = works(command, "--help").stdout
        check("models/" not in text, f"the examples of {command} name no file of the repository", text)
    check(not pathlib.Path("models").exists(), "this folder has no models")
    works("summary", "lenet")
    works("train", "lenet", "--data", "digits:100", "--epochs", 1)


main(start_an_evaluation, eighty_columns, a_narrower_terminal_has_no_ghosts, tables_fit, confusion_of_named_classes_fits,
     an_evaluation_writes_lines_to_a_file, examples_of_the_help_work_anywhere)
