// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/clblast.h"

#include <dlfcn.h>

#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

// CLBlast's C interface: enumerations are int; sizes and offsets count elements.
enum : int { kRowMajor = 101, kAsStored = 111, kTransposed = 112 };

using Sgemm = cl_int (*)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k,
                         float alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b,
                         size_t b_offset, size_t b_ld, float beta, cl_mem c, size_t c_offset,
                         size_t c_ld, cl_command_queue* queue, cl_event* event);
using SgemmBatched = cl_int (*)(int layout, int a_transpose, int b_transpose, size_t m, size_t n,
                                size_t k, float alpha, cl_mem a, size_t a_offset, size_t a_ld,
                                size_t a_stride, cl_mem b, size_t b_offset, size_t b_ld,
                                size_t b_stride, float beta, cl_mem c, size_t c_offset, size_t c_ld,
                                size_t c_stride, size_t batch, cl_command_queue* queue,
                                cl_event* event);

struct Library {
  Sgemm sgemm = nullptr;
  SgemmBatched batched = nullptr;

  Library() {
    void* handle = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "CLBlastSgemm"));
    batched = reinterpret_cast<SgemmBatched>(dlsym(handle, "CLBlastSgemmStridedBatched"));
  }
};

const Library& library() {
  static const Library* loaded = new Library;
  return *loaded;
}

struct Place {
  cl_mem memory;
  size_t offset;
  Place(const Tensor& t, Access access)
      : memory(static_cast<cl_mem>(t.buffer().on_device(access))),
        offset(static_cast<size_t>(t.offset())) {}
};

void epilogue(OpenclDevice& device, const GemmArgs& args) {
  const bool biased = args.bias_kind != GemmArgs::Bias::none;
  Launch(device, "gemm_epilogue.cl", "gemm_epilogue",
         define("BIAS", static_cast<int>(args.bias_kind)) +
             define("ACTIVATION", static_cast<int>(args.activation)))
      .index(args.m)
      .index(args.n)
      .index(args.ldc)
      .index(args.stride_c)
      .index(0)
      .arg(1.0f)
      .arg(1.0f)
      .arg(args.slope)
      .optional(nullptr)
      .optional(biased ? args.bias : nullptr)
      .in_out(*args.c)
      .over(args.m * args.n, args.batch);
}

}  // namespace

bool has_clblast() { return library().sgemm && library().batched; }

void gemm_clblast(OpenclDevice& device, const GemmArgs& args) {
  auto size = [](int64_t n) { return static_cast<size_t>(n); };
  auto transpose = [](bool stored_transposed) {
    return stored_transposed ? kTransposed : kAsStored;
  };
  const Place a(*args.a, Access::read), b(*args.b, Access::read), c(*args.c, Access::read_write);
  const uint64_t bytes =
      args.a->buffer().bytes() + args.b->buffer().bytes() + args.c->buffer().bytes();
  const auto alpha = static_cast<float>(args.alpha), beta = static_cast<float>(args.beta);
  cl_command_queue queue = device.queue();
  device.enqueue("CLBlastSgemm", bytes, [&] {
    std::lock_guard lock(device.launch_mutex());
    CommandTimer timer(device.timed_queue(), {"kernel", "CLBlastSgemm"});
    if (args.batch == 1)
      return library().sgemm(kRowMajor, transpose(args.trans_a), transpose(args.trans_b),
                             size(args.m), size(args.n), size(args.k), alpha, a.memory, a.offset,
                             size(args.lda), b.memory, b.offset, size(args.ldb), beta, c.memory,
                             c.offset, size(args.ldc), &queue, timer.event());
    return library().batched(
        kRowMajor, transpose(args.trans_a), transpose(args.trans_b), size(args.m), size(args.n),
        size(args.k), alpha, a.memory, a.offset, size(args.lda), size(args.stride_a), b.memory,
        b.offset, size(args.ldb), size(args.stride_b), beta, c.memory, c.offset, size(args.ldc),
        size(args.stride_c), size(args.batch), &queue, timer.event());
  });
  for (const Place* place : {&a, &b, &c}) device.used(place->memory);
  if (args.bias_kind != GemmArgs::Bias::none || args.activation != Activation::none)
    epilogue(device, args);
}

}  // namespace kaiseki::opencl
