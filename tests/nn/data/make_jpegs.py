#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/nn/data/jpeg with Pillow: small pictures of the smooth surface that jpeg_test.cc computes, in the forms that JPEG has."""
import math
import pathlib

from PIL import Image

FOLDER = pathlib.Path(__file__).parent / "jpeg"


def surface(x, y, c):
    return 128 + 60 * math.cos(0.11 * x + 0.7 * c) + 50 * math.sin(0.09 * y - 0.5 * c)


def make(mode, width, height, pixel):
    picture = Image.new(mode, (width, height))
    picture.putdata([pixel([surface(x, y, c) for c in range(3)]) for y in range(height) for x in range(width)])
    return picture


def rounded(values):
    return tuple(max(0, min(255, round(v))) for v in values)


def ycc(r, g, b):
    return (0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
            128 + 0.5 * r - 0.418688 * g - 0.081312 * b)


def save(name, picture, **how):
    picture.save(FOLDER / f"{name}.jpg", **{"quality": 95, "optimize": True, **how})


def rgb(width, height):
    return make("RGB", width, height, rounded)


FOLDER.mkdir(exist_ok=True)
save("gray", make("L", 17, 13, lambda v: rounded(v)[0]))
save("one_pixel", rgb(1, 1))
save("full_color", rgb(13, 19), subsampling=0)
save("half_color", rgb(31, 9), subsampling=2)
save("progressive", rgb(33, 23), subsampling=2, progressive=True)
save("large", rgb(203, 151), subsampling=2)
# Pillow stores light instead of ink (255 less each value), and marks it with Adobe's marker. A fifth is black.
save("cmyk", make("CMYK", 15, 11, lambda v: rounded([255 - c for c in v] + [51])), subsampling=0)
# With another transform in the same marker, the stored values are Y, Cb, Cr of ink.
save("ycck", make("CMYK", 15, 11, lambda v: rounded([255 - c for c in ycc(*(255 - c for c in v))] + [51])), subsampling=0)
file = bytearray((FOLDER / "ycck.jpg").read_bytes())
file[file.index(b"Adobe") + 11] = 2
(FOLDER / "ycck.jpg").write_bytes(file)
