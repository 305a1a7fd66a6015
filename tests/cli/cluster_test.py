# SPDX-License-Identifier: MIT
"""kaiseki train --cluster on the ranks of mpirun."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from support import KAISEKI, LENET, check, deep_network, kaiseki, main, refuses, skip, until, until_logged, weights, wide_network, works

DATA = ["--data", "digits:600:1", "--test-limit", "100", "--device", "cpu", "--deterministic"]


def mpirun_is_there():
    """Without MPI the tests are skipped, or fail if KAISEKI_TEST_REQUIRE_MPI is set, as in ./check."""
    if shutil.which("mpirun") and "expected a build with MPI" not in kaiseki("train", LENET, *DATA, "--epochs", 0, "--cluster", "data").stderr:
        return True
    if "KAISEKI_TEST_REQUIRE_MPI" in os.environ:
        check(False, "KAISEKI_TEST_REQUIRE_MPI is set: expected mpirun and a build with MPI")
    else:
        skip("no mpirun, or a build without MPI")
    return False


# mpirun gives rank 0 a terminal, whatever its own output is.
SETTINGS = {"KAISEKI_THREADS": "1", "TERM": "dumb", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def start(ranks, *arguments, env=None):
    """Starts kaiseki on so many ranks, each with one thread."""
    settings = {**os.environ, **SETTINGS, **(env or {})}
    return subprocess.Popen(["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", KAISEKI, *map(str, arguments)],
                            env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends(process, seconds=120):
    stdout, stderr = process.communicate(timeout=seconds)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def train(ranks, *arguments, env=None, mode="data"):
    done = ends(start(ranks, "train", LENET, *DATA, *arguments, "--cluster", mode, env=env))
    check(done.returncode == 0, f"status 0 on {ranks} ranks", f"got {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def check_close(a, b, tolerance, what):
    a, b = weights(a), weights(b)
    check(a.keys() == b.keys() and a, f"{what}: the same tensors", f"{a.keys()} {b.keys()}")
    for name, values in a.items():
        size = max(map(abs, values)) or 1
        error = max(abs(x - y) for x, y in zip(values, b[name])) / size
        check(error <= tolerance, f"{what}: {name}", f"differs by {error}")


def ranks_of(process):
    """The processes of the ranks, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if parent != process.pid:
                continue
            variables = entry.joinpath("environ").read_bytes().split(b"\0")
            rank = [v.partition(b"=")[2] for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")]
        except OSError:
            continue
        if rank:
            found[int(rank[0])] = int(entry.name)
    return found


def expect_losses_of_one(ranks):
    read = [[(line["loss"], line["accuracy"]) for line in map(json.loads, open(f"{name}.jsonl")) if "loss" in line and "accuracy" in line]
            for name in ("alone", ranks)]
    check(read[0] and len(read[0]) == len(read[1]) and all(abs(a - b) <= 1e-4 * abs(a) and x == y for (a, x), (b, y) in zip(*read)),
          "losses and accuracies of the whole minibatch", str(read))


def equals_one_machine():
    options = ["--epochs", 2, "--batch-size", 50, "--lr", 0.01]
    works("train", LENET, *DATA, *options, "--save", "alone.safetensors", "--log", "alone.jsonl", "--log-every", 1)
    for ranks in (1, 2, 3):
        done = train(ranks, *options, "--save", f"{ranks}.safetensors", "--log", f"{ranks}.jsonl", "--log-every", 1)
        check(f"cluster     {ranks} rank" in done.stdout and done.stdout.count("epoch 2/2") == 1, "one rank shows the progress", done.stdout)
        said = "no gradients were exchanged" if ranks == 1 else "gradients: exchanged in "
        check(f"cluster     {said}" in done.stdout or said in done.stdout and "beside the backward pass" in done.stdout,
              "how much of the exchange is hidden", done.stdout)
        # 24 steps: the order of sums differs.
        check_close("alone.safetensors", f"{ranks}.safetensors", 1e-4, f"{ranks} ranks")
        expect_losses_of_one(ranks)
    train(2, *options, "--save", "again.safetensors")
    check(pathlib.Path("again.safetensors").read_bytes() == pathlib.Path("2.safetensors").read_bytes(), "the same bits in every run")


def stops_and_resumes_on_fewer():
    options = ["--batch-size", 20, "--checkpoint", "run"]
    process = start(3, "train", LENET, *DATA, *options, "--epochs", 200, "--log", "log.jsonl", "--log-every", 1, "--cluster", "data")
    until_logged(process, "log.jsonl", 40)
    ranks = ranks_of(process)
    check(len(ranks) == 3, "three ranks", str(ranks))
    os.kill(ranks[1], signal.SIGTERM)  # any rank
    done = ends(process)
    check(done.returncode == 0 and "stopped after step" in done.stdout and "checkpoint  run/" in done.stdout,
          "a signal to one rank stops all of them, and rank 0 writes a checkpoint", done.stdout + done.stderr)
    epoch = done.stdout.count(" test accuracy ") + 1
    done = train(2, *options, "--epochs", epoch + 1, "--resume")
    check("continuing from run/" in done.stdout and f"epoch {epoch + 1}/{epoch + 1}" in done.stdout, "two ranks continue", done.stdout)
    done = works("train", LENET, *DATA, *options, "--epochs", epoch + 2, "--resume")
    check(f"epoch {epoch + 2}/{epoch + 2}" in done.stdout, "one machine continues", done.stdout)


def a_killed_rank_ends_the_job():
    for rank in (0, 1):
        process = start(2, "train", LENET, *DATA, "--epochs", 200, "--log", f"{rank}.jsonl", "--log-every", 1, "--cluster", "data")
        until_logged(process, f"{rank}.jsonl", 20)
        others = ranks_of(process)
        os.kill(others[rank], signal.SIGKILL)
        began = time.monotonic()
        done = ends(process, 30)
        check(time.monotonic() - began < 10, "within 10 s", f"{time.monotonic() - began}")
        check(done.returncode != 0 and f"rank {rank}" in done.stderr and "signal 9" in done.stderr, "the message names the rank", done.stderr)
        check(until(lambda: not any(pathlib.Path(f"/proc/{other}").exists() for other in others.values()), 10), "no rank stays", str(others))


def sleeps_of(process):
    """How often the threads of a process have waited."""
    waits = 0
    for status in pathlib.Path(f"/proc/{process}/task").glob("*/status"):
        try:
            waits += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(), re.M)[1])
        except OSError:  # the thread has ended
            pass
    return waits


def a_stopped_rank_delays_the_others():
    """A rank that waits for another one checks for messages, and sleeps between two checks (dist/cluster/mpi.cc)."""
    process = start(2, "train", LENET, *DATA, "--epochs", 10, "--log", "log.jsonl", "--log-every", 1, "--cluster", "data")
    until_logged(process, "log.jsonl", 5)
    ranks = ranks_of(process)
    os.kill(ranks[1], signal.SIGSTOP)
    last = {}

    def waits():
        """Whether rank 0 has slept 10,000 times since its last step."""
        lines = pathlib.Path("log.jsonl").read_text().count("\n")
        if lines != last.get("lines"):
            last.update(lines=lines, sleeps=sleeps_of(ranks[0]))
        return sleeps_of(ranks[0]) - last["sleeps"] > 10000

    check(until(waits), "the other rank waits", str(last))
    os.kill(ranks[1], signal.SIGCONT)
    done = ends(process)
    check(done.returncode == 0 and "epoch 10/10" in done.stdout, "the training continues", done.stdout + done.stderr)


def with_other_rank(what, *arguments):
    """Trains on two ranks. Rank 1 runs a line of the shell first, in which "$@" is the command."""
    settings = {**os.environ, **SETTINGS}
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then {what}; fi; exec "$@"'
    command = [KAISEKI, "train", LENET, *DATA, *map(str, arguments), "--cluster", "data"]
    return ends(subprocess.Popen(["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "sh", "-c", script, "sh", *command],
                                 env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), 60)


def an_error_names_the_rank():
    works("train", LENET, *DATA, "--epochs", 1, "--checkpoint", "run")
    cases = [("export KAISEKI_DEVICE_MEMORY=100K", ["--epochs", 3], "memory"),  # when it loads the network
             ('set -- "$@" --data /nowhere', ["--epochs", 3], "nowhere"),
             ('set -- "$@" --data digits:700:1', ["--epochs", 3], "samples of data: 600 on rank 0 and 700 on rank 1"),
             ('set -- "$@" --seed 7', ["--epochs", 3], "seed of the order: 0 on rank 0 and 7 on rank 1"),
             ('set -- "$@" --batch-size 60', ["--epochs", 3], "samples in a minibatch: 64 on rank 0 and 60 on rank 1"),
             ('set -- "$@" --cluster-wire f16', ["--epochs", 3], "kind of exchange"),
             ('set -- "$@" --lr 0.5', ["--epochs", 3], "learning rate"),
             ("mkdir -p other; cd other", ["--epochs", 3, "--checkpoint", "run", "--resume"], "complete epochs: 1 on rank 0 and 0 on rank 1")]
    for what, options, words in cases:
        done = with_other_rank(what, *options)
        check(done.returncode == 1 and re.search(r"kaiseki: rank [01] of 2 on \S+: ", done.stderr) and words in done.stderr,
              f"the rank, its machine and the reason with {what}", f"{done.returncode}\n{done.stdout}{done.stderr}")


def diverged():
    done = ends(start(2, "train", LENET, *DATA, "--epochs", 5, "--lr", "1e6", "--cluster", "data"))
    check(done.returncode == 1 and "kaiseki: rank 0 of 2 on" in done.stderr and "rank 1 of 2" not in done.stderr,
          "rank 0 reports what all ranks see", done.stderr)


def a_budget_divides_the_part_of_a_rank():
    options = ["--epochs", 1, "--batch-size", 200, "--save"]
    train(2, *options, "whole.safetensors")
    done = train(2, *options, "parts.safetensors", "--memory", env={"KAISEKI_DEVICE_MEMORY": "10M"})
    check_close("whole.safetensors", "parts.safetensors", 1e-4, "in parts")
    check("memory" in done.stdout, "how much was used", done.stdout)


def weights_leave_the_memory_of_ranks():
    folder = {"KAISEKI_SPILL_DIR": os.getcwd()}
    for name, env in ("whole", folder), ("less", {**folder, "KAISEKI_DEVICE_MEMORY": "16M"}):
        done = ends(start(2, "train", wide_network(), *DATA, "--cluster", "data", "--epochs", 1, "--batch-size", 32, "--optimizer", "adam", "--tune",
                          "off", "--save", f"{name}.safetensors", env=env))
        check(done.returncode == 0, f"status 0: {name}", done.stdout + done.stderr)
    check_close("whole.safetensors", "less.safetensors", 1e-3, "with files")


def resumed_equals_uninterrupted():
    train(2, "--epochs", 3, "--save", "whole.safetensors")
    train(2, "--epochs", 2, "--checkpoint", "run")
    train(2, "--epochs", 3, "--checkpoint", "run", "--resume", "--save", "resumed.safetensors")
    check(weights("whole.safetensors") == weights("resumed.safetensors"), "the same bits")


def refused_options():
    for options, word in ((["--pool", "serve"], "--pool"), (["--accumulate", 2], "--accumulate"), (["--batch-size", "auto"], "--batch-size auto")):
        refuses(["--cluster", word], "train", LENET, *DATA, "--cluster", "data", *options)
    refuses(["--cluster", "data"], "train", LENET, *DATA, "--cluster", "none")
    refuses(["--cluster-wire", "--cluster"], "train", LENET, *DATA, "--cluster-wire", "f16")


def halves_on_the_wire():
    for wire in ("f32", "f16"):
        train(2, "--epochs", 1, "--cluster-wire", wire, "--save", f"{wire}.safetensors")
    check_close("f32.safetensors", "f16.safetensors", 0.02, "halves are rounded")  # 11 bits, in 10 steps
    check(pathlib.Path("f32.safetensors").read_bytes() != pathlib.Path("f16.safetensors").read_bytes(), "halves travel")


def statistics_of_the_whole_minibatch():
    network = deep_network()
    options = ["train", network, *DATA, "--epochs", 1, "--batch-size", 60, "--lr", 0.001]
    works(*options, "--save", "alone.safetensors", "--log", "alone.jsonl", "--log-every", 1)
    for flags in ([], ["--sync-batch-norm"]):
        done = ends(start(2, *options, "--cluster", "data", *flags, "--log", "log.jsonl", "--log-every", 1))
        check(done.returncode == 0, "status 0", done.stderr)
        losses = [[line["loss"] for line in map(json.loads, open(file)) if "loss" in line] for file in ("alone.jsonl", "log.jsonl")]
        differs = max(abs(a - b) / abs(a) for a, b in zip(*losses))
        check((differs < 1e-4) == bool(flags), f"losses with {flags}", str(losses))


def ranks_divide_layers():
    options = ["--epochs", 2, "--batch-size", 50, "--lr", 0.01]
    works("train", LENET, *DATA, *options, "--save", "alone.safetensors", "--log", "alone.jsonl", "--log-every", 1)
    for ranks in (2, 4):
        done = train(ranks, *options, "--save", f"{ranks}.safetensors", "--log", f"{ranks}.jsonl", "--log-every", 1, mode="hybrid")
        check(re.search(r"cluster     sets of [24] ranks divide [1-9] layers?: .*; predicted [\d.]+ ms a step, [\d.]+ ms with whole layers", done.stdout),
              "the plan", done.stdout)
        check_close("alone.safetensors", f"{ranks}.safetensors", 1e-4, f"{ranks} ranks")
        expect_losses_of_one(ranks)
    done = train(2, *options, mode="auto")
    check(re.search(r"cluster     (no layer is divided|sets of 2 ranks divide .*); predicted ", done.stdout), "the plan of auto", done.stdout)


def a_file_has_the_plan():
    options = ["--epochs", 2, "--batch-size", 50, "--lr", 0.01]
    works("train", LENET, *DATA, *options, "--save", "alone.safetensors")
    plan = pathlib.Path("plan.json")
    plan.write_text('{"ranks_of_set": 2, "layers": ["conv2", "fc3"]}')
    done = train(4, *options, "--save", "planned.safetensors", mode=plan)
    check("cluster     sets of 2 ranks divide 2 layers: conv2, fc3; predicted " in done.stdout, "the plan of the file", done.stdout)
    check_close("alone.safetensors", "planned.safetensors", 1e-4, "by the plan")
    plan.write_text('{"ranks_of_set": 3, "layers": ["fc3"]}')
    done = ends(start(2, "train", LENET, *DATA, *options, "--cluster", plan))
    check(done.returncode == 1 and "plan.json: ranks_of_set: expected a divisor of the 2 ranks, got 3" in done.stderr, "the place", done.stderr)
    done = ends(start(2, "train", LENET, *DATA, *options, "--cluster", "none.json"))
    check(done.returncode == 1 and "none.json" in done.stderr, "a missing file", done.stderr)


def divided_layers_resume_in_another_way():
    options = ["--batch-size", 20, "--checkpoint", "run", "--lr", 0.01]
    process = start(2, "train", LENET, *DATA, *options, "--epochs", 200, "--log", "log.jsonl", "--log-every", 1, "--cluster", "hybrid")
    until_logged(process, "log.jsonl", 40)
    os.kill(ranks_of(process)[1], signal.SIGTERM)
    done = ends(process)
    check(done.returncode == 0 and "checkpoint  run/" in done.stdout, "a signal to one rank stops all of them", done.stdout + done.stderr)
    steps = int(re.search(r"checkpoint  run/checkpoint-(\d+)", done.stdout).group(1))
    epoch = done.stdout.count(" test accuracy ") + 1
    # The uninterrupted training of one machine has the same weights.
    shutil.copytree("run", "copy")
    done = train(4, *options, "--epochs", epoch + 1, "--resume", "--save", "four.safetensors", mode="hybrid")
    check("continuing from run/" in done.stdout and f"epoch {epoch + 1}/{epoch + 1}" in done.stdout, f"four ranks continue from step {steps}", done.stdout)
    options[3] = "copy"
    works("train", LENET, *DATA, *options, "--epochs", epoch + 1, "--resume", "--save", "one.safetensors")
    check_close("one.safetensors", "four.safetensors", 1e-4, "after resuming")


def what_cannot_be_divided():
    memory = {"KAISEKI_DEVICE_MEMORY": "1G"}
    for ranks, arguments, env, words in ((1, [], None, ["--cluster hybrid", "two or more ranks"]),
                                         (2, ["--clip-norm", 1], None, ["clip_norm"]), (2, [], memory, ["KAISEKI_DEVICE_MEMORY"])):
        done = ends(start(ranks, "train", LENET, *DATA, "--epochs", 1, *arguments, "--cluster", "hybrid", env=env))
        check(done.returncode != 0 and all(word in done.stderr for word in words), f"{words}", done.stderr)
    for arguments, env in ((["--clip-norm", 1], None), ([], memory)):
        done = train(2, "--epochs", 1, *arguments, env=env, mode="auto")
        check("each rank computes whole layers" in done.stdout, "auto divides minibatches only", done.stdout)


tests = [refused_options]
if mpirun_is_there():
    tests += [equals_one_machine, stops_and_resumes_on_fewer, a_killed_rank_ends_the_job, a_stopped_rank_delays_the_others,
              an_error_names_the_rank, diverged, a_budget_divides_the_part_of_a_rank, weights_leave_the_memory_of_ranks,
              resumed_equals_uninterrupted, halves_on_the_wire, statistics_of_the_whole_minibatch, ranks_divide_layers, a_file_has_the_plan,
              divided_layers_resume_in_another_way, what_cannot_be_divided]
main(*tests)
