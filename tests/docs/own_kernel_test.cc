// SPDX-License-Identifier: MIT
// Follows docs/own-kernel.md. This file has the page's code, and a test compares the two texts.
#include <cmath>
#include <vector>

#include "matrix/ops/random.h"
#include "matrix/random.h"
#include "tests/docs/page.h"
#include "tests/support/devices.h"

// clang-format off
// page: includes
#include <hwy/highway.h>
#include <kaiseki.h>
#include "matrix/opencl.h"

using namespace kaiseki;
namespace hn = hwy::HWY_NAMESPACE;
// page: end

namespace {

// page: the CPU
void scale_row(const float* x, size_t d, float* y) {
  const hn::ScalableTag<float> tag;
  const size_t lanes = hn::Lanes(tag), whole = d - d % lanes;
  auto squares = hn::Zero(tag);
  for (size_t i = 0; i < whole; i += lanes) {
    const auto v = hn::LoadU(tag, x + i);
    squares = hn::MulAdd(v, v, squares);
  }
  float sum = hn::GetLane(hn::SumOfLanes(tag, squares));
  for (size_t i = whole; i < d; ++i) sum += x[i] * x[i];
  const float scale = 1 / std::sqrt(sum / float(d) + 1e-6f);
  for (size_t i = 0; i < whole; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(tag, x + i), hn::Set(tag, scale)), tag, y + i);
  for (size_t i = whole; i < d; ++i) y[i] = x[i] * scale;
}

Tensor rms_on_cpu(const Tensor& x) {
  const Tensor input = x.to(Device::cpu()).contiguous();
  Tensor y(x.shape(), DType::f32, Device::cpu());
  const float* from = input.data<float>();
  float* to = y.overwrite<float>();
  const auto d = size_t(x.dim(1));
  parallel_for(x.dim(0), 16, [&](int64_t begin, int64_t end) {
    for (auto row = size_t(begin); row < size_t(end); ++row)
      scale_row(from + row * d, d, to + row * d);
  });
  return y;
}
// page: end

// page: OpenCL
const CustomKernel kRms(R"(
__kernel void rms(__global const float* x, __global float* y, int d) {
  __local float sums[64];
  const int lane = get_local_id(0);
  const __global float* row = x + (long)get_group_id(0) * d;
  float sum = 0;
  for (int i = lane; i < d; i += 64) sum += row[i] * row[i];
  sums[lane] = sum;
  for (int half = 32; half > 0; half /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half) sums[lane] += sums[lane + half];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float scale = rsqrt(sums[0] / d + 1e-6f);
  for (int i = lane; i < d; i += 64) y[(long)get_group_id(0) * d + i] = row[i] * scale;
})", "rms");
// page: end

// page: the operation
/// Divides each row of x [n, d] by its root mean square.
Tensor rms_normalize(const Tensor& x, const CustomKernel& kernel = kRms) {
  require(x.defined() && x.rank() == 2 && x.dtype() == DType::f32, "rms_normalize",
          "expected x of type f32 and shape [n, d]");
  if (x.size() == 0) return x;
  if (x.device().backend_name() == "opencl") try {
      Tensor y(x.shape(), DType::f32, x.device());
      kernel.run(x.device(), {x, y, int32_t(x.dim(1))}, {size_t(x.dim(0)) * 64}, {64});
      return y;
    } catch (const KernelError& refusal) {
      log_warning_once(refusal.what());
    }
  return rms_on_cpu(x).to(x.device());
}
// page: end
// clang-format on

std::string code_of(const std::string& part) {
  return test::between(test::text_of("tests/docs/own_kernel_test.cc"), "// page: " + part + "\n",
                       "// page: end");
}

void check_rms(const Tensor& x, const CustomKernel& kernel) {
  const Tensor y = rms_normalize(x, kernel);
  REQUIRE(y.device() == x.device());
  const std::vector<float> in = x.to_vector(), out = y.to_vector();
  const auto d = static_cast<size_t>(x.dim(1));
  for (size_t first = 0; first < in.size(); first += d) {
    double sum = 0;
    for (size_t i = 0; i < d; ++i) sum += static_cast<double>(in[first + i]) * in[first + i];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(d) + 1e-6);
    for (size_t i = 0; i < d; ++i)  // a sum of at most 1000 squares in f32
      CHECK(out[first + i] == doctest::Approx(in[first + i] * scale).epsilon(1e-5));
  }
}

Tensor rows(const Shape& shape, Device device) {
  Tensor x(shape, DType::f32, Device::cpu());
  Random random(7);
  random_normal_into(x, random, 0, 1);
  return x.to(device);
}

}  // namespace

TEST_CASE("own kernel: the page has this code") {
  const auto blocks = test::code_blocks(test::text_of("docs/own-kernel.md"), "cpp");
  REQUIRE(blocks.size() == 4);
  CHECK(blocks[0] == code_of("includes"));
  CHECK(blocks[1] == code_of("the CPU"));
  CHECK(blocks[2] == code_of("OpenCL"));
  CHECK(blocks[3] == code_of("the operation"));
}

TEST_CASE("own kernel: each device computes the page's operation") {
  test::for_each_device([](Device device) {
    for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{1, 1}, Shape{7, 17}, Shape{3, 64},
                               Shape{37, 131}, Shape{2, 1000}})
      check_rms(rows(shape, device), kRms);
  });
}

TEST_CASE("own kernel: where the driver refuses it, the CPU computes") {
  const CustomKernel refused("__kernel void rms(no OpenCL C", "rms");
  test::for_each_device([&](Device device) { check_rms(rows({7, 17}, device), refused); });
}
