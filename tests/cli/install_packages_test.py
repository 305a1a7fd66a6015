#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cmake/install-packages uses installed packages instead of packages that conflict with them, and removes nothing. The test
replaces the package manager."""
import os
import pathlib
import subprocess

from support import ROOT, check, main

BUILD = ["g++", "cmake", "ninja-build", "ccache", "libhwy-dev", "libcli11-dev", "libstb-dev", "zlib1g-dev",
         "libjpeg62-turbo-dev", "libcurl4-openssl-dev", "libsqlite3-dev", "libssl-dev", "libboost1.81-dev", "opencl-c-headers",
         "ocl-icd-libopencl1"]
# Imitates dpkg-query for names and patterns. The file `installed` has lines "NAME VERSION".
QUERY = """#!/usr/bin/env python3
import fnmatch, pathlib, sys
known = [line.split() for line in pathlib.Path("installed").read_text().splitlines()]
found = [one for one in known if any(fnmatch.fnmatch(one[0], name) for name in sys.argv[3:])]
for name, version in found:
    print("installed", name, version)
print("deinstall", "libboost-dev", "1.74.0.3") if "libboost*-dev" in sys.argv[3:] else None
sys.exit(not found)
"""


def stand_in(program, text):
    os.makedirs("bin", exist_ok=True)
    pathlib.Path("bin", program).write_text(text)
    os.chmod(f"bin/{program}", 0o755)


def missing(root="0", without=(), also=(), simulated="Inst libstb-dev (0.0 Debian)\n"):
    pathlib.Path("simulated").write_text(simulated)
    pathlib.Path("installed").write_text("".join(f"{name} 1.0\n" for name in BUILD if name not in without) +
                                         "".join(f"{name}\n" for name in also))
    pathlib.Path("asked").write_text("")
    stand_in("dpkg-query", QUERY)
    stand_in("apt-get", '#!/bin/sh\ncase "$*" in *--simulate*) cat simulated ;; *) echo "$@" >>asked ;; esac\n')
    stand_in("id", f"#!/bin/sh\necho {root}\n")
    done = subprocess.run([ROOT / "cmake/install-packages", "build"], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    return done, pathlib.Path("asked").read_text().splitlines()


def nothing_is_missing():
    done, asked = missing()
    check(done.returncode == 0 and not asked and not done.stdout, "asks for nothing", done.stdout + done.stderr)


def boost():
    for package in ("libboost-dev 1.74.0.3", "libboost1.74-dev 1.74.0+ds1-21", "libboost1.83-dev 1.83.0-2.1"):
        done, asked = missing(without=["libboost1.81-dev"], also=[package])
        check(done.returncode == 0 and not asked, f"takes {package}", done.stdout + done.stderr)
    for others in ([], ["libboost-dev 1.71.0.0"], ["libboost-regex-dev 1.74.0.3"]):
        done, asked = missing(without=["libboost1.81-dev"], also=others)
        check(done.returncode == 0 and len(asked) == 2 and asked[1].endswith(" libboost1.81-dev"), f"installs 1.81 beside {others}",
              f"{asked} {done.stderr}")


def others_that_conflict():
    pairs = [("libcurl4-openssl-dev", "libcurl4-gnutls-dev 7.88.1"), ("libjpeg62-turbo-dev", "libjpeg-turbo8-dev 2.1"),
             ("libjpeg62-turbo-dev", "libjpeg9-dev 9e"), ("ocl-icd-libopencl1", "nvidia-libopencl1 525")]
    for package, other in pairs:
        done, asked = missing(without=[package], also=[other])
        check(done.returncode == 0 and not asked, f"takes {other}", str(asked))
        done, asked = missing(without=[package])
        check(len(asked) == 2 and asked[1].endswith(f" {package}"), f"installs {package}", str(asked))


def nothing_is_removed():
    done, asked = missing(without=["libstb-dev", "g++"])
    check(asked[1].startswith("install ") and "--no-remove" in asked[1] and asked[1].endswith(" g++ libstb-dev"), "with --no-remove",
          str(asked))
    done, asked = missing(root="1000", without=["libstb-dev"])
    check(done.returncode == 1 and not asked, "without root it installs nothing")
    check("sudo apt-get install --no-remove --no-install-recommends libstb-dev" in done.stderr, "and says what to run", done.stderr)


def nothing_is_replaced():
    done, asked = missing(without=["libstb-dev"], simulated="Inst zlib1g [1.2.11] (1.2.13 Debian)\nInst libstb-dev (0.0 Debian)\n")
    check(done.returncode == 1 and asked == ["update -qq"], "installs nothing that replaces a package", str(asked))
    check("Inst zlib1g [1.2.11]" in done.stderr and "apt-get upgrade" in done.stderr, "and says which", done.stderr)


def fixes_are_installed():
    fix = "Inst libcurl4 [7.88.1-10+deb12u14] (7.88.1-10+deb12u15 Debian:12.15/oldstable [amd64]) []\n"
    done, asked = missing(without=["libstb-dev"], simulated=fix)
    check(done.returncode == 0 and len(asked) == 2, "installs Debian's fix of the same version", f"{asked} {done.stderr}")
    newer = "Inst zlib1g [1:1.2.13.dfsg-1] (1:1.3.dfsg-1 Debian)\n"
    done, asked = missing(without=["libstb-dev"], simulated=fix + newer)
    check(done.returncode == 1 and asked == ["update -qq"], "but no other version beside it", str(asked))
    check("zlib1g" in done.stderr and "libcurl4" not in done.stderr, "and names only that one", done.stderr)


main(nothing_is_missing, boost, others_that_conflict, nothing_is_removed, nothing_is_replaced, fixes_are_installed)
