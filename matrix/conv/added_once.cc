// SPDX-License-Identifier: MIT
#include "matrix/conv/added_once.h"

#include <string>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"

namespace kaiseki::conv {

AddedOnce::AddedOnce(Backend& backend, const ConvArgs& args, bool copies)
    : backend_(backend), args_(args), queued_(backend.queued_kernels()) {
  if (!copies || args.beta == 0 || backend.device().is_cpu()) return;
  try {
    before_ = args.filter->clone();
  } catch (const OutOfMemory&) {
  }
}

void AddedOnce::undo(const Error& error) const {
  if (args_.beta == 0 || backend_.queued_kernels() == queued_) return;
  if (!before_.defined())
    throw DeviceError(error.as_message() + "; the gradient is already partly changed");
  run_operation(kCopy, before_, {&before_, args_.filter});
}

}  // namespace kaiseki::conv
