// SPDX-License-Identifier: MIT
// Compiles every kernel file with every set of defines that the backend uses. It also counts the
// kernels, so that no kernel stays untested.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "matrix/activation.h"
#include "matrix/backend/opencl/launch.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki::opencl {
namespace {

using Texts = std::vector<std::string>;

struct File {
  std::string name;
  Texts kernels;
  std::vector<Texts> defines;  // one define of each list
};

const Texts kTransposes = {"-DTRANS_A=0 -DTRANS_B=0", "-DTRANS_A=0 -DTRANS_B=1",
                           "-DTRANS_A=1 -DTRANS_B=0", "-DTRANS_A=1 -DTRANS_B=1"};
const Texts kBias = [] {  // each activation, after one of the three kinds of bias
  Texts all;
  for (size_t i = 0; i < kActivations.size(); ++i)
    all.push_back(text_from("-DBIAS=", i % 3, " -DACTIVATION=", i));
  return all;
}();
const Texts kIndex = {"", "-DINDEX=long"};
const std::string kDouble = "-DF64 ";  // for devices that have it
const std::string kWindow =
    "-DR=3 -DS=2 -DSTRIDE_H=2 -DSTRIDE_W=1 -DPAD_H=1 -DPAD_W=0 -DDILATION_H=1 -DDILATION_W=2";
const std::string kTile =
    "-DR=3 -DS=3 -DDILATION_H=1 -DDILATION_W=1 -DWP=18 -DPS=144 -DOH=6 -DOW=9 -DROWS=2 -DIN_H=6 "
    "-DPAD_H=1";
const std::string kTile64 = " -DTILE_M=64 -DTILE_N=64 -DTILE_K=8 -DITEMS_M=8 -DITEMS_N=8";
const std::string kTile32 = " -DTILE_M=32 -DTILE_N=32 -DTILE_K=16 -DITEMS_M=8 -DITEMS_N=8";
const std::string kTile128 = " -DTILE_M=128 -DTILE_N=128 -DTILE_K=8 -DITEMS_M=16 -DITEMS_N=16";
const std::string kWhole = " -DWHOLE_A=1 -DWHOLE_B=1 -DWHOLE_C=1";
const std::string kParts = " -DWHOLE_A=0 -DWHOLE_B=0 -DWHOLE_C=0";
const Texts kWinograd = {
    "-DOUTPUTS=4 -DTAPS=3 -DROW=46 -DLANES=1", "-DOUTPUTS=4 -DTAPS=3 -DROW=46 -DLANES=8",
    "-DOUTPUTS=2 -DTAPS=5 -DROW=26 -DLANES=2", "-DOUTPUTS=2 -DTAPS=3 -DROW=24 -DLANES=4"};

const std::vector<File>& files() {
  static const std::vector<File> all = {
      {"arg_reduce.cl",
       {"arg_reduce"},
       {{"-DMAXIMUM=0", "-DMAXIMUM=1"},
        {"-DTYPE=float", "-DTYPE=int", "-DTYPE=uchar", kDouble + "-DTYPE=double"},
        kIndex}},
      {"batch_norm.cl",
       {"statistics", "normalize_elements", "gradients", "backward"},
       {{"-DINFER=0", "-DINFER=1"}}},
      {"batch_norm_group.cl",
       {"statistics_parts", "statistics_join", "gradients_parts", "gradients_join",
        "normalize_elements", "backward"},
       {{"-DGROUP=256 -DSPAN=2048"}, {"-DLANES=1", "-DLANES=4"}, {"-DINFER=0", "-DINFER=1"}}},
      {"cast.cl",
       {"cast"},
       {{kDouble + "-DFROM=double -DTO=float", kDouble + "-DFROM=double -DTO=int -DINTEGER",
         kDouble + "-DFROM=double -DTO=uchar -DINTEGER",
         kDouble + "-DFROM=double -DTO=uchar -DBOOL", kDouble + "-DFROM=float -DTO=double",
         kDouble + "-DFROM=int -DTO=double", kDouble + "-DFROM=uchar -DTO=double"},
        kIndex}},
      {"cluster.cl",
       {"squared_distances", "nearest_labels"},
       {{"-DCENTERS=1", "-DCENTERS=2", "-DCENTERS=12"}, {"-DALONG=0", "-DALONG=1"}, kIndex}},
      {"cluster.cl",
       {"row_products"},
       {{"-DPRODUCTS"},
        {"-DCENTERS=1", "-DCENTERS=2", "-DCENTERS=12"},
        {"-DALONG=0 -DBIAS=0", "-DALONG=1 -DBIAS=1"},
        kIndex}},
      {"cluster.cl", {"cluster_sums", "cluster_sums_columns", "column_products"}, {kIndex}},
      {"conv_depthwise.cl",
       {"depthwise_forward", "depthwise_backward_data", "depthwise_backward_filter"},
       {{kWindow + " -DMULTIPLIER=2 -DROW=16 -DMARGIN=0 -DPARTS=20"},
        {"-DBIAS=0", "-DBIAS=1 -DACTIVATION=1"},
        kIndex}},
      {"conv_depthwise_group.cl",
       {"depthwise_backward_filter_group"},
       {{kWindow + " -DMULTIPLIER=2"}, {"-DGROUP=1", "-DGROUP=128"}, kIndex}},
      {"conv_direct.cl",
       {"pack_filter", "conv_direct"},
       {{kTile},
        {"-DKT=6 -DVX=2 -DHALF=1", "-DKT=12 -DVX=1 -DHALF=0"},
        {"-DFLIP=0 -DBIAS=1 -DACTIVATION=1", "-DFLIP=1 -DBIAS=0"},
        kIndex}},
      {"conv_direct_filter.cl",
       {"conv_direct_filter"},
       {{kTile}, {"-DKT=4 -DCT=2"}, {"-DHALF=0 -DOWP=16 -DOPS=96", "-DHALF=1 -DOWP=16 -DOPS=96"}}},
      {"conv_fft.cl",
       {"fft_tiles", "fft_filters", "fft_columns", "fft_output", "fft_gradient"},
       {{"-DSIZE=16 -DLANES=1", "-DSIZE=32 -DLANES=16", "-DSIZE=16 -DLANES=4"},
        {"-DBIAS=0", "-DBIAS=1 -DACTIVATION=1"},
        kIndex}},
      {"conv_im2col.cl", {"im2col", "col2im"}, {{kWindow}, kIndex}},
      {"tile_product.cl+conv_implicit_gemm.cl",
       {"conv_implicit_gemm"},
       {{kWindow + kTile64 + kWhole + " -DBIAS=0",
         kWindow + kTile32 + kParts + " -DBIAS=1 -DACTIVATION=1"},
        {"-DDIRECTION=0", "-DDIRECTION=1", "-DDIRECTION=2"},
        kIndex}},
      {"conv_im2col_rows.cl", {"im2col_rows", "col2im_rows"}, {{kWindow + " -DHALVED=16"}, kIndex}},
      {"conv_simple.cl",
       {"conv_forward", "conv_backward_data", "conv_backward_filter"},
       {{kWindow}, {"-DBIAS=0", "-DBIAS=1 -DACTIVATION=1"}, kIndex}},
      {"copy.cl",
       {"copy"},
       {{"-DRANK=1", "-DRANK=2", "-DRANK=3", "-DRANK=5", "-DRANK=8"},
        {"-DTYPE=uint", "-DTYPE=uchar", "-DTYPE=ulong"}}},
      {"cross_entropy.cl", {"cross_entropy_forward", "cross_entropy_backward"}, {kIndex}},
      {"fill.cl",
       {"fill"},
       {{"-DTYPE=float", "-DTYPE=int", "-DTYPE=uchar", kDouble + "-DTYPE=double"}, kIndex}},
      {"fold.cl",
       {"fold", "scan"},
       {{"-DKIND=0", "-DKIND=3"},
        {"-DIN=float -DOUT=float", "-DIN=int -DOUT=int -DWRAPS", "-DIN=uchar -DOUT=int -DWRAPS",
         kDouble + "-DIN=double -DOUT=double"},
        kIndex}},
      {"fold.cl",
       {"fold", "scan"},
       {{"-DKIND=1", "-DKIND=2"},
        {"-DIN=float -DOUT=float", "-DIN=int -DOUT=int", "-DIN=uchar -DOUT=uchar",
         kDouble + "-DIN=double -DOUT=double"},
        kIndex}},
      {"fold.cl",
       {"fold"},
       {{"-DKIND=4", "-DKIND=5"},
        {"-DIN=float", "-DIN=int", "-DIN=uchar", kDouble + "-DIN=double"},
        {"-DOUT=uchar"},
        kIndex}},
      {"gemm_check.cl", {"gemm_check"}, {kIndex}},
      {"gemm_direct.cl", {"gemm_direct"}, {kTransposes, kBias}},
      {"gemm_direct.cl", {"gemm_direct"}, {{kDouble + kBias[0]}, kTransposes, kIndex}},
      {"gemm_epilogue.cl", {"gemm_epilogue"}, {kBias, kIndex}},
      {"gemm_packed.cl",
       {"pack_a", "pack_b", "gemm_packed"},
       {{"-DROWS=6 -DVECTORS=4", "-DROWS=12 -DVECTORS=2", "-DROWS=6 -DVECTORS=1"},
        {kTransposes[0], kTransposes[3]},
        {kBias[0], kBias[1], kBias[2]}}},
      {"tile_product.cl+gemm_tiled.cl",
       {"gemm_tiled"},
       {{kTile64 + kWhole, kTile128 + kWhole, kTile32 + kParts},
        kTransposes,
        {kBias[0], kBias[1]}}},
      {"tile_product.cl+gemm_tiled.cl",
       {"gemm_tiled"},
       {{kDouble + kBias[0] + kTile32 + kWhole}, kTransposes, kIndex}},
      {"index.cl",
       {"take", "put", "add_at", "add_integers_at"},
       {{"-DSHARED=0", "-DSHARED=1"},
        {"-DTYPE=uint", "-DTYPE=uchar", "-DTYPE=ulong", "-DTYPE=float"},
        kIndex}},
      {"lrn.cl", {"lrn_forward", "lrn_ratio", "lrn_backward"}, {{"-DSIZE=5", "-DSIZE=2"}, kIndex}},
      {"lrn_lanes.cl",
       {"lrn_forward_lanes", "lrn_backward_lanes"},
       {{"-DSIZE=5", "-DSIZE=2"}, kIndex}},
      {"normalize.cl", {"normalize_bytes"}, {kIndex}},
      {"pad_planes.cl", {"pad_planes"}, {{kTile + " -DH=6 -DW=9 -DPAD_W=2"}, kIndex}},
      {"pooling.cl",
       {"max_pool", "max_pool_backward", "average_pool", "average_pool_backward"},
       {{"-DWINDOW_H=3 -DWINDOW_W=2 -DSTRIDE_H=2 -DSTRIDE_W=1 -DPAD_H=1 -DPAD_W=0"},
        {"-DCOUNT_PADDING=0", "-DCOUNT_PADDING=1"},
        kIndex}},
      {"pooling_planes.cl",
       {"max_pool_planes", "max_pool_backward_planes", "average_pool_planes",
        "average_pool_backward_planes"},
       {{"-DWINDOW_H=2 -DWINDOW_W=2 -DSTRIDE_H=2 -DSTRIDE_W=2 -DPAD_H=0 -DPAD_W=0"},
        {"-DCOUNT_PADDING=0", "-DCOUNT_PADDING=1"},
        {"-DLANES=0 -DROW=8 -DPARTS=9 -DMARGIN=0", "-DLANES=4", "-DLANES=8", "-DLANES=16"}}},
      {"random.cl", {"random"}, {{"-DKIND=0", "-DKIND=1", "-DKIND=2"}, kIndex}},
      {"random.cl", {"random_integers"}, {{"-DKIND=3"}, kIndex}},
      {"reduce.cl",
       {"reduce_row", "reduce_column"},
       {{"-DKIND=0", "-DKIND=1", "-DKIND=2", "-DKIND=3"}, {"", kDouble}, {"", "-DGROUP=128"}}},
      {"smoke.cl", {"smoke"}, {}},
      {"softmax.cl",
       {"softmax_forward", "softmax_backward"},
       {{"-DLOG=0", "-DLOG=1"}, {"-DGROUP=1", "-DGROUP=64"}}},
      {"sort.cl",
       {"sort_pairs", "sort_step", "sort_indices", "search_sorted"},
       {{"-DTYPE=float", "-DTYPE=int -DINTEGER", "-DTYPE=uchar -DINTEGER"}, kIndex}},
      {"sort.cl",
       {"first_pairs", "first_indices"},
       {{"-DTYPE=float", "-DTYPE=int -DINTEGER", "-DTYPE=uchar -DINTEGER"},
        {"-DLEADING=8", "-DLEADING=64"},
        kIndex}},
      {"sort.cl", {"search_sorted"}, {{kDouble + "-DTYPE=double"}, kIndex}},
      {"triangle.cl",
       {"triangle"},
       {{"-DUPPER=0", "-DUPPER=1"}, {"-DTYPE=uint", "-DTYPE=uchar", "-DTYPE=ulong"}, kIndex}},
      {"winograd_input.cl",
       {"winograd_input", "winograd_filter"},
       {kWinograd,
        {"-DGRADIENT=0 -DTURNED=0", "-DGRADIENT=0 -DTURNED=1", "-DGRADIENT=1 -DTURNED=0"}}},
      {"winograd_output.cl",
       {"winograd_output", "winograd_gradient"},
       {kWinograd, {"-DBIAS=0", "-DBIAS=1 -DACTIVATION=1"}, kIndex}},
  };
  return all;
}

Texts combinations(const std::vector<Texts>& lists) {
  Texts all = {""};
  for (auto& list : lists) {
    Texts longer;
    for (auto& start : all)
      for (auto& text : list) longer.push_back(start + " " + text);
    all = longer;
  }
  return all;
}

}  // namespace

TEST_CASE("every kernel file compiles with every set of defines") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice& device = backend->opencl();
  ProgramCache programs(device.facts(), device.label(), device.context());
  int programs_built = 0, kernels = 0;
  for (const File& file : files())
    for (const std::string& options : combinations(file.defines)) {
      INFO(file.name, options);
      if (options.find("-DF64") != std::string::npos && !device.facts().has_f64) continue;
      cl_program program = programs.get(file.name, Source::file, options);
      ++programs_built;
      for (const std::string& name : file.kernels) {
        cl_int status = CL_SUCCESS;
        cl_kernel kernel = cl().clCreateKernel(program, name.c_str(), &status);
        CHECK_MESSAGE(status == CL_SUCCESS, name);
        if (status == CL_SUCCESS) cl().clReleaseKernel(kernel);
        ++kernels;
      }
    }
  MESSAGE(kernels << " kernels compiled in " << programs_built << " programs");
  CHECK(kernels >= 340);
}

TEST_CASE("every kernel file is tested") {
  std::set<std::string> listed = {"common.cl"}, embedded;
  for (const File& file : files()) {
    std::stringstream names(file.name);
    for (std::string name; std::getline(names, name, '+');) listed.insert(name);
  }
  for (auto file : embedded_kernel_files()) embedded.insert(std::string(file));
  for (const std::string& name : embedded)
    CHECK_MESSAGE(listed.contains(name), name, " has no row in files()");
  for (const std::string& name : listed)
    CHECK_MESSAGE(embedded.contains(name), name, " is no kernel file");
}

}  // namespace kaiseki::opencl
