// SPDX-License-Identifier: MIT
// The CPU's solvers with several threads.
#include "matrix/threads.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "matrix/backend/backend.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/directions.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki {

TEST_CASE("the CPU's solvers give the same bits with any number of threads") {
  const Device device = Device::cpu();
  for (ConvProblem p : test::conv_cases_to_repeat(device)) {
    const Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1);
    const Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2);
    const Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3);
    for (const ConvSolver* solver : device.backend().conv_solvers()) {
      INFO(std::string(solver->name()), " ", p.str());
      REQUIRE(solver->deterministic());
      for (ConvDirection direction : test::kDirections) {
        p.direction = direction;
        if (!solver->applicable(p)) continue;
        std::vector<float> first;
        for (int threads : {1, 2, 3}) {
          set_thread_count(threads);
          Tensor copies[] = {x, filter, y};
          Tensor& out = copies[direction == ConvDirection::forward         ? 2
                               : direction == ConvDirection::backward_data ? 0
                                                                           : 1];
          out = Tensor::zeros(out.shape());
          test::run_solver(*solver, p, {.x = &copies[0], .filter = &copies[1], .y = &copies[2]},
                           device);
          if (first.empty()) first = out.to_vector();
          CHECK(first == out.to_vector());
        }
      }
    }
  }
  set_thread_count(0);
}

}  // namespace kaiseki
