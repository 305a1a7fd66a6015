#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A disk that is really full, a small tmpfs in a mount namespace of this process's own: every file that the command
writes says so, training goes on, and what was saved before stays."""
import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys

from support import LENET, check, kaiseki, main, skip, works

DATA = ["--data", "digits:100:1", "--test-limit", 10]
FULL = "No space left on device"
CHECKPOINT_BYTES = 3_500_000  # LeNet's 431,080 weights and as many of momentum, 4 bytes each


@contextlib.contextmanager
def disk_of(megabytes):
    os.mkdir("disk")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", b"disk", b"tmpfs", 0, f"size={megabytes}m".encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    try:
        yield pathlib.Path("disk")
    finally:
        libc.umount(b"disk")


def fill(disk, leave):
    """All of the disk but about `leave` bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "filler").write_bytes(b"x" * (free - leave))


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
        check(contents(disk) == before, "the weights before stay, and nothing else", str(os.listdir(disk)))
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
        check("epoch 3/3" in done.stdout, "training goes on to its end", done.stdout)
        after = contents(run)
        after_kept = {name: body for name, body in after.items() if name != "best.safetensors"}
        check(after_kept == {name: body for name, body in before.items() if name != "best.safetensors"},
              "the earlier checkpoint stays, and nothing half written", str(sorted(after)))
        (disk / "filler").unlink()
        done = works("train", LENET, *DATA, "--epochs", 3, "--checkpoint", run, "--resume")
        check("continuing from" in done.stdout, "with room again the run goes on", done.stdout)


def a_full_disk_for_the_log():
    with disk_of(2) as disk:
        fill(disk, 0)
        done = kaiseki("train", LENET, *DATA, "--epochs", 2, "--log", disk / "run.jsonl", "--log-every", 1, "--save",
                       "w.safetensors")
        check(done.returncode == 1 and FULL in one_line(done) and "disk/run.jsonl" in one_line(done),
              "--log says that the disk is full", done.stderr)
        check("epoch 2/2" in done.stdout and os.path.exists("w.safetensors"), "training goes on, its weights are saved",
              done.stdout)


if "--inside" in sys.argv:
    main(a_full_disk_for_save, a_full_disk_for_checkpoints, a_full_disk_for_the_log)
inside = ["unshare", "--user", "--mount", "--map-root-user"]
try:
    allowed = subprocess.run([*inside, "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /mnt"], capture_output=True,
                             text=True)
    problem = allowed.stderr.strip()
except OSError as error:
    allowed, problem = None, str(error)
if allowed is None or allowed.returncode != 0:
    skip(f"a full disk: no tmpfs in a namespace of one's own here: {problem}")
    main()
sys.exit(subprocess.run([*inside, sys.executable, *sys.argv, "--inside"]).returncode)
