#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data sets are found by name in KAISEKI_DATA, in all of their forms. If one is missing, the error says what to do."""
import json
import os
import pathlib
import struct
import tarfile

from npy import write_png
from support import LENET, ROOT, check, kaiseki, main, refuses, skip, works

CIFAR = ROOT / "models/cifar.json"
NO_NETWORK = {"https_proxy": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1", "KAISEKI_CACHE_DIR": "cache"}


def pictures_of_cifar():
    """Makes a cifar10/ folder with one tar.gz of JPEG or PNG files in train/CLASS/ and test/CLASS/."""
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
    check("cifar10 (6 + 4 samples)" in done.stdout, "the tar of pictures is the data set", done.stdout)
    check("airplane" in works("eval", CIFAR, "--weights", "w.safetensors", "--data", "cifar10", env=env).stdout,
          "the class names are kept")


def idx_of_few_classes():
    """The position of a bright bar is the class."""
    for classes in (1, 2, 9):
        folder = pathlib.Path(f"idx{classes}")
        folder.mkdir()
        for part, count in (("train", 90), ("t10k", 30)):
            labels = bytes(i % classes for i in range(count))
            pixels = b"".join((bytes(3 * label) + b"\xc8\xc8\xc8" + bytes(25 - 3 * label)) * 28 for label in labels)
            for name, shape, values in (("images-idx3", (count, 28, 28), pixels), ("labels-idx1", (count,), labels)):
                header = struct.pack(f">I{len(shape)}I", 0x800 + len(shape), *shape)
                (folder / f"{part}-{name}-ubyte").write_bytes(header + values)
        network = {"inputs": {"x": {"shape": [1, 28, 28]}},
                   "layers": [{"type": "fully_connected", "output_size": classes}]}
        pathlib.Path("net.json").write_text(json.dumps(network))
        works("train", "net.json", "--data", folder, "--epochs", 5, "--batch-size", 10, "--lr", 0.01, "--save", "w.safetensors")
        found = works("eval", "net.json", "--weights", "w.safetensors", "--data", folder).stdout
        check("top-1    100.00 %" in found, f"{classes} classes are learned", found)
        works("train", LENET, "--data", folder, "--epochs", 1, "--save", "w.safetensors")  # more outputs than classes
    refuses(["at most 9 classes", "got"], "train", "net.json", "--data", "digits:100:1")


def real_data():
    folder = pathlib.Path(os.environ.get("KAISEKI_DATA", ""), "cifar10")
    if not (folder / "cifar10-jpg.tar.gz").exists():
        skip("cifar10/cifar10-jpg.tar.gz is not in KAISEKI_DATA")
        return
    done = works("train", CIFAR, "--data", "cifar10", "--epochs", 0, env=NO_NETWORK)
    check("50,000 + 10,000 samples" in done.stdout, "CIFAR-10 from a tar of JPEG", done.stdout)


def missing_data_set():
    here = {**NO_NETWORK, "KAISEKI_DATA": os.path.abspath("nothing")}
    for name, network in (("cifar10", CIFAR), ("mnist", LENET)):
        done = kaiseki("train", network, "--data", name, "--epochs", 0, env=here)
        line = done.stderr.strip().splitlines()[-1]
        check(done.returncode == 1 and all(word in line for word in (
            os.path.abspath("nothing") + f"/{name}", f"cache/data/{name}", f"has {name}/", "digits", "yourself")),
            f"{name}: the searched folders and the remedy", done.stderr)
    refuses(["mnist, fashion-mnist, cifar10, digits or an existing path", "'minst'"], "train", LENET, "--data", "minst")
    os.makedirs("nothing/cifar10")
    pathlib.Path("nothing/cifar10/readme.txt").touch()
    refuses([".jpg, .jpeg, .png", "nothing/cifar10"], "train", CIFAR, "--data", "cifar10", env=here)


main(pictures_of_cifar, idx_of_few_classes, real_data, missing_data_set)
