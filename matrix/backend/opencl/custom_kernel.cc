// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/error.h"
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/opencl.h"

namespace kaiseki {
namespace {

bool starts_storage(const Tensor& t) { return t.offset() == 0 && t.is_contiguous(); }

}  // namespace

CustomKernel::CustomKernel(std::string source, std::string name, std::string options)
    : source_(std::move(source)), name_(std::move(name)), options_(std::move(options)) {}

void CustomKernel::run(Device device, const std::vector<Argument>& arguments,
                       const std::vector<size_t>& global, const std::vector<size_t>& local) const {
  if (device.backend_name() != "opencl")
    throw DeviceError(message(name_, "expected an OpenCL device, got ", device.name()));
  require(!global.empty() && global.size() <= 3, name_,
          "expected one to three dimensions of work-items, got ", global.size());
  require(local.empty() || local.size() == global.size(), name_, "expected a work-group of ",
          global.size(), " dimensions, got ", local.size());
  for (size_t i = 0; i < local.size(); ++i)
    require(local[i] > 0 && global[i] % local[i] == 0, name_, "expected a work-group that divides ",
            global[i], " work-items, got ", local[i]);

  auto& backend = static_cast<opencl::OpenclBackend&>(device.backend());
  opencl::Launch launch =
      opencl::Launch::from_source(backend.opencl(), opencl::Source::user, source_, name_, options_);
  std::vector<std::pair<Tensor, Tensor>> copied;
  copied.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&argument)) {
      require(tensor->defined() && tensor->device() == device, name_, "expected tensors on ",
              device.name(), ", got one on ", tensor->device().name());
      Tensor whole = *tensor;
      if (!starts_storage(*tensor)) {
        whole = tensor->clone();
        copied.emplace_back(*tensor, whole);
      }
      launch.memory(static_cast<cl_mem>(whole.buffer().on_device(Access::read_write)),
                    whole.buffer().bytes());
    } else {
      std::visit(
          [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Tensor>)
              launch.raw(&value, sizeof(value));
          },
          argument);
    }
  }
  launch.over_range(global, local);
  for (auto& [view, whole] : copied) backend.run(kCopy, {&whole, &view});
}

}  // namespace kaiseki
