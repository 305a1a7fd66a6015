// SPDX-License-Identifier: MIT
#include <sstream>

#include "matrix/conv/solver.h"

namespace kaiseki {
namespace {

void append(std::ostream& out, char letter, const std::array<int64_t, 2>& values, int64_t usual) {
  if (values[0] == usual && values[1] == usual) return;
  out << letter << values[0];
  if (values[0] != values[1]) out << 'x' << values[1];
}

}  // namespace

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(out_h()) *
         static_cast<double>(out_w()) * static_cast<double>(c / groups) *
         static_cast<double>(r * s);
}

std::string ConvProblem::str() const {
  std::ostringstream text;
  text << 'n' << n << 'c' << c << 'h' << h << 'w' << w << 'k' << k << 'r' << r << 's' << s;
  append(text, 'p', padding, 0);
  append(text, 'u', stride, 1);
  append(text, 'd', dilation, 1);
  if (groups != 1) text << 'g' << groups;
  return text.str();
}

}  // namespace kaiseki
