#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX files as networks, and networks as ONNX files. ONNX's checker accepts them, and NumPy computes the same
results.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from npy import read_npy, write_npy, write_png
from support import LENET, ROOT, check, main, refuses, skip, train, works

CASES = ROOT / "tests/reference/onnx"
REFERENCE = pathlib.Path(__file__).parent / "onnx_reference.py"
LIKE_TORCH = pathlib.Path(__file__).parent / "onnx_like_torch.py"
LAYERS = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None  # the program nn_onnx_tests
# f32 against f64 through up to ten layers, with sums of up to 800 terms of size about 1.
TOLERANCE = 1e-5


def agrees(ours, theirs, what):
    (shape, values), (wanted_shape, wanted) = read_npy(ours), read_npy(theirs)
    far = [(a, b) for a, b in zip(values, wanted) if not abs(a - b) <= TOLERANCE * max(1, abs(b))]
    check(shape == wanted_shape and wanted and not far, what, f"{shape} {wanted_shape} {far[:3]}")


def python_with_onnx():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import onnx"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def networks_of_pytorch():
    files = sorted(CASES.glob("*.onnx"))
    for file in files:
        x = file.with_suffix(".x.npy")
        works("run", file, "--input", x, "--output", "y.npy")
        agrees("y.npy", file.with_suffix(".y.npy"), f"{file.name}: PyTorch's results")
        works("export", file, "--output", "again.onnx")
        works("run", "again.onnx", "--input", x, "--output", "again.npy")
        check(read_npy("again.npy") == read_npy("y.npy"), f"{file.name}: the same bits after an export")
    check(len(files) >= 14, "the files exist", str(files))


def summary_of_onnx():
    shown = works("summary", CASES / "resnet_12.onnx").stdout
    check(shown.startswith("resnet_12") and "3x19x19 -> 5" in shown and "fully_connected" in shown, "a summary", shown)
    rows = [json.loads(line) for line in works("summary", CASES / "vgg_11.onnx", "--json").stdout.splitlines()]
    check([row["parameters"] for row in rows if row["parameters"]] == [112, 148, 222, 485], "parameters", str(rows))


def to_onnx_and_back():
    """A trained network is saved as .onnx, evaluated, used for predictions and trained further. Its class names stay
    with it.
    """
    for name, level in (("cat", 5), ("dog", 120), ("emu", 250)):
        for i in range(20):
            write_png(pathlib.Path("three", name, f"{i:02}.png"), 8, level + i % 4)
    pathlib.Path("net.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 8, 8]}}, "layers": [
        {"name": "conv", "type": "convolution", "output_channels": 4, "kernel_size": 3}, {"type": "relu"},
        {"name": "fc", "type": "fully_connected", "output_size": 3}, {"type": "softmax_cross_entropy"}]}))
    works("train", "net.json", "--data", "three", "--epochs", 30, "--lr", 0.05, "--mean", 0.5, "--save", "net.onnx",
          "--checkpoint", "run")
    by_file = json.loads(works("eval", "net.onnx", "--data", "three", "--json").stdout)
    newest = max(pathlib.Path("run").glob("checkpoint-*"), key=lambda file: int(re.search(r"\d+", file.name)[0]))
    by_json = json.loads(works("eval", "net.json", "--weights", newest, "--data", "three", "--json").stdout)
    check(by_file == by_json and by_file["top1"] == 1, "the ONNX file and the JSON file are the same network", f"{by_file} {by_json}")
    check("emu" in works("predict", "net.onnx", "three/emu/00.png").stdout, "the file has the class names")
    weights = works("eval", "net.json", "--weights", "net.onnx", "--data", "three", "--json").stdout
    check(json.loads(weights) == by_file, "its weights fit the network in JSON", weights)
    works("export", "net.onnx", "--output", "w.safetensors")
    again = works("eval", "net.json", "--weights", "w.safetensors", "--data", "three", "--json").stdout
    check(json.loads(again) == by_file, "weights, names and mean survive an export", again)
    works("export", "net.json", "--weights", "w.safetensors", "--output", "same.onnx")
    check(pathlib.Path("same.onnx").read_bytes() == pathlib.Path("net.onnx").read_bytes(), "the same bytes")
    works("train", "net.onnx", "--data", "three", "--epochs", 0, "--save", "still.onnx")
    check(json.loads(works("eval", "still.onnx", "--data", "three", "--json").stdout) == by_file, "training continues from it")


def mistakes():
    refuses(["missing.onnx", "no such file"], "summary", "missing.onnx")
    pathlib.Path("empty.onnx").touch()
    refuses(["empty.onnx", "expected a graph"], "summary", "empty.onnx")
    whole = (CASES / "vgg_11.onnx").read_bytes()
    pathlib.Path("half.onnx").write_bytes(whole[:len(whole) // 2])
    refuses(["half.onnx", "byte"], "summary", "half.onnx")
    refuses(["--output", ".onnx", "net.bin"], "export", CASES / "vgg_11.onnx", "--output", "net.bin")
    refuses(["--weights"], "export", LENET, "--output", "lenet.onnx")
    pathlib.Path("even.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": [
        {"name": "even", "type": "local_response_normalization", "size": 4},
        {"type": "fully_connected", "output_size": 10}]}))
    done = refuses(["even", "odd number"], "train", "even.json", "--data", "digits:100:1", "--epochs", 1, "--save", "e.onnx")
    check("epoch" not in done.stdout, "a layer that ONNX lacks is refused before training", done.stdout)


def outputs_by_name():
    """A network of one input needs no name for it. A layer that `outputs` names gives its own output, and a layer of
    the training phase gives what it reads.
    """
    pathlib.Path("net.json").write_text(json.dumps({"inputs": {"x": {"shape": [4]}}, "layers": [
        {"name": "f", "type": "fully_connected", "output_size": 3}, {"name": "r", "type": "relu"},
        {"name": "noise", "type": "dropout", "phase": "train"},
        {"name": "loss", "type": "softmax_cross_entropy", "inputs": "f"}], "outputs": ["r", "f", "noise"]}))
    write_npy("x.npy", (2, 4), [1, -2, 3, -4, 5, 6, -7, 8])
    names = ["r", "f", "noise"]
    each = [part for name in names for part in ("--output", f"{name}={name}.npy")]
    works("run", "net.json", "--input", "x.npy", *each)
    r, f, noise = (list(read_npy(f"{name}.npy")[1]) for name in names)
    check(r == noise == [max(0, value) for value in f] and min(f) < 0, "three outputs", f"{r} {f} {noise}")
    works("run", "net.json", "--input", "x.npy", "--output", "first.npy")
    check(list(read_npy("first.npy")[1]) == r, "without a name, the first output")
    refuses(["--output", "one of the names r, f, noise", "got 'g'"], "run", "net.json", "--input", "x.npy", "--output", "g=g.npy")
    refuses(["--input", "the name x", "got 'y'"], "run", "net.json", "--input", "y=x.npy", "--output", "y.npy")
    refuses(["--output", "NAME=FILE", "got 'r='"], "run", "net.json", "--input", "x.npy", "--output", "r=")
    write_npy("g.npy", (2, 3), [1] * 6)
    refuses(["--grad-output"], "run", "net.json", "--input", "x.npy", *each, "--grad-output", "g.npy", "--grads", "g")
    pathlib.Path("two.json").write_text(json.dumps({"inputs": {"a": {"shape": [4]}, "b": {"shape": [4]}},
                                                    "layers": [{"name": "y", "type": "add", "inputs": ["a", "b"]}]}))
    works("run", "two.json", "--input", "a=x.npy", "--input", "b=x.npy", "--output", "y.npy")
    refuses(["--input: expected a file for b, got none"], "run", "two.json", "--input", "x.npy", "--output", "y.npy")

    python = python_with_onnx()
    if not python:
        return skip("python3-onnx is not installed: ONNX files with several outputs are not tested")
    subprocess.run([python, LIKE_TORCH, "torch.onnx"], check=True)
    write_npy("image.npy", (2, 3, 6, 6), [((i * 37) % 101) / 50 - 1 for i in range(216)])
    layers = [json.loads(line)["layer"] for line in works("summary", "torch.onnx", "--json").stdout.splitlines()]
    check(layers == ["conv1", "bn1", "/relu/Relu", "bn2", "/Flatten", "fc"], "the names of PyTorch's modules", str(layers))
    works("export", "torch.onnx", "--output", "again.onnx")
    for file in ("torch.onnx", "again.onnx"):
        subprocess.run([python, REFERENCE, file, "image.npy", "wanted0.npy", "wanted1.npy", "wanted.npy"], check=True)
        works("run", file, "--input", "image.npy", "--output", "out1=1.npy", "--output", "out0=0.npy",
              "--output", "same=same.npy")
        agrees("0.npy", "wanted0.npy", f"{file}: out0")
        agrees("1.npy", "wanted1.npy", f"{file}: out1")
        agrees("same.npy", "wanted0.npy", f"{file}: an output that equals another")
        refuses(["--output", "one of the names out0, out1, same", "got 'out2'"], "run", file, "--input", "image.npy",
                "--output", "out2=2.npy")


def onnx_checker_agrees():
    python = python_with_onnx()
    if not python:
        return skip("python3-onnx is not installed: ONNX files are not checked by another reader")
    train("--epochs", 0, "--save", "lenet.safetensors")
    works("export", LENET, "--weights", "lenet.safetensors", "--output", "lenet.onnx")
    shape = [2, 1, 28, 28]
    write_npy("x.npy", shape, [((i * 37) % 101) / 50 - 1 for i in range(2 * 28 * 28)])
    files = [("lenet", "x.npy")]
    pathlib.Path("axes.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": [
        {"type": "convolution", "output_channels": 3, "kernel_size": [3, 2]},
        *({"type": "batch_normalization", "axis": axis} for axis in (1, 2, 0)),
        {"type": "fully_connected", "output_size": 10}]}))
    works("train", "axes.json", "--data", "digits:100:1", "--epochs", 1, "--save", "axes.onnx")
    files.append(("axes", "x.npy"))
    for file in sorted(CASES.glob("*.onnx")):
        works("export", file, "--output", f"{file.stem}.onnx")
        files.append((file.stem, file.with_suffix(".x.npy")))
    for case in sorted((ROOT / "tests/reference/data").iterdir()):
        weights = ["--weights", case / "weights.safetensors"] if (case / "weights.safetensors").exists() else []
        works("export", case / "net.json", *weights, "--output", f"{case.name}.onnx")
        files.append((case.name, case / "x.npy"))
    for name, x in files:
        done = subprocess.run([python, REFERENCE, f"{name}.onnx", x, "theirs.npy"], capture_output=True, text=True)
        check(done.returncode == 0, f"{name}: ONNX's checker and NumPy accept it", done.stderr)
        works("run", f"{name}.onnx", "--input", x, "--output", "ours.npy")
        agrees("ours.npy", "theirs.npy", f"{name}: NumPy's results")
    check(len(files) >= 40, "the files were found", str(files))


def every_layer_agrees():
    """NumPy computes each file that tests/nn/onnx/export_test.cc exports, also of layers that are not read back."""
    python = python_with_onnx()
    if not python:
        return skip("python3-onnx is not installed: the layers' ONNX operators are not checked")
    if not LAYERS:
        return skip("without the program nn_onnx_tests, the layers' ONNX operators are not checked")
    subprocess.run([LAYERS, "-tc=onnx: every layer*"], env={**os.environ, "KAISEKI_TEST_ONNX_FOLDER": os.getcwd()},
                   stdout=subprocess.DEVNULL, check=True)
    files = sorted(pathlib.Path().glob("*.onnx"))
    for file in files:
        done = subprocess.run([python, REFERENCE, file, file.with_suffix(".x.npy"), "theirs.npy"], capture_output=True, text=True)
        check(done.returncode == 0, f"{file}: ONNX's checker and NumPy accept it", done.stderr)
        if done.returncode == 0:
            agrees(file.with_suffix(".y.npy"), "theirs.npy", f"{file}: NumPy's results")
    check(len(files) >= 29, "the files were found", str(files))


main(networks_of_pytorch, summary_of_onnx, to_onnx_and_back, mistakes, outputs_by_name, onnx_checker_agrees,
     every_layer_agrees)
