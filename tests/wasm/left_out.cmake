# SPDX-License-Identifier: MIT
# What of the tests does not run as WebAssembly, and why. Everything else does, unchanged.

# There is no gzip (nn/io/no_zlib), no process to fork, and no environment that says where data sets lie.
set(left_out_sources gzip_test.cc file_test.cc real_data_test.cc)

# Cases by name, in both variants.
set(left_out_cases
  "where no more threads can be started*"  # no limit of the address space can be set
  "tuning file: two processes at once*"    # no process to fork
)
# Cases by name, without threads: they start some.
set(left_out_without_threads
  "every index runs once*"
  "expression: a text is parsed once*"
  "several threads may compute at once"
  "solver order: measurements with other threads*"
)
