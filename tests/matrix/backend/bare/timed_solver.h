// SPDX-License-Identifier: MIT
// Solvers of known speeds on the bare backend, and a convolution for them.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "matrix/conv/select.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/lazy.h"
#include "tests/matrix/backend/bare/bare_backend.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

/// y = factor * x, with the given bytes of workspace and milliseconds per image.
class TimedSolver : public ConvSolver {
 public:
  TimedSolver(std::string name, uint64_t workspace, int milliseconds)
      : name_(std::move(name)), workspace_(workspace), milliseconds_(milliseconds) {}
  std::string_view name() const override { return name_; }
  bool applicable(const ConvProblem& p) const override { return p.r * p.s == 1 && p.c == 1; }
  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return workspace_ * static_cast<uint64_t>(p.n);
  }
  void run(const ConvProblem& p, const ConvArgs& args) const override {
    images.push_back(p.n);
    // Simulates work.
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_ * p.n));
    if (p.direction == ConvDirection::backward_filter) {
      float sum = 0;
      for (int64_t i = 0; i < args.y->size(); ++i)
        sum += args.x->data<float>()[i] * args.y->data<float>()[i];
      float* filter = args.filter->mutable_data<float>();
      filter[0] = sum + (args.beta != 0 ? args.beta * filter[0] : 0);
      return;
    }
    const bool forward = p.direction == ConvDirection::forward;
    const float factor = args.filter->data<float>()[0];
    const float* from = (forward ? args.x : args.y)->data<float>();
    float* to = (forward ? args.y : args.x)->mutable_data<float>();
    for (int64_t i = 0; i < args.x->size(); ++i) to[i] = factor * from[i];
  }
  mutable std::vector<int64_t> images;

 private:
  std::string name_;
  uint64_t workspace_;
  int milliseconds_;
};

/// A problem of up to eight images.
struct Problem {
  explicit Problem(int64_t n = 7)
      : x(random_tensor({8, 1, 3, 3}, 1, test::bare_device()).slice(0, 0, n)) {}
  Tensor x;
  Tensor filter = Tensor::full({1, 1, 1, 1}, 3, test::bare_device());
  Tensor y = Tensor::full(x.shape(), 0, test::bare_device());
  ConvProblem problem = conv_problem(x.shape(), filter.shape(), {});

  void check_forward() {
    conv2d_into(y, x, filter, {});
    check_close(y, doubles(x.to(Device::cpu()) * 3), 0);
  }
};

/// Sets the solvers of the bare backend until the end of a test.
class Solvers {
 public:
  explicit Solvers(std::vector<const ConvSolver*> solvers) {
    bare_backend().solvers = std::move(solvers);
    test::bare_device().workspace().set_limit({});
  }
  ~Solvers() {
    bare_backend().solvers.clear();
    test::bare_device().workspace().set_limit({});
  }
};

}  // namespace kaiseki::test
