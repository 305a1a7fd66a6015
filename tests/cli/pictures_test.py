#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of any size, as networks for ImageNet are given them: --resize, crops, the speed, and waiting for data."""
import json
import os
import pathlib
import re

from npy import write_png
from support import check, main, refuses, skip, works

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


def the_weights_know_the_size():
    data = tree([90, 64, 37, 300] * 4)
    net = network(56)
    train = ("train", net, "--data", data, "--epochs", 1, "--batch-size", 4, "--augment", "crop,flip", "--checkpoint", "runs")
    works(*train, "--resize", 64, "--save", "w.safetensors", "--log", "log.jsonl")
    lines = [json.loads(line) for line in open("log.jsonl")]
    check(all(line["data_wait"] >= 0 for line in lines), "the log says how long training waited", str(lines))
    other = works(*train, "--resize", 60, "--resume", "--epochs", 2)
    check("--resize 60, there 64" in other.stderr, "--resume warns of another size", other.stderr)
    own, same, whole = (works("eval", net, "--weights", "w.safetensors", "--data", data, "--json", *how).stdout
                        for how in ((), ("--resize", 64), ("--resize", 56)))
    check(own == same, "eval resizes as training did", own + same)
    check(json.loads(whole)["samples"] == 2, "and otherwise when it is told to", whole)
    picture = "tree/light/0.png"
    first, second = (works("predict", net, "--weights", "w.safetensors", picture, "--json", *how).stdout
                     for how in ((), ("--resize", 64)))
    check(first == second and "light" in first, "predict too", first + second)
    refuses(["--resize"], "eval", net, "--data", data, "--resize", 0)


def waiting_is_told():
    write_png("big.png", 2000, 90)
    for i in range(200):
        link = pathlib.Path("many", "ab"[i % 2], f"{i}.png")
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(os.path.abspath("big.png"), link)
    done = works("train", network(56), "--data", "many", "--epochs", 1, "--eval-every", 0, "--workers", 1)
    check(len(re.findall(r"^training waited for data \d+ % of the time: more --workers", done.stdout, re.M)) == 1,
          "one line of advice", done.stdout)


def the_speed():
    data = tree([300] * 6)
    lines = works("bench", "data", data, "--threads", 2, "--batch-size", 4, "--seconds", 0.05, "--repeat", 1).stdout
    line = json.loads(lines)
    check(line["images_per_second"] > 0 and line["threads"] == 2 and line["decoder"] in ("libjpeg-turbo", "stb_image"),
          "pictures a second", lines)
    refuses(["bench data"], "bench", "data")


def the_real_ones():
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
    check(found["samples"] == 64 and 0 < found["loss"] < 50, "evaluated on the centre", str(found))


main(the_weights_know_the_size, waiting_is_told, the_speed, the_real_ones)
