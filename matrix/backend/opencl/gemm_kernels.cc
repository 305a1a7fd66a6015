// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_kernels.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/opencl/clblast.h"
#include "matrix/backend/opencl/gemm_thin.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/tile_product.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr std::string_view kTiledProgram = "tile_product.cl+gemm_tiled.cl";
constexpr int64_t kBlock = 384;  // terms per block in gemm_packed.cl

std::string epilogue(const GemmArgs& args) {
  return define("BIAS", static_cast<int>(args.bias_kind)) +
         define("ACTIVATION", static_cast<int>(args.activation));
}

std::string transposes(const GemmArgs& args) {
  return define("TRANS_A", args.trans_a) + define("TRANS_B", args.trans_b);
}

void result(Launch& launch, const GemmArgs& args) {
  launch.optional(args.bias_kind == GemmArgs::Bias::none ? nullptr : args.bias);
  bool whole = args.beta == 0 && args.c->is_contiguous() &&
               args.batch * args.m * args.n == args.c->size() && args.ldc == args.n;
  if (whole)
    launch.out(*args.c);
  else
    launch.in_out(*args.c);
}

void operands(Launch& launch, const Tensor& a, const Tensor& b, const GemmArgs& args) {
  launch.in(a).in(b);
  result(launch, args);
}

void shape_arguments(Launch& launch, const GemmArgs& args) {
  launch.index(args.m).index(args.n).index(args.k).index(args.lda).index(args.ldb).index(args.ldc);
  launch.index(args.stride_a).index(args.stride_b).index(args.stride_c);
  const DType type = args.c->dtype();
  launch.number(args.alpha, type).number(args.beta, type).arg(args.slope);
}

/// Which matrices can be read or written in vectors.
struct Whole {
  bool a, b, c;
  explicit Whole(const GemmArgs& args)
      : a(has_whole_vectors(*args.a, args.trans_a ? args.m : args.k, args.lda, args.stride_a)),
        b(has_whole_vectors(*args.b, args.trans_b ? args.k : args.n, args.ldb, args.stride_b)),
        c(has_whole_vectors(*args.c, args.n, args.ldc, args.stride_c)) {}
};

std::string tiled_options(const ProductTile& tile, const GemmArgs& args) {
  const Whole whole(args);
  return tile_options(tile) + transposes(args) + epilogue(args) + define("WHOLE_A", whole.a) +
         define("WHOLE_B", whole.b) + define("WHOLE_C", whole.c);
}

/// Computes each product in `parts` parts of `span` terms, each to its own matrix of C.
void run_tiles(OpenclDevice& device, const ProductTile& tile, const GemmArgs& args, int64_t parts,
               int64_t span) {
  Launch launch(device, kTiledProgram, "gemm_tiled", tiled_options(tile, args));
  launch.index(args.m).index(args.n).index(args.k).index(args.lda).index(args.ldb).index(args.ldc);
  launch.index(args.stride_a).index(args.stride_b).index(args.stride_c).index(parts).index(span);
  const DType type = args.c->dtype();
  launch.number(args.alpha, type).number(args.beta, type).arg(args.slope);
  operands(launch, *args.a, *args.b, args);
  launch.over_groups(
      {static_cast<size_t>(tile_count(args.n, tile.n)),
       static_cast<size_t>(tile_count(args.m, tile.m)), static_cast<size_t>(args.batch * parts)},
      {tile.items(), 1, 1});
}

template <const ProductTile& kTile>
void tiled(OpenclDevice& device, const GemmArgs& args) {
  run_tiles(device, kTile, args, 1, args.k);
}

/// A kernel of gemm_tiled.cl: the device, the tile, the type and the options.
uint64_t tiled_key(const OpenclDevice& device, const ProductTile& tile, const GemmArgs& args) {
  uint64_t key = static_cast<uint64_t>(device.index());
  const Whole whole(args);
  for (int value : {tile.m / 32, tile.n / 32, static_cast<int>(args.c->dtype()),
                    static_cast<int>(args.bias_kind), static_cast<int>(args.activation),
                    args.trans_a + 2 * args.trans_b, whole.a + 2 * whole.b + 4 * whole.c})
    key = key << 4 | static_cast<uint64_t>(value);
  return key;
}

bool builds(OpenclDevice& device, const ProductTile& tile, const GemmArgs& args) {
  std::string options = tiled_options(tile, args);
  if (args.c->dtype() == DType::f64) options += kF64;
  std::lock_guard lock(device.launch_mutex());
  try {
    return device.kernel(kTiledProgram, Source::file, "gemm_tiled", options).work_group_limit >=
           tile.items();
  } catch (const DeviceError& error) {
    log_warning_once(error.what());
    return false;
  }
}

/// Even if the device supports the work-group size, the kernel may need too many registers or fail
/// to build. Each kernel is tried once, because every product asks.
template <const ProductTile& kTile>
bool tile_fits(OpenclDevice& device, const GemmArgs& args) {
  if (!has_room(device, kTile, args.c->dtype())) return false;
  static std::mutex mutex;
  static std::map<uint64_t, bool> known;
  const uint64_t key = tiled_key(device, kTile, args);
  std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, builds(device, kTile, args)).first->second;
}

/// The number of parts of a product whose tiles are too few for the device.
template <const ProductTile& kTile>
int64_t part_count(const OpenclDevice& device, const GemmArgs& args) {
  constexpr int64_t kLeastTerms = 128;
  const int64_t tiles =
      tile_count(args.m, kTile.m) * tile_count(args.n, kTile.n) * std::max<int64_t>(1, args.batch);
  const int64_t wanted = 4 * static_cast<int64_t>(device.facts().compute_units) / tiles;
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, args.k / kLeastTerms));
}

/// The product of a part, to `sums` or to C's place for the check of its kernel.
GemmArgs part_of(const GemmArgs& args, Tensor* sums) {
  GemmArgs part = args;
  part.c = sums;
  part.ldc = args.n, part.stride_c = args.m * args.n;
  part.alpha = 1, part.beta = 0;
  part.bias_kind = GemmArgs::Bias::none;
  part.activation = Activation::none;
  return part;
}

template <const ProductTile& kTile>
bool parts_fit(OpenclDevice& device, const GemmArgs& args) {
  return args.c->dtype() == DType::f32 && part_count<kTile>(device, args) > 1 &&
         tile_fits<kTile>(device, part_of(args, args.c));
}

template <const ProductTile& kTile>
void tiled_in_parts(OpenclDevice& device, const GemmArgs& args) {
  const int64_t size = args.m * args.n, wanted = part_count<kTile>(device, args);
  const int64_t span = tile_count(tile_count(args.k, wanted), kTile.k) * kTile.k;
  const int64_t parts = tile_count(args.k, span);
  Tensor sums(Shape{args.batch * parts * size}, DType::f32, args.c->device());
  const GemmArgs part = part_of(args, &sums);
  Launch join(device, "gemm_epilogue.cl", "gemm_epilogue", epilogue(args));
  join.index(args.m).index(args.n).index(args.ldc).index(args.stride_c).index(parts);
  join.arg(static_cast<float>(args.alpha)).arg(static_cast<float>(args.beta)).arg(args.slope);
  join.in(sums);
  result(join, args);
  join.build();
  run_tiles(device, kTile, part, parts, span);
  join.over(size, args.batch);
}

bool always(OpenclDevice&, const GemmArgs&) { return true; }

/// k is limited to one block of the packed kernel, so that both kernels add in the same order.
bool is_small(OpenclDevice&, const GemmArgs& args) {
  return args.m * args.n * args.k <= 64 * 64 * 64 && args.k <= kBlock;
}

bool no_tile_fits(OpenclDevice& device, const GemmArgs& args) {
  return !tile_fits<kTile32>(device, args);
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
  int64_t panels_a = ceil_div(args.m, kRows), panels_b = ceil_div(args.n, kWidth);
  int64_t batch_a = args.stride_a ? args.batch : 1, batch_b = args.stride_b ? args.batch : 1;
  int64_t chunks = ceil_div(args.k, kChunk);
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
  launch.over_groups({static_cast<size_t>(ceil_div(panels_a, strip)), static_cast<size_t>(panels_b),
                      static_cast<size_t>(args.batch)},
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
    {"direct", is_small, gemm_direct},
    {"tiled 64", tile_fits<kTile64>, tiled<kTile64>},
    {"tiled 128", tile_fits<kTile128>, tiled<kTile128>},
    {"tiled 64x128", tile_fits<kTile64x128>, tiled<kTile64x128>},
    {"tiled 32", tile_fits<kTile32>, tiled<kTile32>},
    {"tiled 64 in parts", parts_fit<kTile64>, tiled_in_parts<kTile64>, false},
    {"tiled 128 in parts", parts_fit<kTile128>, tiled_in_parts<kTile128>, false},
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
  (tile_fits<kTile32>(device, args) ? tiled<kTile32> : gemm_direct)(device, args);
}

}  // namespace kaiseki::opencl
