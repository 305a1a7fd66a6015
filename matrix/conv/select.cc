// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include "matrix/error.h"

namespace kaiseki {

const ConvSolver& select_solver(const Backend& backend, const ConvProblem& problem) {
  for (const ConvSolver* solver : backend.conv_solvers())
    if (solver->applicable(problem)) return *solver;
  throw DeviceError(message("conv2d", "expected a solver for ", problem.str(), " on ",
                            backend.device().name(), ", got none"));
}

void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  const ConvSolver& solver = select_solver(backend, problem);
  Tensor workspace;
  if (const uint64_t bytes = solver.workspace_bytes(problem)) {
    workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, backend.device());
    args.workspace = &workspace;
  }
  solver.run(problem, args);
}

}  // namespace kaiseki
