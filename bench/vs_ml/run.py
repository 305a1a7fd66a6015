#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the estimators of ml/ with scikit-learn's and dlib's: the seconds and the peak memory, in paired runs of separate processes.

  bench/vs_ml/run.py [--estimators kmeans,pca] [--sets mnist,synthetic] [--threads 1,2] [--runs 3] [--python /usr/bin/python3]
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import report  # noqa: E402

DTYPES = ("float32", "float64")  # scikit-learn is faster with one or the other
DLIB = "dlib"  # of these estimators it has only k-means


# The estimators. Each returns (iterations or 0, a function that computes the quality), as in estimators.cc.
def logistic(x, y):
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression().fit(x, y)
    return int(model.n_iter_.max()), lambda: model.score(x, y)


def kmeans(x, _):
    from sklearn.cluster import KMeans
    model = KMeans(10, n_init=1, max_iter=20, tol=0, random_state=0).fit(x)
    return model.n_iter_, lambda: model.inertia_


def pca(x, _):
    from sklearn.decomposition import PCA
    model = PCA(min(50, x.shape[1] // 2), random_state=0).fit(x)
    return 0, lambda: float(model.explained_variance_ratio_.sum())


def neighbors(x, y):
    from sklearn.neighbors import KNeighborsClassifier
    labels = KNeighborsClassifier(algorithm="brute").fit(x, y).predict(x[:2000])
    return 0, lambda: float((labels == y[:2000]).mean())


def mixture(x, _):
    from sklearn.mixture import GaussianMixture
    large = x.shape[1] > 20
    model = GaussianMixture(5, covariance_type="diag" if large else "full", reg_covar=1e-3 if large else 1e-6, tol=0,
                            max_iter=10, random_state=0).fit(x)
    return model.n_iter_, lambda: float(model.lower_bound_)


def forest(x, y):
    from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(10, random_state=0, n_jobs=int(os.environ["OMP_NUM_THREADS"])).fit(x, y)
    return 0, lambda: model.score(x[:10000], y[:10000])


ESTIMATORS = {"logistic": logistic, "kmeans": kmeans, "pca": pca, "neighbors": neighbors, "mixture": mixture, "forest": forest}


# The data sets: x is f32, y is i32.
def mnist(options):
    import numpy as np
    folder = pathlib.Path(options.data) / "mnist"

    def read(name, header):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=header)
    x = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    return (x / 255).astype(np.float32), read("train-labels-idx1-ubyte.gz", 8).astype(np.int32)


def synthetic(options):
    """10^6 x 20, two overlapping classes."""
    import numpy as np
    random = np.random.default_rng(0)
    x = random.standard_normal((1_000_000, 20), np.float32)
    score = x @ random.standard_normal(20, np.float32) + 2 * random.standard_normal(len(x), np.float32)
    return x, (score > 0).astype(np.int32)


SETS = {"mnist": mnist, "synthetic": synthetic}


def write_set(options):
    import numpy as np
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    x, y = SETS[folder.name](options)
    np.save(folder / "y.npy", y)
    np.save(folder / "x.npy", x)
    print("{}")


def status_bytes(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def run_peer(options):
    """Runs scikit-learn once, and prints the same line as vs_ml."""
    import warnings
    import numpy as np
    import sklearn.cluster, sklearn.decomposition, sklearn.ensemble, sklearn.linear_model, sklearn.mixture, sklearn.neighbors  # noqa: F401,E401  not timed
    warnings.filterwarnings("ignore")
    folder, estimator = pathlib.Path(options.folder), ESTIMATORS[options.estimators]
    x, y = np.load(folder / "x.npy").astype(options.dtype, copy=False), np.load(folder / "y.npy")
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, start, cpu = status_bytes("VmRSS"), time.perf_counter(), time.process_time()
    iterations, quality = estimator(x, y)
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - cpu, status_bytes("VmHWM")
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "peak_memory": peak, "added_memory": peak - before, "iterations": iterations,
                      "quality": quality()}))


def last_json(command, threads, **more):
    env = dict(os.environ, KAISEKI_THREADS=str(threads), OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
               POCL_MAX_PTHREAD_COUNT=str(threads), **more)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text().split():  # else OpenBLAS mistakes some CPUs for older ones
        env.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    done = subprocess.run(list(map(str, command)), env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"vs_ml: expected status 0 of `{' '.join(map(str, command))}`, got {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(options, estimator, folder, threads):
    def ours():
        return last_json([options.program, estimator, folder], threads, KAISEKI_DEVICE=options.device)

    def theirs(dtype):
        if dtype == DLIB:
            return last_json([dlib, folder], threads)
        return last_json([options.python, __file__, "--child", "run_peer", "--estimators", estimator, "--folder", folder, "--dtype", dtype],
                         threads)
    dlib = pathlib.Path(options.program).with_name("vs_ml_dlib")  # built only if CMake finds dlib
    peers = [*DTYPES, DLIB] if estimator == "kmeans" and dlib.exists() else DTYPES
    dtype = min(peers, key=lambda name: theirs(name)["seconds"])
    pairs = [(ours(), theirs(dtype)) for _ in range(options.runs)]
    us, them = zip(*pairs)
    case, peer = f"{estimator} {folder.name}", DLIB if dtype == DLIB else f"scikit-learn ({dtype})"
    more = {key: [us[0][key], them[0][key]] for key in ("cpu_seconds", "iterations", "quality")}
    more["fallbacks"] = us[0]["fallbacks"]
    rows = [report.row("vs_ml", case, peer, threads, [r["seconds"] for r in us], [r["seconds"] for r in them], "s",
                       larger_is_better=False, device=options.device, **more)]
    for key, name in (("peak_memory", "memory"), ("added_memory", "memory beyond the data")):
        rows.append(report.row("vs_ml", f"{case} {name}", peer, threads, *([max(r[key], 1) / 1e6 for r in side] for side in (us, them)),
                               "MB", larger_is_better=False, device=options.device))
    return rows


def chosen(text, known, option):
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"vs_ml: {option}: expected some of {', '.join(known)}, got '{unknown[0]}'")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--estimators", default=",".join(ESTIMATORS))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=3, help="pairs of each case; their median counts")
    parser.add_argument("--device", default="cpu", help="ours: cpu or opencl")
    parser.add_argument("--program", default=str(ROOT / "build/release/bench/vs_ml/vs_ml"))
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has scikit-learn")
    parser.add_argument("--data", default=os.environ.get("KAISEKI_DATA", ""), help="the folder of mnist; default: KAISEKI_DATA")
    parser.add_argument("--cache", default=str(ROOT / "build/vs_ml"), help="where the data sets are written as npy")
    for name in ("--child", "--folder", "--dtype"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        {"run_peer": run_peer, "write_set": write_set}[options.child](options)
        return
    rows = []
    for name in chosen(options.sets, SETS, "--sets"):
        folder = pathlib.Path(options.cache) / name
        if not (folder / "x.npy").exists():
            last_json([options.python, __file__, "--child", "write_set", "--folder", folder, "--data", options.data], 1)
        for estimator in chosen(options.estimators, ESTIMATORS, "--estimators"):
            for threads in map(int, options.threads.split(",")):
                rows += compare(options, estimator, folder, threads)
    report.table(rows)


if __name__ == "__main__":
    main()
