// SPDX-License-Identifier: MIT
// Linked into programs without threads, whose thread-local variables lie at fixed addresses: the
// base that compiled code adds to them must be 0, and wasm-ld 19 sets it to where they begin.
__asm__(
    ".globaltype __tls_base, i32\n"
    ".globl __tls_base\n"
    "__tls_base:\n");
