// SPDX-License-Identifier: MIT
// A device without double precision. The process asks for the properties of devices only once, so
// this test needs its own.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki {
namespace {

decltype(&::clGetDeviceInfo) real_device_info = nullptr;

cl_int CL_API_CALL without_extensions(cl_device_id device, cl_device_info question, size_t room,
                                      void* into, size_t* needed) {
  if (question != CL_DEVICE_EXTENSIONS)
    return real_device_info(device, question, room, into, needed);
  if (needed) *needed = 1;
  if (room) *static_cast<char*>(into) = '\0';
  return CL_SUCCESS;
}

}  // namespace

TEST_CASE("f64: a device without it throws an error, and computes f32") {
  auto& api = const_cast<opencl::Api&>(opencl::cl());
  real_device_info = api.clGetDeviceInfo;
  api.clGetDeviceInfo = without_extensions;
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  CHECK_FALSE(device.holds(DType::f64));
  for (DType type : {DType::f32, DType::i32, DType::u8, DType::boolean}) CHECK(device.holds(type));
  const std::string text =
      "[tensor] expected a device with elements of type f64, got " + device.name();
  CHECK_THROWS_WITH_AS(Tensor({2}, DType::f64, device), text.c_str(), DeviceError);
  const Tensor narrow = Tensor::full({2, 2}, 3, device);
  const Tensor wide = Tensor::zeros({2}, DType::f64, Device::cpu());
  CHECK_THROWS_WITH_AS(wide.to(device), text.c_str(), DeviceError);
  CHECK_THROWS_WITH_AS(cast(narrow, DType::f64), text.c_str(), DeviceError);
  CHECK_THROWS_WITH_AS(narrow.reinterpret(DType::f64), text.c_str(), DeviceError);
  CHECK((narrow + narrow).eval().to_vector() == std::vector<float>(4, 6));
}

}  // namespace kaiseki
