#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that was stopped and resumed ends with the same bytes as an uninterrupted one."""
import pathlib
import signal

from support import check, main, refuses, start, train, until, until_logged, works, LENET

RUN = ["--epochs", 2, "--batch-size", 32, "--seed", 3, "--augment", "crop:2", "--schedule", "cosine"]


def same(a, b, what):
    check(pathlib.Path(a).read_bytes() == pathlib.Path(b).read_bytes(), what)


def resumed_after_an_epoch():
    for optimizer in ("momentum", "adam"):
        own = [*RUN, "--optimizer", optimizer, "--lr", 0.001]
        train(*own, "--save", f"{optimizer}.safetensors")
        process = start("train", LENET, "--data", "digits:600:1", "--test-limit", 100, *own, "--checkpoint", optimizer)
        first = pathlib.Path(optimizer, "checkpoint-00000019.safetensors")
        until(lambda: first.exists() or process.poll() is not None, step=0.005)
        process.kill()
        process.communicate()
        check(first.exists(), "a checkpoint after the first epoch")
        for later in pathlib.Path(optimizer).glob("checkpoint-*38*"):
            later.unlink()
        done = train(*own, "--checkpoint", optimizer, "--resume", "--save", f"{optimizer}-resumed.safetensors")
        check("continuing from" in done.stdout, "it prints that it continues", done.stdout)
        same(f"{optimizer}.safetensors", f"{optimizer}-resumed.safetensors", f"{optimizer}: resumed as straight")


def interrupted_within_an_epoch():
    train(*RUN, "--epochs", 4, "--save", "straight.safetensors", data="digits:2000:1")
    for which in (signal.SIGINT, signal.SIGTERM):
        name = which.name
        process = start("train", LENET, "--data", "digits:2000:1", "--test-limit", 100, *RUN, "--epochs", 4,
                        "--checkpoint", name, "--log", f"{name}.jsonl", "--log-every", 1)
        until_logged(process, f"{name}.jsonl", 21)
        process.send_signal(which)
        out, err = process.communicate()
        check(process.returncode == 0, f"{name}: ends with status 0", out + err)
        check("interrupted" in out and "--resume" in out, f"{name}: it prints how to continue", out)
        train(*RUN, "--epochs", 4, "--checkpoint", name, "--resume", "--save", f"{name}.safetensors",
              data="digits:2000:1")
        same("straight.safetensors", f"{name}.safetensors", f"{name}: resumed as straight")


def interrupted_without_a_folder():
    process = start("train", LENET, "--data", "digits:2000:1", "--epochs", 50, "--log", "log.jsonl", "--log-every", 1)
    until_logged(process, "log.jsonl", 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    check(process.returncode == 0 and list(pathlib.Path("lenet.checkpoint").glob("checkpoint-*.safetensors")),
          "it leaves a checkpoint", out + err)


def any_number_of_threads():
    for threads in (1, 2, 5):
        train(*RUN, "--threads", threads, "--save", f"{threads}.safetensors")
    same("1.safetensors", "2.safetensors", "1 and 2 threads give the same bytes")
    same("1.safetensors", "5.safetensors", "1 and 5 threads give the same bytes")


def rejects_other_settings():
    train("--epochs", 1, "--checkpoint", "run")
    args = ["train", LENET, "--data", "digits:600:1", "--checkpoint", "run", "--resume", "--epochs", 2]
    done = works(*args, "--batch-size", 32)
    check("steps had 64 samples, and the next steps have 32" in done.stderr and "epoch 2/2" in done.stdout,
          "another batch size continues, with a warning", done.stdout + done.stderr)
    refuses(["checkpoint-", "optimizer adam", "momentum"], *args, "--optimizer", "adam")
    refuses(["--resume", "--checkpoint"], "train", LENET, "--data", "digits:600:1", "--resume")


main(resumed_after_an_epoch, interrupted_within_an_epoch, interrupted_without_a_folder, any_number_of_threads,
     rejects_other_settings)
