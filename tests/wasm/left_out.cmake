# SPDX-License-Identifier: MIT
# What of the tests does not run as WebAssembly, and why. Everything else does, unchanged.

# There is no gzip (nn/io/no_zlib), no process to fork, and no environment that says where data sets lie.
# The server's side of training over a pool is native.
set(left_out_sources "gzip_test.cc|idx_test.cc|file_test.cc|real_data_test.cc|faults_test.cc|gather_test.cc|updater_test.cc")

# Cases by name, in both variants.
set(left_out_cases
  # no limit of the address space can be set, and no process forked
  "where no more threads can be started*"
  "tuning file: two processes at once*"
  # files are not locked
  "cache lock: *"
  # the time of a file is known to the second
  "tuning file: cut off anywhere*"
  # there are no such instructions
  "SHA-256 by the processor's instructions*"
  # gzip
  "CIFAR-10's binary batches are a data set*"
  "a folder of IDX files is a data set"
  "folders of classes and tars of them are the same data set"
  "tensors come back from a tar*"
)

# Without threads: what needs one, most of it for the batches that an iterator makes ready. A solver that sleeps for a while
# (plan_test.cc) keeps the processor busy there, and so is no measure of time.
set(left_out_sources_without_threads iterator_test.cc checkpoint_test.cc plan_test.cc trainer_test.cc)
set(left_out_without_threads
  "every index runs once*"
  "expression: a text is parsed once*"
  "several threads may compute at once"
  "dot_filter keeps little*"
  "conv2d_max_pool: outputs are made when they are needed"
  "workspace: one convolution uses it at a time*"
  "solver order: measurements with other threads*"
  "images/s of an epoch is of training alone"
  "samples of scaled pictures do not depend on*"
  "the log has a line for some steps*"
  "what a step moves is what the model says*"
)

# In browsers: it measures solvers of microseconds, for which Firefox's clock is too coarse.
set(left_out_sources_in_pages select_test.cc)
