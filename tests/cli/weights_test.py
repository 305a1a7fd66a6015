#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weights files: errors come before training, class names are kept, and weights load into a changed network."""
import json
import os
import pathlib

from npy import write_npy, write_png
from support import LENET, ROOT, check, main, refuses, train, works

DATA = ["--data", "digits:100:1", "--test-limit", 10]


def small_net(file, classes, *layers, inputs=(1, 8, 8)):
    pathlib.Path(file).write_text(json.dumps({
        "inputs": {"x": {"shape": list(inputs)}},
        "layers": [{"name": "conv", "type": "convolution", "output_channels": 4, "kernel_size": 3},
                   {"name": "act", "type": "relu"},
                   {"name": f"fc{classes}", "type": "fully_connected", "output_size": classes}, *layers]}))
    return file


def pictures(folder, **levels):
    """Squares of each class's own gray level, with the same names in every class."""
    for name, level in levels.items():
        for i in range(20):
            write_png(pathlib.Path(folder, name, f"{i:02}.png"), 8, level + i % 4)
    return folder


def save_is_checked_before_training():
    pathlib.Path("folder.safetensors").mkdir()
    for file, words in (("lenet", [".safetensors, .json, .tar or .onnx", "lenet"]),
                        ("missing/w.safetensors", ["missing/w.safetensors", "No such file"]),
                        ("folder.safetensors", ["folder.safetensors", "directory"])):
        done = refuses(words, "train", LENET, *DATA, "--epochs", 1, "--save", file)
        check("epoch" not in done.stdout, f"--save {file} is refused before training", done.stdout)
    net = small_net("bn.json", 10, {"type": "batch_normalization"}, inputs=(1, 28, 28))
    done = refuses(["batch_normalization", "use .safetensors"], "train", net, *DATA, "--epochs", 1, "--save", "w.json")
    check("epoch" not in done.stdout, "metadata that .json cannot hold is refused before training", done.stdout)
    check(sorted(os.listdir()) == ["bn.json", "folder.safetensors"], "the check leaves no file", str(os.listdir()))


def names_of_any_bytes():
    text = pathlib.Path(small_net("net.json", 10, inputs=(1, 28, 28))).read_bytes()
    pathlib.Path("named.json").write_bytes(text.replace(b"conv", b"caf\xe9", 1))
    for option in (("--save", "w.safetensors"), ("--save", "w.tar"), ("--checkpoint", "run")):
        done = refuses(["a name", "UTF-8"], "train", "named.json", *DATA, "--epochs", 1, *option)
        check("epoch" not in done.stdout, f"{option[0]}: a name that the format cannot hold is refused before training", done.stdout)
    classes = b"\x0a\x0bclass_names\x12\x06caf\xe9\nb"  # the last field of a model may occur again
    model = (ROOT / "tests/reference/onnx/vgg_11.onnx").read_bytes()
    pathlib.Path("named.onnx").write_bytes(model + b"\x72" + bytes([len(classes)]) + classes)
    works("export", "named.onnx", "--output", "w.safetensors")
    check(b"caf\\\\xe9\\nb" in pathlib.Path("w.safetensors").read_bytes(), "bytes in an ONNX file's class names are escaped")


def classes_of_any_bytes():
    net = small_net("net.json", 2, {"type": "softmax_cross_entropy"})
    pictures("data", dark=10)
    os.rename("data/dark", b"data/caf\xe9\n")
    pictures("data", light=240)
    done = works("train", net, "--data", "data", "--epochs", 1, "--checkpoint", "run", "--save", "w.safetensors")
    check("warning" not in done.stderr, "checkpoints are written", done.stderr)
    said = works("predict", net, "--weights", "w.safetensors", "data/light/00.png").stdout
    check("caf\\xe9\\x0a" in said, "bytes in a name that is not UTF-8 are escaped", said)
    works("eval", net, "--weights", "run", "--data", "data")


def classes_are_matched_by_name():
    net = small_net("net.json", 3, {"type": "softmax_cross_entropy"})
    pictures("three", cat=5, dog=120, emu=250)
    works("train", net, "--data", "three", "--epochs", 40, "--lr", 0.05, "--save", "w.safetensors")
    whole = json.loads(works("eval", net, "--weights", "w.safetensors", "--data", "three", "--json").stdout)
    check(whole["top1"] == 1, "three gray levels are learned", str(whole))
    pictures("two", cat=5, emu=250)
    shown = works("eval", net, "--weights", "w.safetensors", "--data", "two").stdout
    check("100.00 %" in shown.split("top-1")[1].split("\n")[0], "classes are matched by name when one is missing", shown)
    refuses(["others", "cat, dog, emu", "ant, emu"], "eval", net, "--weights", "w.safetensors", "--data",
            pictures("others", ant=5, emu=250))
    works("train", small_net("ten.json", 10), *DATA, "--epochs", 0, "--save", "ten.safetensors")
    refuses(["0, 1, 2", "cat, dog, emu"], "eval", "ten.json", "--weights", "ten.safetensors", "--data", "three")

    # Training continues with the weights' labels and keeps their names.
    works("train", net, "--data", "two", "--weights", "w.safetensors", "--epochs", 0, "--save", "again.safetensors")
    same = json.loads(works("eval", net, "--weights", "again.safetensors", "--data", "three", "--json").stdout)
    check(same == whole, "all three names stay", f"{same} {whole}")
    done = works("train", net, "--data", "others", "--weights", "w.safetensors", "--epochs", 1)
    check("cat, dog, emu" in done.stderr and "ant, emu" in done.stderr, "the changed classes are reported", done.stderr)

    works("train", net, "--data", "three", "--epochs", 1, "--checkpoint", "run")
    os.rename("three/dog", "three/cow")
    refuses(["checkpoint-", "cat, dog, emu", "cat, cow, emu"], "train", net, "--data", "three", "--epochs", 1,
            "--checkpoint", "run", "--resume")


def metadata_of_weights():
    norm = ["--mean", "0.25", "--std", "0.5"]
    net = small_net("net.json", 2, {"type": "softmax_cross_entropy"})
    pictures("data", dark=10, light=240)
    train_it = ["train", net, "--data", "data", "--epochs", 20, "--lr", 0.05, *norm, "--save"]
    works(*train_it, "w.safetensors")
    done = works(*train_it, "w.tar")
    check("warning" not in done.stderr, "a tar holds everything", done.stderr)
    answers = [works("predict", net, "--weights", f"w.{suffix}", "data/dark/00.png", "--json").stdout
               for suffix in ("safetensors", "tar")]
    check(answers[0] == answers[1] and '"dark"' in answers[0], "names, mean and std from a tar", str(answers))
    done = works(*train_it, "w.json")
    check("cannot hold" in done.stderr and "--mean" in done.stderr and "w.json" in done.stderr,
          "the loss of names, mean and std is reported", done.stderr)
    done = train("--epochs", 0, "--save", "w.json")
    check(done.stderr == "", "digits lose nothing", done.stderr)


def a_mean_image_is_kept_with_the_weights():
    net = small_net("net.json", 2, {"type": "softmax_cross_entropy"})
    pictures("data", dark=10, light=240)
    image = [(i % 7) / 10 for i in range(64)]
    write_npy("mean.npy", [1, 8, 8], image)
    train_it = ["train", net, "--data", "data", "--epochs", 20, "--lr", 0.05, "--std", 0.5, "--mean-image", "mean.npy"]
    works(*train_it, "--checkpoint", "run", "--save", "w.safetensors")
    works(*train_it, "--save", "w.tar")
    works("export", net, "--weights", "w.safetensors", "--output", "w.onnx")
    one = "data/dark/00.png"
    given = works("predict", net, "--weights", "w.safetensors", one, "--json", "--mean-image", "mean.npy").stdout
    check('"dark"' in given, "the network learns with a mean image", given)
    for source in ([net, "--weights", "w.safetensors"], [net, "--weights", "w.tar"], [net, "--weights", "run"], ["w.onnx"]):
        stored = works("predict", *source, one, "--json").stdout
        said = works("predict", *source, one, "--json", "--mean-image", "mean.npy").stdout
        check(stored == said, f"{source} holds the mean image", f"{stored} {said}")
    other = works("predict", net, "--weights", "w.safetensors", one, "--json", "--mean", 0.3).stdout
    check(other != given, "--mean replaces the stored image", f"{other} {given}")

    def loss(*arguments):
        return json.loads(works("eval", net, "--weights", "w.safetensors", "--data", "data", "--json", *arguments).stdout)["loss"]
    check(loss() == loss("--mean-image", "mean.npy") != loss("--mean", 0.3), "eval uses the stored image")
    write_npy("zero.npy", [1, 8, 8], [0] * 64)
    check(loss("--mean-image", "zero.npy") == loss("--mean", 0), "an image of zeros changes nothing")
    done = works(*train_it[:-1], "zero.npy", "--checkpoint", "run", "--resume")
    check("--mean-image zero.npy, there mean.npy" in done.stderr, "a resumed run warns about another image", done.stderr)

    refuses(["--mean-image: expected no --mean beside it"], *train_it, "--mean", 0.5)
    for shape, word in (([8, 8], "[8, 8]"), ([1, 4, 16], "[1, 4, 16]")):
        write_npy("bad.npy", shape, image)
        refuses(["--mean-image", "[1, 8, 8]", word, "bad.npy"], *train_it[:-1], "bad.npy")
    write_npy("bad.npy", [1, 8, 8], image[:-1] + [float("nan")])
    refuses(["--mean-image", "nan", "bad.npy"], "predict", net, "--weights", "w.safetensors", one, "--mean-image", "bad.npy")
    refuses(["--mean-image", "none.npy"], *train_it[:-1], "none.npy")
    larger = small_net("larger.json", 2, {"type": "softmax_cross_entropy"}, inputs=(3, 8, 8))
    refuses(["--mean", "3 channels", "got 64"], "train", larger, "--data", "data", "--weights", "w.safetensors")


def changed_network():
    ten = small_net("ten.json", 10, {"type": "softmax_cross_entropy"}, inputs=(1, 28, 28))
    two = small_net("two.json", 2, {"type": "softmax_cross_entropy"}, inputs=(1, 28, 28))
    works("train", ten, *DATA, "--epochs", 1, "--save", "ten.safetensors")
    pictures("data", dark=10, light=240)
    done = works("train", two, "--data", "data", "--weights", "ten.safetensors", "--epochs", 0, "--save",
                 "two.safetensors")
    report = "ten.safetensors: 2 tensors loaded\n2 missing in the file, not changed: fc2.weight fc2.bias\n" \
             "2 in the file only: fc10.bias fc10.weight\n"
    check(report in done.stdout, "a report of matching and other tensors", done.stdout)
    answers = [works("predict", net, "--weights", weights, "data/dark/00.png").stdout
               for net, weights in ((two, "two.safetensors"),)]
    check("dark" in answers[0] or "light" in answers[0], "the new class names", answers[0])
    refuses(["two.safetensors", "fc10.weight"], "eval", ten, *DATA[:2], "--weights", "two.safetensors")
    refuses(["two.safetensors", "0 tensors loaded"], "train", LENET, *DATA, "--weights", "two.safetensors")


def weights_inside_the_network():
    train("--epochs", 1, "--save", "w.json")
    inside = works("eval", "w.json", "--data", "digits:300:1", "--json").stdout
    beside = works("eval", LENET, "--weights", "w.json", "--data", "digits:300:1", "--json").stdout
    check(inside == beside, "one file holds network and weights", inside + beside)
    works("predict", "w.json", ROOT / "examples/seven.png")
    refuses(["--weights", "no weights"], "eval", LENET, "--data", "digits:300:1")
    refuses(["--weights", "no weights"], "predict", LENET, ROOT / "examples/seven.png")


def probabilities_without_a_softmax():
    """If the JSON has neither loss nor softmax, the output is logits, and predict shows their softmax."""
    train_it = [*DATA, "--epochs", 2, "--seed", 1]
    plain = small_net("plain.json", 10, inputs=(1, 28, 28))
    soft = small_net("soft.json", 10, {"type": "softmax"}, inputs=(1, 28, 28))
    answers = []
    for net in (plain, soft):
        works("train", net, *train_it, "--save", f"{net}.safetensors")
        said = works("predict", net, "--weights", f"{net}.safetensors", ROOT / "examples/seven.png", "--json", "--top",
                     10).stdout
        answers.append(json.loads(said))
        shares = [value for key, value in answers[-1].items() if key.startswith("probability")]
        check(len(shares) == 10 and abs(sum(shares) - 1) < 1e-4 and min(shares) >= 0, f"{net}: probabilities", said)
    check(answers[0] == answers[1], "the same as with a softmax in the JSON", str(answers))


main(save_is_checked_before_training, names_of_any_bytes, classes_of_any_bytes, classes_are_matched_by_name, metadata_of_weights,
     a_mean_image_is_kept_with_the_weights, changed_network, weights_inside_the_network, probabilities_without_a_softmax)
