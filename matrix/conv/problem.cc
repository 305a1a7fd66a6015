// SPDX-License-Identifier: MIT
#include "matrix/conv/problem.h"

#include "base/text.h"

namespace kaiseki {
namespace {

std::string pair(char letter, const std::array<int64_t, 2>& values, int64_t usual) {
  if (values[0] == usual && values[1] == usual) return {};
  return values[0] == values[1] ? text_from(letter, values[0])
                                : text_from(letter, values[0], 'x', values[1]);
}

}  // namespace

std::string_view direction_name(ConvDirection direction) {
  constexpr std::string_view kNames[] = {"forward", "backward_data", "backward_filter"};
  return kNames[static_cast<int>(direction)];
}

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(out_h()) *
         static_cast<double>(out_w()) * static_cast<double>(c / groups) *
         static_cast<double>(r * s);
}

std::string ConvProblem::str() const { return text_from('n', n) + str_per_image(); }

std::string ConvProblem::str_per_image() const {
  return text_from('c', c, 'h', h, 'w', w, 'k', k, 'r', r, 's', s, pair('p', padding, 0),
                   pair('e', extra_padding, 0), pair('u', stride, 1), pair('d', dilation, 1),
                   groups == 1 ? std::string() : text_from('g', groups));
}

}  // namespace kaiseki
