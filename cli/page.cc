// SPDX-License-Identifier: MIT
#include "cli/page.h"

// The page is included as raw bytes. An array of numbers of this size would take the compiler
// minutes, and gigabytes of memory.
__asm__(
    ".section .rodata\n"
    ".hidden kaiseki_page, kaiseki_page_end\n"
    ".globl kaiseki_page, kaiseki_page_end\n"
    "kaiseki_page: .incbin \"" KAISEKI_PAGE_TAR
    "\"\n"
    "kaiseki_page_end:\n"
    ".previous\n");
extern "C" __attribute__((visibility("hidden"))) const std::byte kaiseki_page[], kaiseki_page_end[];

namespace kaiseki::cli {

ByteView embedded_page() { return {kaiseki_page, kaiseki_page_end}; }

}  // namespace kaiseki::cli
