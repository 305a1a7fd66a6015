# SPDX-License-Identifier: MIT
"""Prints the results of every benchmark script: one JSON line per case, or a table on a terminal."""
import json
import statistics
import sys


def row(bench, case, peer, threads, ours, theirs, unit, larger_is_better=True, **more):
    """`ours` and `theirs` are lists of paired runs. A ratio above 1 means that ours is better."""
    pairs = [(o / t if larger_is_better else t / o) for o, t in zip(ours, theirs)]
    line = {"bench": bench, "case": case, "peer": peer, "threads": threads,
            "ours": round(statistics.median(ours), 3), "theirs": round(statistics.median(theirs), 3),
            "unit": unit, "ratio": round(statistics.median(pairs), 3), **more}
    if not sys.stdout.isatty():
        print(json.dumps(line), flush=True)
    return line


def table(rows):
    if not sys.stdout.isatty() or not rows:
        return
    header = ["case", "peer", "threads", "ours", "theirs", "unit", "ratio"]
    cells = [header] + [[f"{r[k]:,}" if isinstance(r[k], (int, float)) else str(r[k]) for k in header] for r in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    for line in cells:
        print("  ".join(c.rjust(w) if i > 1 and i != 5 else c.ljust(w)
                        for i, (c, w) in enumerate(zip(line, widths))).rstrip())
