// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/linalg.cc.

export interface LinalgMethods<Tensor> {
  /** The x with a x = b. */
  solve(b: Tensor): Tensor;
  /** The inverse. */
  inv(): Tensor;
  /** Row i of l u is row permutation[i] of a. */
  lu(): { permutation: Tensor; l: Tensor; u: Tensor };
  /** The determinant. */
  det(): Tensor;
  /** The sign of the determinant, and the logarithm of its magnitude. */
  slogdet(): { sign: Tensor; log: Tensor };
  /** The lower triangular l with a = l l^T. */
  cholesky(): Tensor;
  /** a = q r, with orthonormal columns of q. Default: size = "thin". */
  qr(size?: 'thin' | 'full'): { q: Tensor; r: Tensor };
  qr(named: { size?: 'thin' | 'full' }): { q: Tensor; r: Tensor };
  /** Eigenvalues of a symmetric matrix, ascending, and their vectors. */
  eigh(): { values: Tensor; vectors: Tensor };
  /** Only the eigenvalues of eigh(). */
  eigvalsh(): Tensor;
  /** Eigenvalues of a square matrix, and their vectors. */
  eig(): { values: { real: Tensor; imaginary: Tensor }; vectors: { real: Tensor; imaginary: Tensor } };
  /** a = u diag(s) vt, s descending. Default: size = "thin". */
  svd(size?: 'thin' | 'full'): { u: Tensor; s: Tensor; vt: Tensor };
  svd(named: { size?: 'thin' | 'full' }): { u: Tensor; s: Tensor; vt: Tensor };
  /** The largest singular values and their vectors. */
  truncated_svd(rank: number): { u: Tensor; s: Tensor; vt: Tensor };
  /**
   * An approximation of truncated_svd() that is faster for a small rank. Default: oversampling = 10, power_iterations =
   * 2, seed = 0.
   */
  randomized_svd(
    rank: number,
    oversampling?: number,
    power_iterations?: number,
    seed?: number,
  ): { u: Tensor; s: Tensor; vt: Tensor };
  randomized_svd(
    rank: number,
    named: { oversampling?: number; power_iterations?: number; seed?: number },
  ): { u: Tensor; s: Tensor; vt: Tensor };
  /** The x of least norm that minimizes the norm of a x - b, the rank, singular values. Default: cutoff = null. */
  lstsq(b: Tensor, cutoff?: number | null): { x: Tensor; rank: Tensor; s: Tensor };
  lstsq(b: Tensor, named: { cutoff?: number | null }): { x: Tensor; rank: Tensor; s: Tensor };
  /** The pseudoinverse. Default: cutoff = null. */
  pinv(cutoff?: number | null): Tensor;
  pinv(named: { cutoff?: number | null }): Tensor;
  /** The number of singular values above the cutoff. Default: cutoff = null. */
  matrix_rank(cutoff?: number | null): Tensor;
  matrix_rank(named: { cutoff?: number | null }): Tensor;
  /** The norm with this name. Default: kind = "frobenius". */
  matrix_norm(kind?: 'frobenius' | 'one' | 'infinity' | 'two' | 'nuclear'): Tensor;
  matrix_norm(named: { kind?: 'frobenius' | 'one' | 'infinity' | 'two' | 'nuclear' }): Tensor;
  /** The sum of the diagonal. */
  trace(): Tensor;
  /** The matrix exponential. */
  expm(): Tensor;
  /** The Kronecker product. */
  kron(b: Tensor): Tensor;
}
