# SPDX-License-Identifier: MIT
# What of the tests does not run as WebAssembly, and why. Everything else does, unchanged.

# There is no gzip (nn/io/no_zlib), and no process to fork.
set(left_out_sources gzip_test.cc file_test.cc)

# Cases by name, in both variants.
set(left_out_cases
)
# Cases by name, without threads.
set(left_out_without_threads
)
