#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""After a killed process, a full disk, a damaged file or a diverging loss, good checkpoints remain."""
import os
import pathlib
import random
import resource
import signal
import time

from support import check, kaiseki, main, refuses, start, train, until, works, LENET

DATA = ["--data", "digits:100:1", "--test-limit", 10]


def killed_while_writing():
    generator = random.Random(5)
    folder = pathlib.Path("run")
    for _ in range(25):
        process = start("train", LENET, *DATA, "--epochs", 100000, "--keep", 2, "--checkpoint", folder,
                        *(["--resume"] if folder.exists() else []))
        until(lambda: process.poll() is not None or list(folder.glob("checkpoint-*.safetensors")), step=0.002)
        time.sleep(generator.uniform(0.02, 0.15))  # a time within or between two writes
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        check(process.returncode == -signal.SIGKILL, "runs until it is killed", out + err)
        files = sorted(folder.glob("*.safetensors"))
        newest = [file for file in files if file.name.startswith("checkpoint")][-1]
        for file in {newest, *[file for file in files if file.name == "best.safetensors"]}:
            works("eval", LENET, *DATA[:2], "--limit", 10, "--weights", file)
    done = works("train", LENET, *DATA, "--epochs", 0, "--checkpoint", folder, "--resume")
    check("warning" not in done.stderr, "no checkpoint is damaged", done.stderr)
    check(not list(folder.glob("*.tmp-*")), "half-written files are removed")


def full_disk():
    os.symlink("/dev/full", "full.safetensors")
    refuses(["No space left on device", "full.safetensors"], "train", LENET, *DATA, "--epochs", 1, "--save",
            "full.safetensors")
    train("--epochs", 1, "--checkpoint", "run", data="digits:100:1")
    before = {file.name: file.read_bytes() for file in pathlib.Path("run").iterdir()}

    def limit_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    done = kaiseki("train", LENET, *DATA, "--epochs", 3, "--checkpoint", "run", "--resume", preexec_fn=limit_files)
    check(done.returncode == 1 and "File too large" in done.stderr.splitlines()[-1], "it reports the error", done.stderr)
    check("epoch 3/3" in done.stdout, "training continues to its end", done.stdout)
    after = {file.name: file.read_bytes() for file in pathlib.Path("run").iterdir()}
    check(before == after, "the earlier checkpoints stay, and no other file", str(sorted(after)))


def damaged_checkpoints():
    train("--epochs", 3, "--checkpoint", "run", data="digits:100:1")
    files = sorted(pathlib.Path("run").glob("checkpoint-*"))
    check(len(files) == 3, "the last three are kept", str(files))
    whole = files[-1].read_bytes()
    flipped = bytearray(whole)
    flipped[-len(whole) // 3] ^= 0x40  # of a weight or a momentum
    for what, damaged in (("half", whole[:len(whole) // 2]), ("a flipped bit", bytes(flipped))):
        files[-1].write_bytes(damaged)
        refuses([files[-1].name], "eval", LENET, *DATA[:2], "--weights", files[-1])
        done = works("train", LENET, *DATA, "--epochs", 3, "--checkpoint", "run", "--resume")
        check("damaged" in done.stderr and files[-2].name in done.stdout, f"{what}: the checkpoint before it is used", done.stderr)
    for file in pathlib.Path("run").glob("checkpoint-*"):
        file.write_bytes(b"\xff" * 100)
    done = kaiseki("train", LENET, *DATA, "--checkpoint", "run", "--resume", "--epochs", 4)
    check(done.returncode == 1 and "no checkpoint can be read" in done.stderr.splitlines()[-1], "no checkpoint is left",
          done.stderr)


def exploding_loss():
    train("--epochs", 2, "--checkpoint", "run", data="digits:100:1")
    kept = sorted(os.listdir("run"))
    done = kaiseki("train", LENET, *DATA, "--epochs", 6, "--lr", 1e30, "--checkpoint", "run", "--resume", "--save",
                   "w.safetensors")
    line = done.stderr.strip().splitlines()[-1]
    check(done.returncode == 1 and "expected a finite loss" in line and "checkpoint-00000004" in line,
          "it stops and names the last good checkpoint", done.stderr)
    check(sorted(os.listdir("run")) == kept and not os.path.exists("w.safetensors"), "no bad file is written")
    works("eval", LENET, *DATA[:2], "--weights", "run")


main(killed_while_writing, full_disk, damaged_checkpoints, exploding_loss)
