#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full disk: every file that cannot be written is reported, training continues, and earlier files
stay.
"""
import os

from small_disk import disk_of, fill, with_own_disks
from support import LENET, check, kaiseki, works

DATA = ["--data", "digits:100:1", "--test-limit", 10]
FULL = "No space left on device"
CHECKPOINT_BYTES = 3_500_000  # LeNet's 431,080 weights and as many of momentum, 4 bytes each


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def one_line(done):
    return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""


def a_full_disk_for_save():
    with disk_of(8) as disk:
        works("train", LENET, *DATA, "--epochs", 0, "--save", disk / "w.safetensors")
        before = contents(disk)
        fill(disk, 500_000)
        for file in ("w.safetensors", "new.safetensors", "w.tar", "w.json"):
            done = kaiseki("train", LENET, *DATA, "--epochs", 1, "--save", disk / file)
            check(done.returncode == 1 and FULL in one_line(done) and f"disk/{file}" in one_line(done),
                  f"--save {file} says that the disk is full", done.stderr)
        (disk / "filler").unlink()
        check(contents(disk) == before, "the earlier weights stay, and no other file", str(os.listdir(disk)))
        works("eval", LENET, *DATA[:2], "--weights", disk / "w.safetensors")


def a_full_disk_for_checkpoints():
    with disk_of(24) as disk:
        run = disk / "run"
        works("train", LENET, *DATA, "--epochs", 1, "--checkpoint", run)
        before = contents(run)
        fill(disk, CHECKPOINT_BYTES // 2)
        done = kaiseki("train", LENET, *DATA, "--epochs", 3, "--checkpoint", run, "--resume")
        check(done.returncode == 1 and FULL in one_line(done) and "checkpoint-" in one_line(done),
              "--checkpoint says that the disk is full", done.stderr)
        check("epoch 3/3" in done.stdout, "training continues to its end", done.stdout)
        after = contents(run)
        after_kept = {name: body for name, body in after.items() if name != "best.safetensors"}
        check(after_kept == {name: body for name, body in before.items() if name != "best.safetensors"},
              "the earlier checkpoint stays, and no half-written file", str(sorted(after)))
        (disk / "filler").unlink()
        done = works("train", LENET, *DATA, "--epochs", 3, "--checkpoint", run, "--resume")
        check("continuing from" in done.stdout, "with room again the run continues", done.stdout)


def a_full_disk_for_the_log():
    with disk_of(2) as disk:
        fill(disk, 0)
        done = kaiseki("train", LENET, *DATA, "--epochs", 2, "--log", disk / "run.jsonl", "--log-every", 1, "--save",
                       "w.safetensors")
        check(done.returncode == 1 and FULL in one_line(done) and "disk/run.jsonl" in one_line(done),
              "--log says that the disk is full", done.stderr)
        check("epoch 2/2" in done.stdout and os.path.exists("w.safetensors"), "training continues and saves its weights",
              done.stdout)


with_own_disks(a_full_disk_for_save, a_full_disk_for_checkpoints, a_full_disk_for_the_log)
