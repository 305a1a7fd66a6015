# SPDX-License-Identifier: MIT
"""The shared parts of the command's tests. Each test is a script: SCRIPT KAISEKI. It runs in its own folder."""
import array
import atexit
import functools
import json
import multiprocessing
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="kaiseki-test-"))
KAISEKI = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "kaiseki"
passed = failed = 0


def lenet_without_recipe():
    """Writes LeNet without its recipe, so that tests train with the command's defaults. Returns the file."""
    network = json.loads((ROOT / "models" / "lenet.json").read_text())
    del network["recipe"]
    file = FOLDER / "lenet.json"
    file.write_text(json.dumps(network))
    return str(file)


LENET = lenet_without_recipe()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def deep_network():
    """Writes net.json, whose training has tensors that can leave the device. Returns the name."""
    layers = []
    for i in range(4):
        layers += [{"name": f"conv{i}", "type": "convolution", "output_channels": 16, "kernel_size": 3, "padding": 1},
                   {"name": f"norm{i}", "type": "batch_normalization"}, {"name": f"act{i}", "type": "tanh"}]
    layers.append({"name": "fc", "type": "fully_connected", "output_size": 10})
    pathlib.Path("net.json").write_text(json.dumps({"inputs": {"image": {"shape": [1, 28, 28]}}, "layers": layers}))
    return "net.json"


def wide_network():
    """Writes wide.json, with 13 MB of weights. Returns the name."""
    layers = [{"type": "fully_connected", "output_size": 4000}, {"type": "tanh"}, {"type": "fully_connected", "output_size": 10},
              {"type": "softmax"}]
    pathlib.Path("wide.json").write_text(json.dumps({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": layers}))
    return "wide.json"


def check(condition, what, detail=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}\n{detail}", flush=True)


def until(condition, seconds=30, step=0.02):
    """Waits until condition() is true and returns its value. Returns None after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(step)
    return None


def until_logged(process, log, lines):
    """Waits until the file that the process writes has so many lines, or the process has ended."""
    log = pathlib.Path(log)
    until(lambda: process.poll() is not None or log.exists() and log.read_text().count("\n") >= lines, 300, 0.002)


def kaiseki(*arguments, env=None, **options):
    """Runs kaiseki. Returns returncode, stdout and stderr."""
    settings = {**os.environ, "KAISEKI_DEVICE": "cpu", **(env or {})}
    return subprocess.run([KAISEKI, *map(str, arguments)], env=settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, **options)


def start(*arguments, device="cpu"):
    return subprocess.Popen([KAISEKI, *map(str, arguments)], env={**os.environ, "KAISEKI_DEVICE": device},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def on_a_terminal(program, env, interrupt_at=None):
    """Runs program (a list) on a terminal with the variables of env (None: unset). Presses Ctrl-C as soon as the output
    has the bytes `interrupt_at`. Returns its status and all of its output.
    """
    child, terminal = pty.fork()
    if child == 0:
        for name, value in env.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        os.execv(program[0], program)
    seen = b""
    while select.select([terminal], [], [], 120)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
        if interrupt_at and interrupt_at in seen:
            os.write(terminal, b"\x03")
            interrupt_at = None
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode(errors="replace")


def works(*arguments, **options):
    done = kaiseki(*arguments, **options)
    check(done.returncode == 0, f"status 0 of {' '.join(map(str, arguments))}",
          f"got {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def refuses(words, *arguments, **options):
    """Checks for status 1 and one line on stderr with all of `words`."""
    done = kaiseki(*arguments, **options)
    line = done.stderr.strip()
    check(done.returncode == 1 and line and "\n" not in line and all(word in line for word in words),
          f"status 1 and one line with {words} from {' '.join(map(str, arguments))}",
          f"got {done.returncode}\n{done.stderr}")
    return done


@functools.cache
def device_forms():
    """The values of --device, such as "cpu, opencl, opencl:N or auto"."""
    return re.search(r"expected (.* or auto), got 'none'", kaiseki("summary", LENET, "--device", "none").stderr)[1]


def train(*arguments, data="digits:600:1", **options):
    return works("train", LENET, "--data", data, "--test-limit", 100, *arguments, **options)


def weights(file):
    """Reads the tensors of a safetensors file by name."""
    data = pathlib.Path(file).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: array.array("f", data[8 + size + tensor["data_offsets"][0]:8 + size + tensor["data_offsets"][1]])
            for name, tensor in header.items()}


def opencl_is_there():
    """Without a device the test is skipped, or fails if KAISEKI_TEST_REQUIRE_OPENCL is set, as in ./check."""
    devices = [json.loads(line)["device"] for line in kaiseki("devices", "--json").stdout.splitlines()]
    if "opencl:0" in devices:
        return True
    problem = kaiseki("devices").stdout.partition("not available: ")[2].split("\n")[0]
    if "KAISEKI_TEST_REQUIRE_OPENCL" in os.environ:
        check(False, "KAISEKI_TEST_REQUIRE_OPENCL is set: expected an OpenCL device, got none", problem)
    else:
        skip(f"no OpenCL device: {problem}")
    return False


def skip(reason):
    print(f"SKIPPED: {reason}", flush=True)


def counted(test):
    """Runs the test in its own folder. Returns how many checks have passed and failed."""
    before = passed, failed
    here = FOLDER / test.__name__
    here.mkdir()
    os.chdir(here)
    test()
    return passed - before[0], failed - before[1]


def main(*tests, together=False):
    """Runs the tests. Those that mostly wait may run together, each in its own process."""
    os.environ.setdefault("KAISEKI_STATE_DIR", str(FOLDER / "state"))
    try:
        if together:
            with multiprocessing.get_context("fork").Pool(len(tests)) as processes:
                runs = [processes.apply_async(counted, (test,)) for test in tests]
                processes.close()
                processes.join()
            counts = [run.get() for run in runs]
        else:
            counts = [counted(test) for test in tests]
    finally:
        os.chdir("/")
    passes, failures = map(sum, zip(*counts))
    print(f"checks: {passes} passed, {failures} failed")
    sys.exit(failures > 0)
