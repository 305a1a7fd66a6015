#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes NumPy's results for arrays: indexing, reductions, sorting and making. tests/matrix/ops/numpy_test.cc compares with them.

A line of array_cases.txt is: OPERATION INPUT... NAME=VALUE... > RESULT. An input is TYPE:SHAPE:KIND. Its values come from a formula,
which make() has here and the test has in C++. An exact result is TYPE:SHAPE:HASH. Another one is TYPE:SHAPE~VALUE,VALUE,...
"""
import itertools
import pathlib
import random

import numpy as np

TYPES = {"f32": np.float32, "i32": np.int32, "u8": np.uint8, "bool": np.bool_}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0]
EXTREMES = [-(2**31), 2**31 - 1, -1, 0]
LINES = []
rng = random.Random(17)


def make(place, text):
    """The values of input number `place`."""
    dtype, shape, kind = text.split(":")
    shape = tuple(map(int, shape.split(","))) if shape else ()
    count = int(np.prod(shape, dtype=np.int64))
    h = (np.arange(count, dtype=np.uint64) * 2654435761 + (place + 1) * 0x9E3779B9) & 0xFFFFFFFF
    h ^= h >> np.uint64(15)
    h = h * np.uint64(2246822519) & np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(13)
    h = h.astype(np.int64)
    if kind[0] == "k":  # indices
        values = h % (2 * int(kind[1:])) - int(kind[1:])
    elif kind[0] == "c":
        values = h % int(kind[1:])
    elif kind == "s":
        values = h % 7 - 3 if dtype in ("f32", "i32") else h % 4
    elif kind == "u":
        values = (h % 2001 - 1000) / 1000
    elif dtype == "f32":
        values = (h % 2001 - 1000) / 8
        if kind == "x":
            values = np.where(h % 5 == 0, np.array(SPECIAL)[(h >> 8) % 5], values)
    elif dtype == "i32":
        values = h % 2001 - 1000
        if kind == "x":
            values = np.where(h % 3 == 0, np.array(EXTREMES)[(h >> 8) % 4], h - 2**31)
    else:
        values = h % 256
    if dtype == "bool":
        values = (h >> 3) % 2
    return np.asarray(values).astype(TYPES[dtype]).reshape(shape)


def hashed(value):
    if value.dtype == np.float32:
        value = np.where(np.isnan(value), np.float32(np.nan), value + np.float32(0))
        words = value.astype(np.float32).view(np.uint32)
        words = np.where(np.isnan(value), np.uint32(0x7FC00000), words)
    else:
        words = value.astype(np.int64) & 0xFFFFFFFF
    result = 14695981039346656037
    for word in words.ravel().tolist():
        result = ((result ^ word) * 1099511628211) & (2**64 - 1)
    return f"{result >> 32:08x}"


def case(name, inputs, function, exact=True, **parameters):
    with np.errstate(all="ignore"):
        value = np.asarray(function(*(make(i, text) for i, text in enumerate(inputs))))
    if value.dtype in (np.int64, np.uint64):
        value = value.astype(np.int32)
    if value.dtype == np.float64:
        value = value.astype(np.float32)
    head = f"{NAMES[value.dtype]}:{','.join(map(str, value.shape))}"
    tail = ":" + hashed(value) if exact else "~" + ",".join(f"{v:.7g}" for v in value.ravel())
    words = [name, *inputs, *(f"{key}={given}" for key, given in parameters.items())]
    LINES.append(" ".join(words) + " > " + head + tail)


def spec(dtype, shape, kind="p"):
    return f"{dtype}:{','.join(map(str, shape))}:{kind}"


def kinds(dtype):
    return ("p", "s", "x") if dtype in ("f32", "i32") else ("p", "s")


SHAPES = [(0,), (1,), (7,), (17,), (3, 5), (1, 4), (5, 0), (2, 3, 7), (3, 1, 2), (2, 3, 2, 5)]


def slices():
    for number in range(1700):
        shape = rng.choice([(1,), (7,), (13,), (3, 5), (7, 1), (4, 0), (2, 3, 7), (5, 2, 3), (2, 3, 2, 5)])
        indices, words = [], []
        for n in shape[:rng.randint(1, len(shape))]:
            if rng.random() < 0.15 and len(indices) + len(shape) < 8:
                indices.append(None)
                words.append("n")
            if rng.random() < 0.25 and n:
                indices.append(rng.randint(-n, n - 1))
                words.append(str(indices[-1]))
            else:
                start, stop = (rng.choice([None, rng.randint(-n - 2, n + 2)]) for _ in range(2))
                step = rng.choice([None, 1, 2, 3, -1, -2, -5])
                indices.append(slice(start, stop, step))
                words.append(":".join("" if v is None else str(v) for v in (start, stop, step)))
        dtype = rng.choice(list(TYPES))
        case("slice", [spec(dtype, shape)], lambda x: x[tuple(indices)], s=";".join(words))


def along(shape, axis, count):
    return shape[:axis] + (count,) + shape[axis + 1:]


def put_along(x, indices, values, axis, add):
    """In the order of the indices, as np.put_along_axis does not promise."""
    x, values = x.copy(), np.broadcast_to(values, indices.shape)
    with np.errstate(all="ignore"):
        for place in np.ndindex(indices.shape):
            to = place[:axis] + (int(indices[place]),) + place[axis + 1:]
            x[to] = x[to] + values[place] if add else values[place]
    return x


def indexing():
    shapes = [s for s in SHAPES if 0 not in s]
    for shape, dtype in itertools.product(shapes, TYPES):
        for axis in range(len(shape)):
            n = shape[axis]
            for picked in ((), (0,), (3,), (11,), (2, 3)):
                index = spec("i32", picked, f"k{n}")
                x = spec(dtype, shape)
                case("take", [x, index], lambda x, i: np.take(x, i, axis), axis=axis - (len(shape) if n % 2 else 0))
                if len(picked) != 1:
                    continue
                selected = along(shape, axis, picked[0])
                for values in (selected, (1,)):
                    v = spec(dtype, values)

                    def full(x, i, v, add):
                        wide = np.broadcast_to(i.reshape((-1,) + (1,) * (len(shape) - axis - 1)), selected)
                        return put_along(x, wide, v, axis, add)
                    case("put", [x, index, v], lambda x, i, v: full(x, i, v, False), axis=axis)
                    if dtype in ("f32", "i32") and picked[0]:
                        kind = "x" if dtype == "i32" else "p"
                        inputs = [spec(dtype, shape, kind), index, spec(dtype, values, kind)]
                        case("add_at", inputs, lambda x, i, v: full(x, i, v, True), axis=axis)
            for count in (1, 4):
                own = along(shape, axis, count)
                inputs = [spec(dtype, shape), spec("i32", own, f"k{n}")]
                case("gather", inputs, lambda x, i: np.take_along_axis(x, i, axis), axis=axis)
                inputs.append(spec(dtype, own))
                case("scatter", inputs, lambda x, i, v: put_along(x, i, v, axis, False), axis=axis)
                if dtype in ("f32", "i32"):
                    case("scatter_add", inputs, lambda x, i, v: put_along(x, i, v, axis, True), axis=axis)
    for shape, dtype in itertools.product(SHAPES, TYPES):
        for kind in kinds(dtype):
            case("nonzero", [spec(dtype, shape, kind)], np.argwhere)
        for rank in range(1, len(shape) + 1):
            inputs = [spec(dtype, shape), spec("bool", shape[:rank])]
            case("masked_select", inputs, lambda x, m: x[m])

            def masked(x, mask, v):
                x[mask] = v
                return x
            case("masked_put", [*inputs, spec(dtype, (1,))], masked)


def axes_of(shape):
    for count in range(len(shape) + 1):
        yield from itertools.combinations(range(len(shape)), count)


def statistics(dtype, shape, reduced, number, axis, words):
    """Functions whose result is f32 for every type. Integers and bools have one parameter of each by turns."""
    keep = bool(words["k"])
    how = {"axis": axis, "keepdims": keep}
    x = spec(dtype, shape)

    def some(parameters):
        return parameters if dtype == "f32" else [parameters[number % len(parameters)]]

    for ddof in some((0, 1)):
        case("var", [x], lambda x: np.var(x, dtype=np.float64, ddof=ddof, **how)
             if reduced > ddof else np.full_like(np.sum(x, dtype=float, **how), np.nan), exact=False, d=ddof, **words)
    case("mean", [x], lambda x: np.mean(x, dtype=np.float64, **how), exact=False, **words)
    case("stddev", [x], lambda x: np.std(x, dtype=np.float64, **how), exact=False, **words)
    case("median", [x], lambda x: np.median(x.astype(float), **how), exact=False, **words)
    for q in some((0, 0.3, 1)):
        case("quantile", [x], lambda x: np.quantile(x.astype(float), q, **how), exact=False, q=q, **words)
    for p in some((0, 1, 2, 3, "inf", "-inf")):
        power = float(p)

        def norm(x):
            size = np.abs(x.astype(float))
            if np.isinf(power):
                return (np.max if power > 0 else np.min)(size, **how)
            if power == 0:
                return np.sum(x != 0, **how).astype(np.float32)
            return np.sum(size**power, **how) ** (1 / power)
        case("vector_norm", [x], norm, exact=False, p=p, **words)
    z = spec(dtype, shape, "x" if dtype == "f32" and number % 3 == 0 else "p")

    def logsumexp(x):
        largest = np.max(x.astype(float), axis=axis, keepdims=True)
        shift = np.where(np.isfinite(largest), largest, 0)
        total = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
        return total if keep else np.squeeze(total, axis=axis)
    case("logsumexp", [z], logsumexp, exact=False, **words)


def reductions():
    wrapped = {"f32": np.float32, "i32": np.int32, "u8": np.int32, "bool": np.int32}
    for shape, dtype in itertools.product(SHAPES, TYPES):
        for number, axes in enumerate(axes_of(shape)):
            axis, keep = axes or None, number % 2
            words = {"a": ",".join(map(str, axes)), "k": keep}
            how = {"axis": axis, "keepdims": bool(keep)}
            x = spec(dtype, shape, kinds(dtype)[number % len(kinds(dtype))])
            case("sum", [x], lambda x: np.sum(x, dtype=wrapped[dtype], **how), **words)
            case("any", [x], lambda x: np.any(x, **how), **words)
            case("all", [x], lambda x: np.all(x, **how), **words)
            small = spec(dtype, shape, "u" if dtype == "f32" else "s")
            case("prod", [small], lambda x: np.prod(x, dtype=wrapped[dtype], **how), exact=dtype != "f32", **words)
            reduced = np.prod([shape[a] for a in axes or range(len(shape))])
            if reduced == 0:
                continue
            case("max", [x], lambda x: np.max(x, **how), **words)
            case("min", [x], lambda x: np.min(x, **how), **words)
            if 0 not in shape:
                statistics(dtype, shape, reduced, number, axis, words)
        if 0 in shape:
            continue
        for axis, kind in itertools.product(range(len(shape)), kinds(dtype)):
            x = spec(dtype, shape, kind)
            case("argmax", [x], lambda x: np.argmax(x, axis), axis=axis)
            case("argmin", [x], lambda x: np.argmin(x, axis), axis=axis)
            if kind == "p":
                case("argmax_all", [x], np.argmax)
                case("argmin_all", [x], np.argmin)
    for shape, dtype in itertools.product(SHAPES, TYPES):
        for axis, kind in itertools.product(range(len(shape)), kinds(dtype)):
            x = spec(dtype, shape, kind)
            case("cumsum", [x], lambda x: np.cumsum(x, axis, dtype=wrapped[dtype]), axis=axis)
            case("cummax", [x], lambda x: np.maximum.accumulate(x, axis), axis=axis)
            case("cummin", [x], lambda x: np.minimum.accumulate(x, axis), axis=axis)
            y = spec(dtype, shape, "u" if dtype == "f32" else kind)
            case("cumprod", [y], lambda x: np.cumprod(x, axis, dtype=wrapped[dtype]), exact=dtype != "f32", axis=axis)


def order(x, axis, descending):
    """Stable, with NaN last in both directions."""
    def one(row):
        values = row.astype(float)
        sign = -1 if descending else 1
        return np.array(sorted(range(len(row)), key=lambda i: (np.isnan(values[i]), 0 if np.isnan(values[i]) else
                                                              sign * values[i])), dtype=np.int32)
    return np.apply_along_axis(one, axis, x) if x.size else np.zeros(x.shape, np.int32)


def topk_values(x, axis, k):
    for which in ("largest", "smallest"):
        def values(x):
            return np.take_along_axis(x, np.take(order(x, axis, which == "largest"), range(k), axis), axis)
        case("topk_values", [x], values, axis=axis, d=k, t=which)


def sorting():
    for shape, dtype in itertools.product(SHAPES, TYPES):
        for axis, kind in itertools.product(range(len(shape)), kinds(dtype)):
            x = spec(dtype, shape, kind)
            for down in (0, 1):
                case("argsort", [x], lambda x: order(x, axis, down), axis=axis, d=down)
                case("sort", [x], lambda x: np.take_along_axis(x, order(x, axis, down), axis), axis=axis, d=down)
            k = (shape[axis] + 1) // 2
            case("topk", [x], lambda x: np.take(order(x, axis, True), range(k), axis), axis=axis, d=k)
            topk_values(x, axis, k)
        for kind in kinds(dtype):
            x = spec(dtype, shape, kind)
            for which in range(4):
                def unique(x):
                    parts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
                    return parts[which].reshape(x.shape) if which == 2 else parts[which]
                case("unique", [x], unique, d=which)
            for n, right in itertools.product((0, 1, 17), (0, 1)):
                case("searchsorted", [spec(dtype, (n,), kind), x],
                     lambda s, x: np.searchsorted(np.sort(s), x, "right" if right else "left"), d=right)
    # Of 61 elements of kind x, some are NaN and infinite. If k is their number, NaN is in the result.
    for shape, dtype, kind in itertools.product(((61,), (7, 29), (5, 3, 11), (0, 3), (2, 0, 3)), TYPES, ("s", "x")):
        if kind not in kinds(dtype):
            continue
        for axis, n in enumerate(shape):
            for k in sorted({0, min(1, n), n // 2, n}):
                topk_values(spec(dtype, shape, kind), axis, k)
                case("topk_smallest", [spec(dtype, shape, kind)], lambda x: np.take(order(x, axis, False), range(k), axis),
                     axis=axis, d=k)
    for n in (0, 1, 17, 300):
        case("bincount", [spec("i32", (n,), "c9")], np.bincount)
        case("bincount", [spec("i32", (n,), "c9")], lambda x: np.bincount(x, minlength=20), d=20)
        for dtype, bins, kind in itertools.product(TYPES, (1, 2, 7, 10), ("p", "s")):
            case("histogram", [spec(dtype, (n,), kind)], lambda x: np.histogram(x.astype(float), bins, (-3, 3))[0], d=bins)


def arranging():
    for shape, dtype in itertools.product(SHAPES, TYPES):
        x, rank = spec(dtype, shape), len(shape)
        case("squeeze", [x], np.squeeze)
        for axis in range(-rank - 1, rank + 1):
            case("expand_dims", [x], lambda x: np.expand_dims(x, axis), axis=axis)
            case("stack", [x, x], lambda a, b: np.stack([a, b], axis), axis=axis)
        for axes in axes_of(shape):
            case("flip", [x], lambda x: np.flip(x, axes or None), a=",".join(map(str, axes)))
        for axis, shift in itertools.product(range(rank), (0, 1, -2, 9)):
            case("roll", [x], lambda x: np.roll(x, shift, axis), axis=axis, d=shift)
        for axis, count in itertools.product(range(rank), (0, 1, 3)):
            case("repeat", [x], lambda x: np.repeat(x, count, axis), axis=axis, d=count)
            case("repeat_each", [x, spec("i32", (shape[axis],), "c4")], lambda x, r: np.repeat(x, r, axis), axis=axis)
            case("split", [x], lambda x: np.split(x, [count], axis)[1], axis=axis, d=min(count, shape[axis]))
        for start, end in itertools.product(range(rank), range(rank)):
            case("moveaxis", [x], lambda x: np.moveaxis(x, start, end), axis=start, d=end)
        for repeats in ((2,), (1, 3), (2, 2), (3, 0), (2, 1, 2)):
            case("tile", [x], lambda x: np.tile(x, repeats), a=",".join(map(str, repeats)))
        if rank == 1 or rank == 2:
            for k in (-2, -1, 0, 1, 3):
                case("diag", [x], lambda x: np.diag(x, k), d=k)
        if rank > 1:
            for k in (-9, -1, 0, 2):
                case("triu", [x], lambda x: np.triu(x, k), d=k)
                case("tril", [x], lambda x: np.tril(x, k), d=k)
    for rows, columns, k in itertools.product((0, 1, 3, 5), (0, 1, 4), (-2, 0, 1)):
        case("eye", [], lambda: np.eye(rows, columns, k, dtype=np.float32), a=f"{rows},{columns},{k}")
        case("tri", [], lambda: np.tri(rows, columns, k, dtype=np.float32), a=f"{rows},{columns},{k}")
    for start, stop, step in itertools.product((0, -3, 5), (0, 4, 17), (1, 2, -1)):
        for name in ("f32", "i32"):
            case("arange", [], lambda: np.arange(start, stop, step, dtype=TYPES[name]), a=f"{start},{stop},{step}", t=name)
    for count, end in itertools.product((0, 1, 2, 7, 17), (0, 1)):
        case("linspace", [], lambda: np.linspace(-1, 2, count, endpoint=bool(end), dtype=np.float32), exact=False,
             a=f"{count},{end}")
    for a, b, which, order_name in itertools.product((0, 1, 5), (1, 3), (0, 1), ("xy", "ij")):
        case("meshgrid", [spec("f32", (a,)), spec("f32", (b,))],
             lambda x, y: np.meshgrid(x, y, indexing=order_name)[which], d=which, t=order_name)
    for shape in ((0,), (5,), (2, 3)):
        case("one_hot", [spec("i32", shape, "c6")], lambda i: np.eye(6, dtype=np.float32)[i], d=6)
    # Indices of kind k may be negative.
    for shape, dtype in itertools.product(((), (0,), (1,), (17,), (3, 0), (7, 1), (3, 5), (2, 3, 2, 5)), TYPES):
        for classes, kind in itertools.product((1, 2, 7, 13), "ck"):
            case("one_hot", [spec("i32", shape, f"{kind}{classes}")], lambda i: np.eye(classes, dtype=TYPES[dtype])[i],
                 d=classes, t=dtype)
    for shape in ((0,), (3, 0)):
        case("one_hot", [spec("i32", shape, "c1")], lambda i: np.zeros((*shape, 0), np.float32), d=0)


def products():
    modes = {"full": 0, "same": 1, "valid": 2}
    # Few sizes, because OpenCL builds kernels for each.
    for (n, m), mode in itertools.product(((1, 1), (7, 2), (3, 8), (17, 4), (5, 5), (64, 9)), modes):
        inputs = [spec("f32", (n,), "u"), spec("f32", (m,), "u")]
        case("convolve", inputs, lambda a, b: np.convolve(a.astype(float), b, mode), exact=False, d=modes[mode])
        case("correlate", inputs, lambda a, b: np.correlate(a.astype(float), b, mode), exact=False, d=modes[mode])

    def convolve2d(a, b):
        result = np.zeros((a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1))
        for i, j in np.ndindex(b.shape):
            result[i:i + a.shape[0], j:j + a.shape[1]] += a * np.float64(b[i, j])
        return result

    def part(result, a, b, mode):
        start = {"full": (0, 0), "same": ((b[0] - 1) // 2, (b[1] - 1) // 2), "valid": (b[0] - 1, b[1] - 1)}[mode]
        size = {"full": result.shape, "same": a, "valid": (a[0] - b[0] + 1, a[1] - b[1] + 1)}[mode]
        return result[start[0]:start[0] + size[0], start[1]:start[1] + size[1]]
    for (a, b), mode in itertools.product((((5, 7), (2, 3)), ((4, 4), (4, 1)), ((9, 3), (3, 2))), modes):
        inputs = [spec("f32", a, "u"), spec("f32", b, "u")]
        case("convolve", inputs, lambda x, y: part(convolve2d(x, y), a, b, mode), exact=False, d=modes[mode])
        case("correlate", inputs, lambda x, y: part(convolve2d(x, y[::-1, ::-1]), a, b, mode), exact=False, d=modes[mode])
    lengths = dict(zip("abijkl", (2, 3, 4, 5, 7, 1)))
    for text in ("ij->ji", "ij->", "ij->i", "ii", "ii->i", "iij->j", "ij,jk", "ij,jk->ki", "ij,kj->ik", "ji,jk->ik", "i,i->i", "i,j->ij",
                 "i,i", "bij,bjk->bik", "bij,jk->bik", "bi,bi->b", "ab,cd->acbd".replace("c", "i").replace("d", "j"), "ij,jk,kl->il",
                 "ij,ij,ij->i", "abij,abjk->abik", "abi,ajb->ij", "ij,k->j", "l,lij->ij", "iij,jk->ik", "baj,jb->ab", "ijk,jil,kl->"):
        inputs = [spec("f32", tuple(lengths[c] for c in term), "u") for term in text.split("->")[0].split(",")]
        case("einsum", inputs, lambda *x: np.einsum(text, *(v.astype(float) for v in x)), exact=False, t=text)
    for text, *shapes in (("...", (2, 3)), ("...->...", ()), ("...i", (4, 3)), ("i...", (4, 3)), ("...i->i...", (2, 4, 3)),
                          ("...ii->...i", (2, 3, 3)), ("...ii", (2, 3, 3)), ("i->...i", (3,)), ("i...->i", (5,)),
                          ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
                          ("...ij,jk", (7, 3, 4), (4, 2)), ("...,...", (3, 1), (2,)), ("...i,...i->...", (1, 5), (3, 5)),
                          ("i...,i...->...", (4, 1), (4, 3)), ("b...,...c->bc...", (2, 1, 3), (5, 1, 4)), ("...i,...i->...", (0, 5), (1, 5)),
                          ("a...,...,...b->...ab", (2, 3), (3,), (1, 4)), ("...,...", (1, 1), (1,))):
        inputs = [spec("f32", shape, "u") for shape in shapes]
        case("einsum", inputs, lambda *x: np.einsum(text, *(v.astype(float) for v in x)), exact=False, t=text)
    for a, b in (((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 4, 5), (5,)), ((5,), (2, 5, 3)), ((4, 5), (5, 3)),
                 ((2, 4, 5), (2, 5, 3)), ((0,), (0,)), ((3, 0), (0,)), ((2, 3, 4, 5), (2, 3, 5, 2)), ((2, 1, 4, 5), (3, 5, 2)),
                 ((2, 3, 4, 5), (5, 2)), ((4, 5), (2, 2, 5, 3)), ((2, 3, 4, 5), (5,)), ((5,), (2, 3, 5, 2)), ((1, 1, 4, 5), (1, 5, 2)),
                 ((0, 3, 4, 5), (1, 3, 5, 2)), ((2, 2, 2, 3, 4), (2, 1, 2, 4, 3))):
        for step in (1, 2, -1):
            inputs = [spec("f32", a, "u"), spec("f32", b, "u")]

            def matmul(a, b):
                return np.matmul(*(x[(slice(None, None, step),) * x.ndim].astype(float) for x in (a, b)))
            case("matmul", inputs, matmul, exact=False, d=step)
    for n in range(3):
        inputs = [spec("f32", (2, 3, 4), "u"), spec("f32", (2, 3, 4)[3 - n:] + (5,), "u")]
        case("tensordot", inputs, lambda a, b: np.tensordot(a.astype(float), b, n), exact=False, d=n)
    for a, b, n in (((), (), 0), ((), (3,), 0), ((5,), (), 0), ((1,), (1,), 1), ((17,), (17,), 1), ((7, 13), (13, 3), 1),
                    ((3, 5, 7), (3, 5, 7), 3), ((2, 3, 5, 1), (5, 1, 7), 2), ((3, 0), (0, 5), 1), ((0, 3), (3, 4), 1),
                    ((2, 0, 3), (0, 3, 1), 2), ((0,), (4,), 0)):
        inputs = [spec("f32", a, "u"), spec("f32", b, "u")]
        case("tensordot", inputs, lambda a, b: np.tensordot(a.astype(float), b, n), exact=False, d=n)
    for a, b, of_a, of_b in (((3, 5), (2, 4), (), ()), ((7,), (7,), (0,), (-1,)), ((3, 7), (5, 7), (1,), (1,)), ((3, 7), (3, 5), (0,), (0,)),
                             ((2, 3, 5), (5, 3, 4), (1, 2), (1, 0)), ((2, 3, 5), (5, 3, 4), (2, 1), (0, 1)),
                             ((2, 3, 5), (3, 7, 2), (0, 1), (2, 0)), ((2, 3, 5), (3, 7, 2), (-3, -2), (-1, -3)),
                             ((2, 3, 4, 5), (5, 1, 3, 2), (3, 0, 1), (0, 3, 2)), ((2, 3, 4, 5), (4, 2, 5, 3), (0, 1, 2, 3), (1, 3, 0, 2)),
                             ((5, 1, 7), (1, 3, 1), (1,), (2,)), ((3, 3, 3), (3, 3, 3), (2, 0), (1, 2)), ((13, 2, 11), (2, 11, 3), (2, 1), (1, 0)),
                             ((2, 1, 2, 1, 2), (1, 2, 1), (3, 4), (0, 1)), ((2, 0, 3), (3, 4, 0), (1, 2), (2, 0)),
                             ((0, 3), (3, 5), (1,), (0,)), ((0, 4), (2, 0), (0,), (1,))):
        inputs, words = [spec("f32", a, "u"), spec("f32", b, "u")], {"a": ",".join(map(str, of_a)), "b": ",".join(map(str, of_b))}
        case("tensordot", inputs, lambda a, b: np.tensordot(a.astype(float), b, (of_a, of_b)), exact=False, **words)


for write in (slices, indexing, reductions, sorting, arranging, products):
    write()
    print(f"{write.__name__}: {len(LINES)} cases so far")
(pathlib.Path(__file__).parent / "array_cases.txt").write_text("\n".join(dict.fromkeys(LINES)) + "\n")
