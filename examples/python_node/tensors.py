# SPDX-License-Identifier: MIT
"""Messages with texts and tensors, as docs/protocol-tensors.md specifies them."""
import io
import math
import struct

import numpy as np

F32, F16, I8, I32, U8 = range(5)
TYPES = {"f32": F32, "f16": F16, "i8": I8}
BLOCK = 256  # elements of an i8 tensor with one scale


def padding(count):
    return bytes(-count % 8)


def decode(message):
    """Returns the texts and the tensors, each as a dictionary in the order of the message."""
    stream = io.BytesIO(message)

    def take(form):
        return struct.unpack("<" + form, stream.read(struct.calcsize("<" + form)))

    magic, header_bytes, text_count, tensor_count = take("4sIII")
    if magic != b"KKT1":
        raise ValueError("expected the mark KKT1")
    texts, entries, tensors = {}, [], {}
    for _ in range(text_count):
        key_bytes, value_bytes = take("II")
        key = stream.read(key_bytes).decode()
        texts[key] = stream.read(value_bytes).decode()
    for _ in range(tensor_count):
        kind, rank, exponent, name_bytes = take("BBhI")
        shape = take(f"{rank}Q")
        entries.append((stream.read(name_bytes).decode(), kind, exponent, shape))
    stream.seek(header_bytes)
    for name, kind, exponent, shape in entries:
        tensors[name] = elements(stream, kind, exponent, math.prod(shape)).reshape(shape)
        stream.read(len(padding(stream.tell())))
    return texts, tensors


def elements(stream, kind, exponent, count):
    if kind == F16:
        return np.ldexp(np.frombuffer(stream.read(2 * count), "<f2").astype(np.float32), exponent)
    if kind == I8:
        scales = np.frombuffer(stream.read(4 * math.ceil(count / BLOCK)), "<f4")
        return np.frombuffer(stream.read(count), "i1") * np.repeat(scales, BLOCK)[:count]
    form = {F32: "<f4", I32: "<i4", U8: "u1"}[kind]
    return np.frombuffer(stream.read(np.dtype(form).itemsize * count), form)


def encode(texts, tensors, random):
    """`tensors` is a list of (name, F32, F16 or I8, array). `random` rounds I8."""
    header, data = b"", b""
    for key, value in sorted(texts.items()):
        header += struct.pack("<II", len(key), len(value)) + (key + value).encode()
    for name, kind, array in tensors:
        values = np.ascontiguousarray(array, np.float32)
        largest = float(np.abs(values).max())
        exponent = math.frexp(largest)[1] - 15 if kind == F16 and largest > 0 else 0
        header += struct.pack(f"<BBhI{values.ndim}Q", kind, values.ndim, exponent, len(name), *values.shape) + name.encode()
        part = as_bytes(values.ravel(), kind, exponent, random)
        data += part + padding(len(part))
    header += padding(16 + len(header))
    return struct.pack("<4sIII", b"KKT1", 16 + len(header), len(texts), len(tensors)) + header + data


def as_bytes(values, kind, exponent, random):
    if kind == F32:
        return values.astype("<f4").tobytes()
    if kind == F16:
        return np.ldexp(values, -exponent).astype("<f2").tobytes()
    blocks = np.pad(values, (0, -len(values) % BLOCK)).reshape(-1, BLOCK)
    scales = (np.abs(blocks).max(1) / 127).astype("<f4")
    parts = blocks / np.where(scales > 0, scales, 1)[:, None] + random.random(blocks.shape)
    rounded = np.clip(np.floor(parts), -127, 127).astype("i1").ravel()[:len(values)]
    return scales.tobytes() + rounded.tobytes()
