// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_kernels.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/opencl/clblast.h"
#include "matrix/backend/opencl/gemm_thin.h"
#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

constexpr size_t kTileItems = 256;  // work-items per work-group of gemm_tiled.cl
constexpr int64_t kBlock = 384;     // terms per block in gemm_packed.cl

std::string epilogue(const GemmArgs& args) {
  return define("BIAS", static_cast<int>(args.bias_kind)) +
         define("ACTIVATION", static_cast<int>(args.activation));
}

std::string transposes(const GemmArgs& args) {
  return define("TRANS_A", args.trans_a) + define("TRANS_B", args.trans_b);
}

void operands(Launch& launch, const Tensor& a, const Tensor& b, const GemmArgs& args) {
  launch.in(a).in(b).optional(args.bias_kind == GemmArgs::Bias::none ? nullptr : args.bias);
  bool whole = args.beta == 0 && args.c->is_contiguous() &&
               args.batch * args.m * args.n == args.c->size() && args.ldc == args.n;
  if (whole)
    launch.out(*args.c);
  else
    launch.in_out(*args.c);
}

void shape_arguments(Launch& launch, const GemmArgs& args) {
  launch.index(args.m).index(args.n).index(args.k).index(args.lda).index(args.ldb).index(args.ldc);
  launch.index(args.stride_a).index(args.stride_b).index(args.stride_c);
  const DType type = args.c->dtype();
  launch.number(args.alpha, type).number(args.beta, type).arg(args.slope);
}

template <int kTile, int kDepth>
std::string tiled_options(const GemmArgs& args) {
  return define("TILE_M", kTile) + define("TILE_N", kTile) + define("TILE_K", kDepth) +
         transposes(args) + epilogue(args);
}

template <int kTile, int kDepth>
void tiled(OpenclDevice& device, const GemmArgs& args) {
  Launch launch(device, "gemm_tiled.cl", "gemm_tiled", tiled_options<kTile, kDepth>(args));
  shape_arguments(launch, args);
  operands(launch, *args.a, *args.b, args);
  auto tiles = [](int64_t n) { return static_cast<size_t>((n + kTile - 1) / kTile); };
  launch.over_groups({tiles(args.n), tiles(args.m), static_cast<size_t>(args.batch)}, {16, 16, 1});
}

/// Even if the device supports the work-group size, the kernel may need too many registers or fail
/// to build.
template <int kTile, int kDepth>
bool tile_fits(OpenclDevice& device, const GemmArgs& args) {
  const DType type = args.c->dtype();
  if (device.facts().max_work_group < kTileItems ||
      device.facts().local_memory < 2 * kDepth * (kTile + 4) * dtype_size(type))
    return false;
  std::string options = tiled_options<kTile, kDepth>(args);
  if (type == DType::f64) options += kF64;
  static std::mutex mutex;
  static std::set<std::pair<int, std::string>> broken;  // devices and options that fail to build
  std::scoped_lock lock(mutex, device.launch_mutex());
  if (broken.contains({device.index(), options})) return false;
  try {
    const Kernel& kernel = device.kernel("gemm_tiled.cl", Source::file, "gemm_tiled", options);
    return kernel.work_group_limit >= kTileItems;
  } catch (const DeviceError& error) {
    log_warning_once(error.what());
    broken.emplace(device.index(), options);
    return false;
  }
}

bool always(OpenclDevice&, const GemmArgs&) { return true; }

/// k is limited to one block of the packed kernel, so that both kernels add in the same order.
bool is_small(OpenclDevice&, const GemmArgs& args) {
  return args.m * args.n * args.k <= 64 * 64 * 64 && args.k <= kBlock;
}

bool no_tile_fits(OpenclDevice& device, const GemmArgs& args) {
  return !tile_fits<32, 16>(device, args);
}

/// A device with a budget has no room for CLBlast's own temporary memory. On CPUs, compiling
/// CLBlast's kernels takes many seconds per class, too long for small products. Its batched kernel
/// (1.5.3) crashes with PoCL.
bool clblast_serves(OpenclDevice& device, const GemmArgs& args) {
  constexpr double kWorthCompiling = 2e8;  // multiplications and additions
  const double work = 2.0 * static_cast<double>(args.batch) * static_cast<double>(args.m) *
                      static_cast<double>(args.n * args.k);
  const bool worth = args.batch == 1 && work >= kWorthCompiling;
  return (device.style() == Style::gpu || worth) && has_clblast() &&
         Device::opencl(device.index()).memory().account().budget == 0;
}

template <int kRows, int kVectors>
void packed(OpenclDevice& device, const GemmArgs& args) {
  constexpr int64_t kWidth = 16 * kVectors, kChunk = 256;
  Device where = args.c->device();
  std::string options = define("ROWS", kRows) + define("VECTORS", kVectors) + transposes(args);
  int64_t panels_a = (args.m + kRows - 1) / kRows, panels_b = (args.n + kWidth - 1) / kWidth;
  int64_t batch_a = args.stride_a ? args.batch : 1, batch_b = args.stride_b ? args.batch : 1;
  int64_t chunks = (args.k + kChunk - 1) / kChunk;
  int64_t size_a = panels_a * kRows * args.k, size_b = panels_b * kWidth * args.k;
  Tensor a(Shape{batch_a * size_a}, DType::f32, where);
  Tensor b(Shape{batch_b * size_b}, DType::f32, where);
  auto pack = [&](const char* kernel, int64_t length, int64_t panels, int64_t ld, int64_t stride,
                  int64_t batch, const Tensor& from, Tensor& to) {
    Launch launch(device, "gemm_packed.cl", kernel, options);
    launch.index(length).index(args.k).index(ld).index(stride).index(kChunk).index(chunks);
    launch.in(from).out(to).over_groups(
        {static_cast<size_t>(panels * chunks), static_cast<size_t>(batch), 1}, {1, 1, 1});
  };
  pack("pack_a", args.m, panels_a, args.lda, args.stride_a, batch_a, *args.a, a);
  pack("pack_b", args.n, panels_b, args.ldb, args.stride_b, batch_b, *args.b, b);
  int64_t tiles = panels_a * panels_b * args.batch;
  int64_t strip = std::clamp<int64_t>(tiles / (8 * device.facts().compute_units), 1, 16);
  Launch launch(device, "gemm_packed.cl", "gemm_packed", options + epilogue(args));
  launch.index(args.m).index(args.n).index(args.k).index(kBlock).index(strip).index(args.ldc);
  launch.index(args.stride_a ? size_a : 0).index(args.stride_b ? size_b : 0).index(args.stride_c);
  launch.arg(static_cast<float>(args.alpha)).arg(static_cast<float>(args.beta)).arg(args.slope);
  operands(launch, a, b, args);
  launch.over_groups({static_cast<size_t>((panels_a + strip - 1) / strip),
                      static_cast<size_t>(panels_b), static_cast<size_t>(args.batch)},
                     {1, 1, 1});
}

constexpr GemmCandidate kCpu[] = {
    {"packed 6x64", always, packed<6, 4>},
    {"packed 12x32", always, packed<12, 2>},
    {"packed 6x16", always, packed<6, 1>},
    {"direct", is_small, gemm_direct},
    {"few columns", has_few_columns, gemm_few_columns, false},
    {"few rows", has_few_rows, gemm_few_rows, false},
    {"clblast", clblast_serves, gemm_clblast, false},
};

constexpr GemmCandidate kGpu[] = {
    {"tiled 64", tile_fits<64, 16>, tiled<64, 16>},
    {"tiled 128", tile_fits<128, 8>, tiled<128, 8>},
    {"tiled 32", tile_fits<32, 16>, tiled<32, 16>},
    {"direct", is_small, gemm_direct},
    {"clblast", clblast_serves, gemm_clblast, false},
    {"direct, any size", no_tile_fits, gemm_direct},
};

}  // namespace

std::span<const GemmCandidate> gemm_candidates(Style style) {
  if (style == Style::cpu) return kCpu;
  return kGpu;
}

void gemm_direct(OpenclDevice& device, const GemmArgs& args) {
  Launch launch(device, "gemm_direct.cl", "gemm_direct", transposes(args) + epilogue(args));
  shape_arguments(launch, args);
  operands(launch, *args.a, *args.b, args);
  launch.over(args.m * args.n, args.batch);
}

void gemm_f64(OpenclDevice& device, const GemmArgs& args) {
  (tile_fits<64, 16>(device, args) ? tiled<64, 16> : gemm_direct)(device, args);
}

}  // namespace kaiseki::opencl
