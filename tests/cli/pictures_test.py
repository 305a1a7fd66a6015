#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of any size, prepared as for ImageNet networks: --resize, crops, speed, and waiting for data."""
import json
import os
import pathlib
import re

from npy import write_png
from support import ROOT, check, main, refuses, skip, works

LAYERS = [
    {"name": "conv", "type": "convolution", "output_channels": 4, "kernel_size": 11, "stride": 8},
    {"name": "relu", "type": "relu"},
    {"name": "pool", "type": "max_pooling", "kernel_size": 3, "stride": 3},
    {"name": "fc", "type": "fully_connected", "output_size": 1000},
    {"name": "loss", "type": "softmax_cross_entropy"}]
IMAGENET = ("--resize", 256, "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225")


def network(side):
    pathlib.Path("net.json").write_text(json.dumps(
        {"name": "small", "inputs": {"image": {"shape": [3, side, side]}}, "layers": LAYERS}))
    return "net.json"


def tree(sides):
    for i, side in enumerate(sides):
        write_png(pathlib.Path("tree", "dark" if i % 2 else "light", f"{i}.png"), side, 40 if i % 2 else 200)
    return "tree"


def weights_hold_the_size():
    data = tree([90, 64, 37, 300] * 4)
    net = network(56)
    train = ("train", net, "--data", data, "--epochs", 1, "--batch-size", 4, "--augment", "crop,flip", "--checkpoint", "runs")
    works(*train, "--resize", 64, "--save", "w.safetensors", "--log", "log.jsonl")
    lines = [json.loads(line) for line in open("log.jsonl")]
    check(all(line["data_wait"] >= 0 for line in lines), "the log has the waiting time", str(lines))
    other = works(*train, "--resize", 60, "--resume", "--epochs", 2)
    check("--resize 60, there 64" in other.stderr, "--resume warns of another size", other.stderr)
    own, same, whole = (works("eval", net, "--weights", "w.safetensors", "--data", data, "--json", *how).stdout
                        for how in ((), ("--resize", 64), ("--resize", 56)))
    check(own == same, "eval resizes as training did", own + same)
    check(json.loads(whole)["samples"] == 2, "and in another way when an option says so", whole)
    picture = "tree/light/0.png"
    first, second = (works("predict", net, "--weights", "w.safetensors", picture, "--json", *how).stdout
                     for how in ((), ("--resize", 64)))
    check(first == second and "light" in first, "predict does so too", first + second)
    refuses(["--resize"], "eval", net, "--data", data, "--resize", 0)


def reports_waiting():
    write_png("big.png", 4000, 90)  # slow enough to wait for a second on any machine
    for i in range(24):
        link = pathlib.Path("many", "ab"[i % 2], f"{i}.png")
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(os.path.abspath("big.png"), link)
    done = works("train", network(56), "--data", "many", "--epochs", 1, "--batch-size", 4, "--eval-every", 0,
                 "--workers", 1)
    check(len(re.findall(r"^training waited for data \d+ % of the time: use more --workers", done.stdout, re.M)) == 1,
          "one line of advice", done.stdout)


def reports_speed():
    data = tree([300] * 6)
    lines = works("bench", "data", data, "--threads", 2, "--batch-size", 4, "--seconds", 0.05, "--repeat", 1).stdout
    line = json.loads(lines)
    check(line["images_per_second"] > 0 and line["threads"] == 2 and line["decoder"] in ("libjpeg-turbo", "stb_image"),
          "pictures a second", lines)
    refuses(["expected data sets"], "bench", "data")


def real_pictures():
    archive = pathlib.Path(os.environ.get("KAISEKI_DATA", ""), "imagenet-sample", "imagenet-sample-256.tar.gz")
    if not archive.exists():
        skip("imagenet-sample/imagenet-sample-256.tar.gz is not in KAISEKI_DATA")
        return
    for workers in (1, 3):
        works("train", network(224), "--data", archive, *IMAGENET, "--augment", "crop,flip", "--epochs", 1, "--limit", 96,
              "--batch-size", 32, "--eval-every", 0, "--lr", 0.001, "--workers", workers, "--save", f"{workers}.safetensors")
    one, three = (pathlib.Path(f"{workers}.safetensors").read_bytes() for workers in (1, 3))
    check(one == three, "the same weights with any number of workers")
    found = json.loads(works("eval", "net.json", "--weights", "1.safetensors", "--data", archive, "--limit", 64,
                             "--json").stdout)
    check(found["samples"] == 64 and 0 < found["loss"] < 50, "evaluation uses the center", str(found))


def links_and_special_files():
    for name in ("dark", "light"):
        for i in range(10):
            write_png(pathlib.Path("data", name, f"{i}.png"), 8, 40 if name == "dark" else 200)
    data = ["--epochs", 1, "--eval-every", 0]
    plain = works("train", network(56), "--data", "data", *data)
    check("(18 samples)" in plain.stdout, "18 of 20 pictures are for training", plain.stdout)
    os.symlink("..", "data/up")
    os.symlink("../dark", "data/dark/again")
    os.symlink("gone.png", "data/dark/dead.png")
    os.symlink("/nowhere/dog", "data/dog")
    os.symlink("itself", "data/itself")
    os.mkfifo("data/light/pipe.png")
    done = works("train", "net.json", "--data", "data", *data)
    check("(18 samples)" in done.stdout, "links to folders above do not multiply pictures", done.stdout)
    check("data/up, which leads to a folder above" in done.stderr and "data/dark/again, which" in done.stderr,
          "such links are told", done.stderr)
    check("skipping 4 entries of data: " in done.stderr, "dead links and pipes are told", done.stderr)
    os.remove("data/dark/dead.png")
    os.remove("data/light/pipe.png")
    os.remove("data/itself")
    done = works("train", "net.json", "--data", "data", *data)
    check("skipping 1 entry of data: data/dog, a dead link" in done.stderr, "a dead link to a class is told", done.stderr)
    os.symlink("../light", "data/dark/sister")
    done = works("train", "net.json", "--data", "data", *data)
    check("(27 samples)" in done.stdout, "a link to another folder is followed", done.stdout)


def pipes_do_not_hang():
    os.mkfifo("pipe.png")
    net = network(56)
    weights = made_weights(net)
    refuses(["pipe.png", "not a JPEG or PNG picture"], "predict", net, "--weights", weights, "pipe.png")
    refuses(["pipe.png", "special file"], "train", net, "--data", "pipe.png")


def made_weights(net):
    write_png(pathlib.Path("few", "a", "1.png"), 56, 10)
    works("train", net, "--data", "few", "--epochs", 0, "--save", "made.safetensors")
    return "made.safetensors"


def phone_pictures():
    """A JPEG with an Exif block: predict turns it, unless --as-stored."""
    net = network(56)
    weights = made_weights(net)
    jpeg = (ROOT / "tests/nn/data/jpeg/half_color.jpg").read_bytes()
    block = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0" + bytes(6)
    pathlib.Path("plain.jpg").write_bytes(jpeg)
    pathlib.Path("turned.jpg").write_bytes(jpeg[:2] + b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block + jpeg[2:])
    plain, turned, stored = (json.loads(works("predict", net, "--weights", weights, "--json", *how).stdout)["probability"]
                             for how in (["plain.jpg"], ["turned.jpg"], ["turned.jpg", "--as-stored"]))
    check(plain == stored and plain != turned, "Exif is used, and ignored with --as-stored", f"{plain} {turned} {stored}")


main(links_and_special_files, pipes_do_not_hang, phone_pictures, weights_hold_the_size, reports_waiting, reports_speed, real_pictures)
