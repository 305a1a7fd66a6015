// SPDX-License-Identifier: MIT
// NumPy's .npy, versions 1 to 3: f4, f8, i4, i8, u1 and b1, little-endian and big-endian. f8 is
// read as f32 or f64, and i8 as i32. Files are written little-endian.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "matrix/tensor.h"

namespace kaiseki::nn {

/// The type of elements that a file has as f8.
enum class NpyF8 : uint8_t { to_f32, f64 };

/// Reads one array, on the CPU. Converts Fortran order to row-major. Throws ParseError, also if f4
/// or i4 has no room for a number of f8 or i8.
Tensor read_npy(const std::string& path, NpyF8 f8 = NpyF8::to_f32);
Tensor read_npy(ByteSource& source, NpyF8 f8 = NpyF8::to_f32);
Tensor read_npy(ByteView bytes, const std::string& name = "memory", NpyF8 f8 = NpyF8::to_f32);

/// Writes version 1.0, row-major, f64 as f8. Replaces the file in one step (write_file_atomic).
void write_npy(const std::string& path, const Tensor& value);
/// The bytes that write_npy() writes.
ByteVector encode_npy(const Tensor& value);

}  // namespace kaiseki::nn
