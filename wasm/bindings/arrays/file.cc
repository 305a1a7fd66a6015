// SPDX-License-Identifier: MIT
// Tensors as bytes and texts of files (nn/io/npy.h, npz.h, csv.h, matrix_json.h), and as NumPy
// prints them (matrix/ops/print.h).
#include "matrix/ops/print.h"
#include "nn/io/csv.h"
#include "nn/io/matrix_json.h"
#include "nn/io/npy.h"
#include "nn/io/npz.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::array<std::string_view, 2> kNames<nn::NpyF8>{"f32", "f64"};

namespace {

ByteVector npz_of(const Record& arrays) {
  std::vector<nn::NamedTensor> named;
  for (const auto& array : arrays) {
    const Tensor* tensor = std::get_if<Tensor>(&array.second);
    if (!tensor) throw Error(message("encode_npz", "expected tensors, got a number"));
    named.push_back({std::string(array.first), *tensor});
  }
  return nn::encode_npz(named);
}

}  // namespace

void add_file_operations(OperationGroup&& table) {
  table.add(
      "to_string(x, precision = 8, threshold = 1000, edge_items = 3, line_width = 75)",
      "The text that NumPy prints.",
      [](const Tensor& x, int precision, int64_t threshold, int64_t edge_items, int line_width) {
        return to_string(x, {precision, threshold, edge_items, line_width});
      });
  table.add("read_npy(bytes, f8 = \"f32\")",
            "Reads a file .npy. Its 64-bit floats get the type f8.",
            [](ByteView bytes, nn::NpyF8 f8) { return nn::read_npy(bytes, "memory", f8); });
  table.add("encode_npy(x)", "The bytes of a file .npy.", nn::encode_npy);
  table.add("read_npz(bytes)", "Reads a file .npz with stored, not deflated arrays.",
            [](ByteView bytes) { return nn::read_npz(bytes); });
  table.add("encode_npz(arrays)", "The bytes of a file .npz.", npz_of);
  table.add("parse_csv(text)", "Reads a matrix f32.",
            [](std::string_view text) { return nn::parse_csv(text); });
  table.add("format_csv(x)", "The text of a matrix or of a column.", nn::format_csv);
  table.add("parse_matrix_json(text)", "Reads a matrix f32 of Sushi.",
            [](std::string_view text) { return nn::parse_matrix_json(text); });
  table.add("format_matrix_json(x)", "The text of a matrix f32 for Sushi.", nn::format_matrix_json);
}

}  // namespace kaiseki::wasm
