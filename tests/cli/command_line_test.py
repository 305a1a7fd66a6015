#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help, versions and mistakes: every command says in one line what it expected."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

from npy import read_npy, write_npy
from support import KAISEKI, LENET, ROOT, check, device_forms, kaiseki, main, refuses, works

COMMANDS = re.findall(r"^  (\w+)  ", works("--help").stdout.partition("Subcommands:")[2], re.MULTILINE)


def help_has_examples():
    check(len(COMMANDS) >= 14, "the help names the commands", str(COMMANDS))
    for command in COMMANDS:
        check(f"Examples:\n  " in (own := works(command, "--help").stdout) and f"kaiseki {command}" in own,
              f"examples of {command}", own)
    check(works("--version").stdout.startswith("kaiseki "), "a version")


def documented_options_exist():
    """Every option of a command in README.md, docs/ and the help's examples exists."""
    helps = {command: works(command, "--help").stdout for command in COMMANDS}
    pages = [ROOT / "README.md", ROOT / "quickstart", *sorted((ROOT / "docs").rglob("*.md")),
             *sorted((ROOT / "bench").glob("*.md"))]
    texts = {str(page.relative_to(ROOT)): page.read_text() for page in pages} | {f"{name} --help": text for name, text in helps.items()}
    found = 0
    for name, text in texts.items():
        for command, arguments in re.findall(r"kaiseki (\w+)((?:[^`\n\\#]|\\\n)*)", text):
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", arguments) if command in helps else []:
                found += 1
                check(re.search(rf"{option}\b", helps[command]), f"{name}: kaiseki {command} {option} exists")
    check(found > 60, "the pages' commands were found", str(found))


def the_library_names_no_options():
    """The command adds the names of its options to the errors of the library."""
    literal, option = re.compile(r'"(?:[^"\\\n]|\\.)*"'), re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    files = [file for folder in ("base", "matrix", "nn", "ml", "dist", "wasm") for file in (ROOT / folder).rglob("*.cc")]
    bad = [f"{file}: {text}" for file in files for text in literal.findall(file.read_text()) if option.search(text)]
    check(len(files) > 300 and not bad, "no text of the library names an option", "\n".join(bad))


def the_reference_is_the_help():
    """docs/cli.md is the output of docs/site/reference for the help texts."""
    made = subprocess.run([sys.executable, ROOT / "docs/site/reference", "--check", "cli", KAISEKI], capture_output=True, text=True)
    check(made.returncode == 0, "docs/cli.md is up to date", made.stdout + made.stderr)


def completions():
    scripts = {shell: works("completion", shell).stdout for shell in ("bash", "zsh", "fish", "man")}
    for command in COMMANDS:
        options = set(re.findall(r"^\s+(?:-\w,)?--([a-z][a-z-]*)", works(command, "--help").stdout, re.M))
        check("help" in options, f"options of {command}", str(options))
        for shell, script in scripts.items():
            plain = script.replace("\\-", "-")
            lost = [option for option in options if not re.search(rf"(--|-l ){option}\b", plain)]
            check(not lost and command in plain, f"{shell}: options of {command}", str(lost))
    pathlib.Path("bash").write_text(scripts["bash"])
    for words, expected in ((["tr"], ["train"]), (["train", "--optimizer", "adam"], ["adam", "adamw"]), (["train", "--pool-p"],
                            ["--pool-port", "--pool-private"]), (["bench", "ge"], ["gemm"]), (["completion", "f"], ["fish"])):
        script = f"source ./bash; COMP_WORDS=(kaiseki {' '.join(words)}); COMP_CWORD={len(words)}; _kaiseki; echo ${{COMPREPLY[*]}}"
        said = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        check(sorted(said.stdout.split()) == expected, f"bash completes {words}", said.stdout + said.stderr)
    for shell in ("zsh", "fish"):
        pathlib.Path(shell).write_text(scripts[shell])
        if not shutil.which(shell):
            print(f"SKIPPED: no {shell} to read its completions")
            continue
        said = subprocess.run([shell, "-n", shell], capture_output=True, text=True)
        check(said.returncode == 0 and not said.stderr, f"{shell} can read its completions", said.stderr)
    if shutil.which("fish"):
        said = subprocess.run(["fish", "-c", "source fish; complete -C 'kaiseki tr'"], capture_output=True, text=True)
        check(said.stdout.startswith("train\t"), "fish completes tr", said.stdout + said.stderr)
    check(scripts["man"].startswith(".TH KAISEKI 1"), "a manual page")
    check(not re.search(r"^['.](?!TH|SH|TP|B |I |PP|nf|fi)", scripts["man"], re.M), "whose lines are no requests by accident")
    refuses(["csh"], "completion", "csh")


def mistakes():
    refuses(["kaiseki --help"])
    refuses(["flambe"], "summary", LENET, "flambe")
    refuses(["--epoch-count", "kaiseki train --help"], "train", LENET, "--data", "digits", "--epoch-count", 3)
    refuses(["--batch-size"], "train", LENET, "--data", "digits", "--batch-size", 0)
    refuses(["--optimizer", "adam"], "train", LENET, "--data", "digits", "--optimizer", "adem")
    refuses(["--data"], "train", LENET)
    refuses(["--lr", "-1"], "train", LENET, "--data", "digits:100", "--lr", -1)
    refuses(["--momentum", "1.5"], "train", LENET, "--data", "digits:100", "--momentum", 1.5)
    refuses(["--step-size"], "train", LENET, "--data", "digits:100", "--schedule", "step")
    refuses(["--augment", "shear"], "train", LENET, "--data", "digits:100", "--augment", "shear")
    refuses(["nowhere.json", "no such file"], "summary", "nowhere.json")
    refuses(["lennet", "models/lennet.json"], "summary", "lennet")
    refuses(["nothing"], "train", LENET, "--data", "nothing")
    refuses(["w.safetensors"], "eval", LENET, "--data", "digits:100", "--weights", "w.safetensors")
    refuses([device_forms(), "'tpu'"], "train", LENET, "--data", "digits:100", "--device", "tpu")
    refuses(["1000x1000x1000", "'12x'"], "bench", "gemm", "12x")
    refuses(["n16c64", "'q1'"], "bench", "conv", "q1")
    pathlib.Path("bad.json").write_text('{"layers": [{"type": "conv')
    refuses(["bad.json"], "summary", "bad.json")
    refuses(["log.jsonl"], "train", LENET, "--data", "digits:100", "--log", "missing/log.jsonl")
    refuses(["checkpoint", "bad.json"], "train", LENET, "--data", "digits:100", "--checkpoint", "bad.json")


def names_of_networks():
    os.chdir(ROOT)
    check(works("summary", "lenet").stdout == works("summary", LENET).stdout, "a bare name finds the network")
    lines = [json.loads(line) for line in works("summary", "cifar", "--json").stdout.splitlines()]
    check(sum(line["parameters"] for line in lines) == 22466, "JSON", str(lines))
    total = works("summary", "lenet", "--batch-size", 64).stdout
    check("431,080" in total and "batch of 64" in total, "LeNet's parameters", total)


def predicts_memory():
    def plan(network, batch, memory):
        return works("summary", network, "--batch-size", batch, "--memory", memory, "--device", "cpu").stdout

    check("a pass fits as it is" in plan("lenet", 64, "1G"), "a small network fits")
    check("a minibatch runs in" in plan("vgg16", 128, "2G"), "a minibatch in parts")
    found = plan("resnet50", 32, "1500M")
    check("outputs of" in found and found.count("computed again") > 5, "layers that are computed again", found)
    check("are missing" in plan("resnet50", 128, "512M"), "a pass that cannot fit")
    lines = works("summary", "resnet50", "--batch-size", 32, "--memory", "1500M", "--device", "cpu", "--json").stdout
    layers = [json.loads(line) for line in lines.splitlines()]
    again = [layer["computed_again"] for layer in layers]
    check(5 < sum(again) < len(again), "JSON", str(again))
    check(sum(layer["milliseconds"] for layer in layers) > 1, "the time of layers", lines)
    os.environ["KAISEKI_SPILL_DIR"] = os.getcwd()
    found = plan("resnet50", 32, "400M")
    check(" leave the device" in found and " to files, " in found and re.search(r" in \d+ pieces", found), "layers over the link", found)
    check("no plan takes less than" in found, "the bound", found)
    lines = works("summary", "resnet50", "--batch-size", 32, "--memory", "400M", "--device", "cpu", "--json").stdout
    layers = [json.loads(line) for line in lines.splitlines()]
    check(any(layer["pieces"] > 1 for layer in layers), "pieces in JSON", lines)
    places = {layer["place"] for layer in layers}
    # The measured rates decide how many layers are computed again.
    check("files" in places and places <= {"device", "files", "nowhere"}, "places in JSON", lines)
    check(all((layer["place"] == "files") == (layer["bytes_out"] > 0) for layer in layers), "files", lines)
    del os.environ["KAISEKI_SPILL_DIR"]
    refuses(["the parameters"], "summary", "vgg16", "--memory", "1M")
    refuses(["--memory", "bytes such as 2G"], "summary", "lenet", "--memory", "much")


def starts_fast():
    def seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times = []
    for _ in range(9):
        start = seconds()
        works("summary", LENET)
        times.append(seconds() - start)
    print(f"summary: {1e3 * min(times):.1f} ms of processor time")
    check(min(times) < 0.1, "summary takes under 100 ms of processor time, also beside other work", str(times))


def runs_tensors():
    write_npy("x.npy", (2, 1, 28, 28), [(i * 37 % 101) / 101 for i in range(2 * 784)])
    write_npy("gy.npy", (2, 10), [(i % 7 - 3) / 10 for i in range(20)])
    works("run", LENET, "--input", "x.npy", "--output", "y.npy", "--grad-output", "gy.npy", "--grads", "g", "--phase",
          "train", "--seed", 4)
    y = read_npy("y.npy")[1]
    check(len(y) == 20 and abs(sum(y[:10]) - 1) < 1e-5 and min(y) > 0, "probabilities", str(y))
    names = sorted(file.name for file in pathlib.Path("g").iterdir())
    check("input.npy" in names and "conv1.weight.npy" in names and len(names) == 9, "one gradient for each tensor", str(names))

    # Compares the gradient of the input with a finite difference. The loss is sum(gy * y).
    gradient, x = read_npy("g/input.npy")[1], list(read_npy("x.npy")[1])
    gy = read_npy("gy.npy")[1]
    largest = max(range(784), key=lambda i: abs(gradient[i]))
    losses = []
    for sign in (1, -1):
        moved = list(x)
        moved[largest] += sign * 0.05
        write_npy("moved.npy", (2, 1, 28, 28), moved)
        works("run", LENET, "--input", "moved.npy", "--output", "m.npy", "--seed", 4)
        losses.append(sum(a * b for a, b in zip(gy, read_npy("m.npy")[1])))
    slope = (losses[0] - losses[1]) / 0.1
    check(abs(slope - gradient[largest]) < 0.05 * abs(gradient[largest]) + 1e-6, "the gradient equals the slope",
          f"{slope} {gradient[largest]}")
    refuses(["gy.npy", "[2, 10]", "[1, 20]"], "run", LENET, "--input", "x.npy", "--output", "y.npy", "--grads", "g",
            "--grad-output", write_npy("gy.npy", (1, 20), [0] * 20) or "gy.npy")
    write_npy("x.npy", (2, 1, 27, 28), [0] * 2 * 27 * 28)
    refuses(["x.npy", "[n, 1, 28, 28]", "[2, 1, 27, 28]"], "run", LENET, "--input", "x.npy", "--output", "y.npy")
    refuses(["x.npy", "[2, 1, 27, 28]"], "run", LENET, "--input", "input=x.npy", "--output",
            "act4=y.npy")
    write_npy("i.npy", (2, 1, 28, 28), [0] * 2 * 784, "i")
    refuses(["i.npy", "f32", "i32"], "run", LENET, "--input", "i.npy", "--output", "y.npy")
    write_npy("x.npy", (2, 1, 28, 28), [0] * 2 * 784)
    write_npy("gi.npy", (2, 10), [0] * 20, "i")
    refuses(["gi.npy", "f32", "i32"], "run", LENET, "--input", "x.npy", "--output", "y.npy", "--grads", "g",
            "--grad-output", "gi.npy")


def layer_names_as_file_names():
    """A layer's name may look like a path. Its gradients are still files of the folder."""
    names = ["inception_3a/1x1", "../out", os.path.abspath("root"), "a%b"]
    layers = [{"name": name, "type": "fully_connected", "output_size": 3, "bias": False} for name in names]
    pathlib.Path("net.json").write_text(json.dumps({"inputs": {"x": {"shape": [3]}}, "layers": layers}))
    write_npy("x.npy", (2, 3), [1, 2, 3, 4, 5, 6])
    before = set(os.listdir())
    works("run", "net.json", "--input", "x.npy", "--output", "y.npy", "--grad-output", "x.npy", "--grads", "g")
    check(set(os.listdir()) - before == {"g", "y.npy"}, "nothing is written elsewhere", str(os.listdir()))
    expected = {name.replace("%", "%25").replace("/", "%2F") + ".weight.npy" for name in names} | {"input.npy"}
    check(set(os.listdir("g")) == expected, "a file for each layer", str(os.listdir("g")))


def benches():
    for arguments in (["gemm", "33x17x9"], ["conv", "n2c3h9w9k4r3s3p1"], ["train", LENET, "--batch-size", 8]):
        done = works("bench", *arguments, "--repeat", 1, "--seconds", 0.01)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        check(lines and all(line["bench"] == arguments[0] and line["milliseconds"] > 0 for line in lines),
              f"bench {arguments[0]}", done.stdout)


def benches_of_layers():
    done = works("bench", "train", LENET, "--batch-size", 4, "--repeat", 2, "--layers", "--trace", "trace.json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    names = [line["layer"] for line in lines]
    check({"conv1", "fc3", "(update)"} <= set(names) and len(names) == len(set(names)), "one line for each layer", done.stdout)
    check(abs(sum(line["share"] for line in lines) - 1) < 1e-6, "the shares add up to 1", done.stdout)
    check(all(line["forward_milliseconds"] > 0 for line in lines), "each layer takes time", done.stdout)
    events = [event for event in json.loads(pathlib.Path("trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    conv = [event["cat"] for event in events if event["name"] == "conv1"]
    check(conv == ["forward", "backward"], "the trace has both passes of a layer", events)
    check(events == sorted(events, key=lambda event: event["ts"]) and events[-1]["name"] == "(update)", "in the order of time", events)
    check(all(first["ts"] + first["dur"] <= second["ts"] + 1 for first, second in zip(events, events[1:])), "one after the other", events)


main(help_has_examples, documented_options_exist, the_library_names_no_options, the_reference_is_the_help, completions, mistakes, names_of_networks, predicts_memory, starts_fast,
     runs_tensors, layer_names_as_file_names, benches, benches_of_layers)
