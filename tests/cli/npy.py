# SPDX-License-Identifier: MIT
"""Tensors of float32 (or int32) in .npy files, and small PNG pictures, without other packages."""
import ast
import pathlib
import struct
import zlib


def write_npy(path, shape, values, kind="f"):
    header = f"{{'descr': '<{kind}4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                                   struct.pack(f"<{len(values)}{kind}", *values))


def read_npy(path):
    """Returns the shape and the values."""
    data = pathlib.Path(path).read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    kind = {"<f4": "f", "<i4": "i"}[header["descr"]]
    return header["shape"], struct.unpack(f"<{(len(data) - start) // 4}{kind}", data[start:])


def write_png(path, size, level):
    """Writes a gray square of one level, 0..255."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = (b"\0" + bytes([level]) * size) * size
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
