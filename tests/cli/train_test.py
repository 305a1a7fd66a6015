#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains, logs, evaluates and predicts: the user's output with and without a terminal."""
import json
import pathlib
import re

from support import check, kaiseki, main, on_a_terminal, opencl_is_there, refuses, train, works, KAISEKI, LENET, ROOT


def learns_and_reports():
    done = train("--epochs", 3, "--save", "w.safetensors", "--log", "log.jsonl", "--log-every", 10,
                 data="digits:4000:1")
    check("\x1b" not in done.stdout and "\r" not in done.stdout, "plain lines in a pipe", repr(done.stdout))
    check(len(re.findall(r"^epoch \d/3 .*test accuracy", done.stdout, re.M)) == 3, "one line for each epoch", done.stdout)
    lines = [json.loads(line) for line in open("log.jsonl")]
    epochs = [line for line in lines if line["event"] == "epoch"]
    check([line["epoch"] for line in epochs] == [1, 2, 3], "one record for each epoch")
    check(all(set(line) >= {"step", "epoch", "loss", "accuracy", "images_per_second", "data_wait", "memory"} for line in lines),
          "all metrics in each line")
    check(all(0 <= line["data_wait"] <= line["seconds"] for line in lines), "the waiting time is at most the run's time")
    check([line["step"] for line in lines][:6] == [10, 20, 30, 40, 50, 60], "one record for ten steps")
    check(epochs[-1]["test_accuracy"] > 0.9 and epochs[-1]["loss"] < epochs[0]["loss"], "it learns", str(epochs))

    shown = works("eval", LENET, "--weights", "w.safetensors", "--data", "digits:4000:1", "--limit", 100)
    check(all(word in shown.stdout for word in ("top-1", "top-5", "recall", "loss")), "evaluation", shown.stdout)
    found = json.loads(works("eval", LENET, "--weights", "w.safetensors", "--data", "digits:4000:1", "--limit", 100,
                             "--json", "--confusion", "c.csv").stdout)
    check(found["top1"] == epochs[-1]["test_accuracy"], "the same accuracy as in training", str(found))
    rows = [line.split(",") for line in pathlib.Path("c.csv").read_text().splitlines()]
    counts = [[int(cell) for cell in row[1:]] for row in rows[1:]]
    check(sum(map(sum, counts)) == 100 and sum(counts[i][i] for i in range(10)) == round(found["top1"] * 100),
          "the confusion matrix adds up", str(rows))

    picture = ROOT / "examples" / "seven.png"
    said = works("predict", LENET, "--weights", "w.safetensors", picture, picture, "--json")
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    check(len(answers) == 2 and answers[0]["class"] == "7" and answers[0] == answers[1], "a seven", said.stdout)
    check("7" in works("predict", LENET, "--weights", "w.safetensors", picture, "--top", 2).stdout, "the prediction as text")
    refuses(["nothing.png"], "predict", LENET, "--weights", "w.safetensors", "nothing.png")
    refuses(["w.safetensors", "weights"], "eval", ROOT / "models/cifar.json", "--weights", "w.safetensors", "--data",
            "digits:100")


def starts_from_weights():
    train("--epochs", 1, "--save", "a.safetensors", "--seed", 1)
    train("--epochs", 0, "--weights", "a.safetensors", "--save", "b.safetensors", "--seed", 2)
    check(pathlib.Path("a.safetensors").read_bytes() == pathlib.Path("b.safetensors").read_bytes(), "zero epochs change nothing")
    for suffix in ("json", "tar"):
        train("--epochs", 0, "--weights", "a.safetensors", "--save", f"a.{suffix}")
        one = works("eval", LENET, "--weights", f"a.{suffix}", "--data", "digits:300:1", "--json").stdout
        two = works("eval", LENET, "--weights", "a.safetensors", "--data", "digits:300:1", "--json").stdout
        check(one == two, f"the same weights as .{suffix}", one + two)


def every_setting_trains():
    for optimizer in ("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"):
        train("--optimizer", optimizer, "--lr", 0.001, "--epochs", 1, "--weight-decay", 1e-4, "--clip-norm", 5,
              data="digits:200:1")
    train("--schedule", "step", "--step-size", 1, "--gamma", 0.5, "--warmup", 0.5, "--epochs", 2, data="digits:200:1")
    train("--schedule", "linear", "--epochs", 1, "--augment", "flip,crop", "--mean", 0.1, "--std", 0.3)
    done = train("--early-stop", 1, "--epochs", 50, "--lr", 1e-9, data="digits:100:1")
    check("stopped" in done.stdout and "no better" in done.stdout, "early stop", done.stdout)


def accumulates():
    def losses(*options):
        done = train("--epochs", 2, "--log", "log.jsonl", "--log-every", 1, "--augment", "none", *options, data="digits:200:1")
        return done.stdout, [json.loads(line)["loss"] for line in open("log.jsonl")]
    said, parts = losses("--batch-size", 16, "--accumulate", 4)
    check("2 epochs in batches of 16, 4 in a step" in said, "the header says it", said)
    _, whole = losses("--batch-size", 64)
    check(len(parts) == len(whole) == 8, "a record for each of four steps an epoch", f"{parts} {whole}")
    check(all(abs(a - b) < 1e-4 * b for a, b in zip(parts, whole)), "the losses of large minibatches", f"{parts} {whole}")
    refuses(["--accumulate", "--pool"], "train", LENET, "--data", "digits:100", "--accumulate", 2, "--pool", "serve")


def chooses_the_batch_size():
    on_opencl = [("auto:usage", "opencl")] if opencl_is_there() else []
    for how, device in [("auto", "cpu"), ("auto:usage", "cpu")] + on_opencl:
        done = train("--epochs", 1, "--batch-size", how, "--device", device, "--checkpoint", f"run-{device}-{how[5:]}",
                     data="digits:600:1")
        size = re.search(r"^batch size  \d+ \((seconds of an epoch by size: 16: |\d+ sizes from \d+ to \d+ were tried)",
                         done.stdout, re.M)
        check("in batches of an automatic size" in done.stdout and size, "the first lines show the choice", done.stdout)
    noise = train("--epochs", 2, "--batch-size", "auto:noise", data="digits:600:1").stdout
    check(re.search(r"^batch size  at most \d+ ", noise, re.M)
          and re.search(r"^batch size  \d+ from epoch 2 on \((gradient noise scale|no gradient)", noise, re.M),
          "the largest size, and that of the noise", noise)
    scaled = train("--epochs", 2, "--batch-size", "auto", "--lr", 0.001, "--scale-lr", "linear", "--log", "scaled.jsonl",
                   "--log-every", 1, data="digits:600:1").stdout
    chosen = int(re.search(r"^batch size  (\d+)", scaled, re.M)[1])
    lines = [json.loads(line) for line in open("scaled.jsonl")]
    rate = [line["learning_rate"] for line in lines if "learning_rate" in line][-1]
    check(abs(rate - 0.001 * chosen / 64) < 1e-6, "the rate is in proportion to the size", f"{rate} for {chosen}")
    little = train("--epochs", 1, "--batch-size", "auto", "--device", "cpu", data="digits:600:1", env={"KAISEKI_DEVICE_MEMORY": "16M"})
    check("runs in" in little.stderr and "epoch 1/1" in little.stdout, "a size in parts is tried", little.stdout + little.stderr)
    again = train("--epochs", 2, "--batch-size", "auto", "--device", "cpu", "--checkpoint", "run-cpu-", "--resume", data="digits:600:1")
    check("batch size" not in again.stdout and "epoch 2/2" in again.stdout and "steps had" not in again.stderr,
          "a resumed run keeps the size", again.stdout + again.stderr)
    refuses(["--batch-size auto", "--pool"], "train", LENET, "--data", "digits:100", "--batch-size", "auto", "--pool", "serve")
    refuses(["--batch-size", "auto:usage or auto:noise", "got 'soon'"], "train", LENET, "--data", "digits:100", "--batch-size", "soon")


def live_line():
    def look(columns, **settings):
        status, seen = on_a_terminal(
            ["/bin/sh", "-c", f"stty cols {columns} && exec {KAISEKI} train {LENET} --data digits:3000:1 "
             "--test-limit 100 --epochs 1"],
            {"KAISEKI_DEVICE": "cpu", "TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": None, **settings})
        check(status == 0, "status 0 on a terminal", seen)
        return seen

    for columns in (20, 60, 100, 200):
        text = look(columns)
        plain = re.sub(r"\x1b\[[0-9;]*[mJ]", "", text)
        drawn = [part for line in plain.split("\n")[1:] for part in line.split("\r")
                 if part.startswith("epoch 1/1") and "test" not in part]
        check(drawn and max(map(len, drawn)) < columns, f"the live line fits {columns} columns", repr(drawn))
        check("\x1b[1m" in text, "bold if colors are on")
    check("━" in text and "images/s" in text and "left" in text, "a bar, the speed and the remaining time", repr(text))
    text = look(120, NO_COLOR="1")
    check(not re.search(r"\x1b\[[0-9;]+m", text) and "\x1b[J" in text, "NO_COLOR: no colors", repr(text))


main(learns_and_reports, starts_from_weights, every_setting_trains, accumulates, chooses_the_batch_size, live_line)
