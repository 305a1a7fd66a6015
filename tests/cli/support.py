# SPDX-License-Identifier: MIT
"""What the tests of the command share. Each test is a script: SCRIPT KAISEKI, run in a folder of its own."""
import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LENET = str(ROOT / "models" / "lenet.json")
KAISEKI = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "kaiseki"
passed = failed = 0


def check(condition, what, detail=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}\n{detail}", flush=True)


def kaiseki(*arguments, env=None, **options):
    """A finished run: returncode, stdout, stderr."""
    settings = {**os.environ, "KAISEKI_DEVICE": "cpu", **(env or {})}
    return subprocess.run([KAISEKI, *map(str, arguments)], env=settings, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, **options)


def start(*arguments, device="cpu"):
    return subprocess.Popen([KAISEKI, *map(str, arguments)], env={**os.environ, "KAISEKI_DEVICE": device},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def on_a_terminal(program, env):
    """Runs program (a list) on a terminal with what env sets (None: unsets); its status and all that it wrote."""
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
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode(errors="replace")


def works(*arguments, **options):
    done = kaiseki(*arguments, **options)
    check(done.returncode == 0, f"status 0 of {' '.join(map(str, arguments))}",
          f"got {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def refuses(words, *arguments, **options):
    """Status 1, one line on stderr with all of `words`."""
    done = kaiseki(*arguments, **options)
    line = done.stderr.strip()
    check(done.returncode == 1 and line and "\n" not in line and all(word in line for word in words),
          f"status 1 and one line with {words} from {' '.join(map(str, arguments))}",
          f"got {done.returncode}\n{done.stderr}")
    return done


def train(*arguments, data="digits:600:1", **options):
    return works("train", LENET, "--data", data, "--test-limit", 100, *arguments, **options)


def opencl_is_there():
    """Without a device the test fails if KAISEKI_TEST_REQUIRE_OPENCL is set, as ./check does, else it is skipped."""
    devices = [json.loads(line)["device"] for line in kaiseki("devices", "--json").stdout.splitlines()]
    if "opencl:0" in devices:
        return True
    problem = kaiseki("devices").stdout.partition("not available: ")[2].split("\n")[0]
    if "KAISEKI_TEST_REQUIRE_OPENCL" in os.environ:
        check(False, "expected an OpenCL device, as KAISEKI_TEST_REQUIRE_OPENCL is set", problem)
    else:
        skip(f"no OpenCL device: {problem}")
    return False


def skip(reason):
    print(f"SKIPPED: {reason}", flush=True)


def main(*tests):
    folder = tempfile.mkdtemp(prefix="kaiseki-test-")
    try:
        for test in tests:
            here = pathlib.Path(folder, test.__name__)
            here.mkdir()
            os.chdir(here)
            test()
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"checks: {passed} passed, {failed} failed")
    sys.exit(failed > 0)
