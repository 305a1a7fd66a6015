# SPDX-License-Identifier: MIT
"""Runs clang-tidy on the sources of compile_commands.json. Usage: tidy.py BUILD_FOLDER CACHE_FOLDER

The cache has an empty file for each source that passed. Its name is a hash of everything that the result depends on.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path.cwd()
FEWEST = 50  # sources
DAYS = 30  # files of the cache that no run used for so long are deleted


def sources(build):
    """Returns the compile command of each source that is no test."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        file = command["file"]
        if str(build / "tests") + "/" in file or file.startswith(str(ROOT / "tests")) or not os.path.exists(file):
            continue
        found[file] = command
    return [found[file] for file in sorted(found)]


def compiler(command):
    """Returns the command without a launcher such as ccache, and without its output."""
    words = shlex.split(command["command"])
    words = words[next(i for i, word in enumerate(words) if "clang" in os.path.basename(word)):]
    at = words.index("-o")
    return [word for word in words[:at] + words[at + 2:] if word not in ("-c", "-MD")]


def preprocessed(command):
    words = compiler(command)
    for option in ("-MT", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    # -C keeps comments: NOLINT changes the result.
    return subprocess.run([*words, "-E", "-C"], cwd=command["directory"], stdout=subprocess.PIPE, check=True).stdout


def key(command, common):
    text = preprocessed(command).replace(str(ROOT).encode(), b".")
    return hashlib.sha256(common + " ".join(compiler(command)).replace(str(ROOT), ".").encode() + text).hexdigest()


def check(command, build, cache, common):
    """Returns the output of clang-tidy, or "" if it found nothing."""
    passed = cache / key(command, common)
    if passed.exists():
        passed.touch()
        return ""
    done = subprocess.run(["clang-tidy", "-p", str(build), f"--header-filter=^{ROOT}/", "--quiet", command["file"]],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return done.stdout + done.stderr
    passed.touch()
    return ""


def main(build, cache):
    cache.mkdir(parents=True, exist_ok=True)
    commands = sources(build)
    if len(commands) < FEWEST:
        sys.exit(f"tidy.py: expected {FEWEST} sources or more in {build}, got {len(commands)}")
    version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout
    common = version + pathlib.Path(".clang-tidy").read_bytes()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda command: check(command, build, cache, common), commands) if text]
    for file in cache.iterdir():
        if file.stat().st_mtime < time.time() - DAYS * 86400:
            file.unlink()
    print("".join(problems), end="")
    if problems:
        sys.exit(1)
    print(f"clang-tidy: {len(commands)} sources, no problem found")


main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
