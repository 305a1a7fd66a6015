# SPDX-License-Identifier: MIT
# The tests that do not run as WebAssembly, with reasons. All others run unchanged.

# WebAssembly has no gzip (nn/io/no_zlib), no fork, and no environment with the data sets' folder. The coordinator's
# side of distributed training is native. The tests of matrix/linalg and ml/ run natively only, so that the tests of pages
# stay small. wasm/test/learn.test.js tests their bindings.
set(left_out_sources "linalg/.*_test.cc|gzip_test.cc|npz_test.cc|idx_test.cc|file_test.cc|real_data_test.cc|attacks_test.cc|faults_test.cc|gather_test.cc|norm_gate_test.cc|snapshots_test.cc|trust_test.cc|updater_test.cc")

# Test cases by name, left out in Node and in pages.
set(left_out_cases
  # The address space has no limit to set, and there is no fork.
  "if no more threads can be started*"
  "tuning file: after two processes write at once*"
  # WebAssembly has no file locks.
  "cache lock: *"
  # File times have a resolution of one second.
  "tuning file: truncated*"
  # WebAssembly has no such instructions.
  "SHA-256: the processor's instructions*"
  # gzip
  "data set: reads CIFAR-10's binary batches*"
  "data set: reads a folder of IDX files"
  "data set: a folder of classes and a tar of it give the same samples"
  "data set: the file of a sample and its place give the bytes of the sample"
  "tar: reads the tensors that it writes*"
  "tar: a flipped bit never changes what a compressed*"
  # Without devices, no search fits a pass to a limit.
  "recomputation: a training on the CPU needs no files*"
  # No path names a pipe.
  "weights: a pipe is read once*"
)

# The programs for Node have no threads. These tests need some, mostly for an iterator's prefetched batches. They run in
# pages. In plan_test.cc a sleeping solver keeps the processor busy without threads, so its time measures nothing.
# pooled_test.cc takes long, and computes the same bits in pages.
set(left_out_sources_without_threads iterator_test.cc checkpoint_test.cc minibatch_memory_test.cc
  minibatch_size_test.cc noise_test.cc plan_test.cc
  pooled_test.cc trainer_test.cc updater_test.cc)
set(left_out_without_threads
  "every index runs once*"
  "timeline: any thread*"
  "expression: a text is parsed once*"
  "several threads may compute at once"
  "dot_filter uses little memory*"
  "conv2d_max_pool: empty outputs are created"
  "workspace: one convolution uses it at a time*"
  "solver order: measurements with other numbers*"
  "metrics: images per second of an epoch*"
  "JPEG: scaled samples do not depend on*"
  "metrics: the log has lines*"
  "the model gives the bytes of a step*"
)

# In browsers: select_test.cc measures solvers of microseconds, and Firefox's clock is too coarse.
set(left_out_sources_in_pages select_test.cc)
