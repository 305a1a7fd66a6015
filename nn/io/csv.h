// SPDX-License-Identifier: MIT
// CSV: a matrix of numbers as text, one row per line.
#pragma once

#include <string>
#include <string_view>

#include "matrix/tensor.h"

namespace kaiseki::nn {

/// Reads f32 [rows, columns], on the CPU. Commas, semicolons or tabs separate the numbers. If a
/// line has none of them, spaces do. "nan" and "inf" are numbers. Empty lines are skipped. Throws
/// ParseError with line and column, also if a row has another number of columns than the first one.
Tensor read_csv(const std::string& path);
Tensor parse_csv(std::string_view text, std::string_view source = "memory");

/// Writes a matrix, or a vector as one column. An f32 has as few digits as read_csv() needs for the
/// same number. A bool is 1 or 0. Throws ShapeError for other ranks. Replaces the file
/// in one step.
void write_csv(const std::string& path, const Tensor& value);
std::string format_csv(const Tensor& value);

}  // namespace kaiseki::nn
