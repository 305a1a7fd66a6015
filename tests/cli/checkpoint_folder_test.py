#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The folder of a run's checkpoints. Runs are not mixed, a warning names changed settings, and a signal does not cut off
an evaluation.
"""
import base64
import json
import os
import signal
from pathlib import Path

from support import check, main, on_a_terminal, refuses, start, train, until_logged, works, KAISEKI, LENET

DATA = ["--data", "digits:200:1", "--test-limit", 10]


def contents(folder):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def a_folder_of_another_run():
    train("--epochs", 2, "--checkpoint", "run", data="digits:200:1")
    before = contents("run")
    refuses(["run/checkpoint-00000008.safetensors", "--resume", "another folder", "delete"], "train", LENET, *DATA,
            "--epochs", 1, "--checkpoint", "run")
    check(contents("run") == before, "the folder is unchanged")
    done = works("train", LENET, *DATA, "--epochs", 3, "--checkpoint", "run", "--resume")
    check("continuing from run/checkpoint-00000008" in done.stdout, "--resume continues", done.stdout)


def interrupt_when(log_lines, *arguments):
    """Sends Ctrl-C to a run when its log has that many lines. Returns the run's output."""
    log = Path("interrupted.jsonl")
    log.unlink(missing_ok=True)
    process = start("train", LENET, *arguments, "--log", log, "--log-every", 1)
    until_logged(process, log, log_lines)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    check(process.returncode == 0, "status 0 after Ctrl-C", out + err)
    return out, [json.loads(line) for line in log.read_text().splitlines()]


def every_rescue_has_its_own_folder():
    run = ["--data", "digits:4000:1", "--test-limit", 10, "--epochs", 50]
    first, _ = interrupt_when(40, *run)
    check("--checkpoint lenet.checkpoint --resume" in first, "it prints the folder", first)
    before = contents("lenet.checkpoint")
    second, lines = interrupt_when(5, *run, "--seed", 2)
    check("--checkpoint lenet.checkpoint-2 --resume" in second, "the second run has another folder", second)
    check(contents("lenet.checkpoint") == before, "the first folder is unchanged")
    done = works("train", LENET, *run[:-1], 0, "--seed", 2, "--checkpoint", "lenet.checkpoint-2", "--resume")
    check("continuing from lenet.checkpoint-2/checkpoint-" in done.stdout, "--resume continues the second run", done.stdout)
    newest = sorted(before)[-1]
    check(int(newest[11:19]) > lines[-1]["step"], "the second run had fewer steps", f"{newest} {lines[-1]}")


def other_settings_are_named():
    run = ["train", LENET, *DATA, "--checkpoint", "run"]
    works(*run, "--epochs", 1, "--lr", 0.02, "--mean", 0.1)
    same = works(*run, "--epochs", 2, "--lr", 0.02, "--mean", 0.1, "--resume")
    check(same.stderr == "", "more epochs at a constant rate are not another setting", same.stderr)
    other = works("train", LENET, "--data", "digits:200:5", "--test-limit", 10, "--checkpoint", "run", "--resume",
                  "--epochs", 3, "--schedule", "cosine", "--seed", 7)
    line = other.stderr.strip()
    check("\n" not in line and line.startswith("kaiseki: warning: "), "one warning", line)
    for part in ("--lr 0.01, there 0.02", "--data digits:200:5, there digits:200:1", "--mean none, there 0.1",
                 "--schedule cosine, there constant", "--epochs 3, there none", "--seed 7, there 0"):
        check(part in line, f"names {part}", line)
    check("--momentum" not in line and "--std" not in line, "only the changed settings are named", line)


def interrupted_evaluation_finishes():
    run = ["--data", "digits:80000:1", "--limit", 640, "--test-limit", 8000, "--early-stop", 3, "--lr", 0.001]
    arguments = [*run, "--epochs", 2, "--checkpoint", "run", "--log", "log.jsonl", "--log-every", 1]
    status, out = on_a_terminal([KAISEKI, "train", LENET, *map(str, arguments)], {"KAISEKI_DEVICE": "cpu", "KAISEKI_THREADS": "1", "TERM": "xterm"},
                                interrupt_at=b"evaluating")
    check(status == 0, "status 0 after Ctrl-C", out)
    lines = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    check(lines[9]["event"] == "epoch" and "test_accuracy" in lines[9] and lines[9]["step"] == 10,
          "the epoch's evaluation is in the log", str(lines))
    check("evaluating, then stopping" in out and "interrupted" in out and len(lines) <= 11,
          "it was interrupted during that evaluation", out)
    works("train", LENET, *run, "--epochs", 2, "--checkpoint", "run", "--resume")
    works("train", LENET, *run, "--epochs", 2, "--checkpoint", "straight")
    for name in ("best.safetensors", "checkpoint-00000020.safetensors"):
        check(Path("run", name).read_bytes() == Path("straight", name).read_bytes(),
              f"{name} equals that of an uninterrupted run")


def early_stop_needs_evaluations():
    refuses(["--early-stop", "--eval-every 0"], "train", LENET, *DATA, "--early-stop", 2, "--eval-every", 0)
    refuses(["--early-stop", "-1"], "train", LENET, *DATA, "--early-stop", -1)
    refuses(["--eval-every", "-1"], "train", LENET, *DATA, "--eval-every", -1)


def a_folder_of_pictures():
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg==")
    for name in "0123":
        Path("pictures", name).mkdir(parents=True)
        for i in range(20):
            Path("pictures", name, f"{i:02}.png").write_bytes(png)
    train("--epochs", 0, "--save", "w.safetensors", data="digits:100:1")
    works("eval", LENET, "--weights", "w.safetensors", "--data", "pictures", "--train-part", "--limit", 8, "--confusion",
          "c.csv")
    rows = [line.split(",") for line in Path("c.csv").read_text().splitlines()[1:]]
    check([sum(map(int, row[1:])) for row in rows] == [2] * 4 + [0] * 6, "two of each class", str(rows))

    os.rename("pictures", b"caf\xe9")
    done = train("--epochs", 1, "--checkpoint", "run", data=os.fsdecode(b"caf\xe9"), errors="replace")
    check(done.stderr == "", "a path that is not UTF-8 can be saved", done.stderr)


main(a_folder_of_another_run, every_rescue_has_its_own_folder, other_settings_are_named,
     interrupted_evaluation_finishes, early_stop_needs_evaluations, a_folder_of_pictures)
