// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include <exception>

#include "matrix/error.h"
#include "matrix/log.h"

namespace kaiseki {

void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  std::exception_ptr no_room, refused;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem)) continue;
    Tensor workspace;
    if (const uint64_t bytes = solver->workspace_bytes(problem)) try {
        workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, backend.device());
        args.workspace = &workspace;
      } catch (const OutOfMemory&) {
        if (!no_room) no_room = std::current_exception();
        continue;
      }
    try {
      return solver->run(problem, args);
    } catch (const KernelError& error) {
      log_warning_once(error.what());
      refused = std::current_exception();
    }
  }
  if (refused) std::rethrow_exception(refused);
  if (no_room) std::rethrow_exception(no_room);
  throw DeviceError(message("conv2d", "expected a solver for ", problem.str(), " on ",
                            backend.device().name(), ", got none"));
}

}  // namespace kaiseki
