#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data sets by name are found where KAISEKI_DATA says, in the forms they come in; what is not found says what to do."""
import os
import pathlib
import tarfile

from npy import write_png
from support import LENET, ROOT, check, kaiseki, main, refuses, skip, works

CIFAR = ROOT / "models/cifar.json"
NO_NETWORK = {"https_proxy": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1", "KAISEKI_CACHE_DIR": "cache"}


def pictures_of_cifar():
    """A cifar10/ folder that holds one tar.gz of JPEG or PNG, train/CLASS/ and test/CLASS/ in it."""
    for part, count in (("train", 3), ("test", 2)):
        for level, name in enumerate(("airplane", "truck")):
            for i in range(count):
                write_png(pathlib.Path("tree", part, name, f"{i}.png"), 32, 100 * level + i)
    os.makedirs("data/cifar10")
    with tarfile.open("data/cifar10/cifar10-jpg.tar.gz", "w:gz") as archive:
        for part in ("train", "test"):
            archive.add(f"tree/{part}", part)
    env = {**NO_NETWORK, "KAISEKI_DATA": "data"}
    done = works("train", CIFAR, "--data", "cifar10", "--epochs", 1, "--save", "w.safetensors", env=env)
    check("cifar10 (6 + 4 samples)" in done.stdout, "the tar of pictures is the set", done.stdout)
    check("airplane" in works("eval", CIFAR, "--weights", "w.safetensors", "--data", "cifar10", env=env).stdout,
          "with the names of its classes")


def the_real_one():
    folder = pathlib.Path(os.environ.get("KAISEKI_DATA", ""), "cifar10")
    if not (folder / "cifar10-jpg.tar.gz").exists():
        skip("cifar10/cifar10-jpg.tar.gz is not in KAISEKI_DATA")
        return
    done = works("train", CIFAR, "--data", "cifar10", "--epochs", 0, env=NO_NETWORK)
    check("50,000 + 10,000 samples" in done.stdout, "CIFAR-10 from a tar of JPEG", done.stdout)


def what_to_do_without():
    here = {**NO_NETWORK, "KAISEKI_DATA": os.path.abspath("nothing")}
    for name, network in (("cifar10", CIFAR), ("mnist", LENET)):
        done = kaiseki("train", network, "--data", name, "--epochs", 0, env=here)
        line = done.stderr.strip().splitlines()[-1]
        check(done.returncode == 1 and all(word in line for word in (
            os.path.abspath("nothing") + f"/{name}", f"cache/data/{name}", f"has {name}/", "digits", "by hand")),
            f"{name}: where it was looked for, and what to do", done.stderr)
    refuses(["mnist, fashion-mnist, cifar10, digits, or a path", "'minst'"], "train", LENET, "--data", "minst")
    os.makedirs("nothing/cifar10")
    pathlib.Path("nothing/cifar10/readme.txt").touch()
    refuses([".jpg, .jpeg, .png", "nothing/cifar10"], "train", CIFAR, "--data", "cifar10", env=here)


main(pictures_of_cifar, the_real_one, what_to_do_without)
