// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/file.cc.

export interface FileMethods {
  /** The text that NumPy prints. Default: precision = 8, threshold = 1000, edge_items = 3, line_width = 75. */
  to_string(precision?: number, threshold?: number, edge_items?: number, line_width?: number): string;
  to_string(named: { precision?: number; threshold?: number; edge_items?: number; line_width?: number }): string;
  /** The bytes of a file .npy. */
  encode_npy(): Uint8Array;
  /** The text of a matrix or of a column. */
  format_csv(): string;
  /** The text of a matrix f32 for Sushi. */
  format_matrix_json(): string;
}

export interface FileFunctions<Tensor> {
  /** Reads a file .npy. Its 64-bit floats get the type f8. Default: f8 = "f32". */
  read_npy(bytes: Uint8Array, f8?: 'f32' | 'f64'): Tensor;
  read_npy(bytes: Uint8Array, named: { f8?: 'f32' | 'f64' }): Tensor;
  /** Reads a file .npz with stored, not deflated arrays. */
  read_npz(bytes: Uint8Array): Record<string, Tensor>;
  /** The bytes of a file .npz. */
  encode_npz(arrays: Record<string, Tensor | number>): Uint8Array;
  /** Reads a matrix f32. */
  parse_csv(text: string): Tensor;
  /** Reads a matrix f32 of Sushi. */
  parse_matrix_json(text: string): Tensor;
}
