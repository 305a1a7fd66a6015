// SPDX-License-Identifier: MIT
// Linked into programs without threads. Their thread-local variables are at fixed addresses, and
// compiled code adds __tls_base to these addresses. __tls_base must therefore be 0. Without this
// file, wasm-ld 19 sets it to the address of the first variable.
__asm__(
    ".globaltype __tls_base, i32\n"
    ".globl __tls_base\n"
    "__tls_base:\n");
