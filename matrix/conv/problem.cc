// SPDX-License-Identifier: MIT
#include "matrix/conv/solver.h"

namespace kaiseki {
namespace {

std::string pair(char letter, const std::array<int64_t, 2>& values, int64_t usual) {
  if (values[0] == usual && values[1] == usual) return "";
  std::string text = letter + std::to_string(values[0]);
  return values[0] == values[1] ? text : text + "x" + std::to_string(values[1]);
}

}  // namespace

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(out_h()) *
         static_cast<double>(out_w()) * static_cast<double>(c / groups) * static_cast<double>(r * s);
}

std::string ConvProblem::str() const {
  std::string text = "n" + std::to_string(n) + "c" + std::to_string(c) + "h" + std::to_string(h) + "w" +
                     std::to_string(w) + "k" + std::to_string(k) + "r" + std::to_string(r) + "s" +
                     std::to_string(s);
  text += pair('p', padding, 0) + pair('t', stride, 1) + pair('d', dilation, 1);
  return groups == 1 ? text : text + "g" + std::to_string(groups);
}

}  // namespace kaiseki
