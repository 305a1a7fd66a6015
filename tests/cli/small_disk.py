# SPDX-License-Identifier: MIT
"""Small disks: tmpfs in the test's own mount namespace."""
import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys

from support import main, skip


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
    """Fills the disk except for about `leave` bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with open(disk / "filler", "wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, free - leave)


def with_own_disks(*tests):
    """As main(), but the tests may call disk_of()."""
    if "--inside" in sys.argv:
        main(*tests)
    inside = ["unshare", "--user", "--mount", "--map-root-user"]
    try:
        allowed = subprocess.run([*inside, "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /mnt"], capture_output=True, text=True)
        problem = allowed.stderr.strip()
    except OSError as error:
        allowed, problem = None, str(error)
    if allowed is None or allowed.returncode != 0:
        skip(f"full disks are not tested: tmpfs in a namespace failed: {problem}")
        main()
    sys.exit(subprocess.run([*inside, sys.executable, *sys.argv, "--inside"]).returncode)
