// SPDX-License-Identifier: MIT
#include "matrix/out_of_core/divide.h"

#include <algorithm>
#include <utility>

#include "matrix/memory/out_of_core.h"

namespace kaiseki {

void DivisionMaker::cut_sum(int64_t& length, float& beta) {
  add({.length = length, .adds = true}, &length,
      [&beta, first_beta = beta](int64_t first) { beta = first == 0 ? first_beta : 1; });
}

void DivisionMaker::add(const pieces::Cut& cut, int64_t* length,
                        std::function<void(int64_t)> begin) {
  division_.cuts.push_back(cut);
  cuts_.push_back({length, std::move(begin)});
}

void DivisionMaker::add(const Tensor* tensor, Access access, const Shape& shape, const Shape& axes,
                        SetTensor set) {
  if (!tensor) return;
  pieces::PieceOperand operand{.whole = shape == tensor->shape() ? *tensor : tensor->reshape(shape),
                               .access = access,
                               .any_strides = any_strides_};
  for (const int64_t axis : axes) operand.axes.push_back(static_cast<int>(axis));
  division_.operands.push_back(std::move(operand));
  set_tensors_.push_back(std::move(set));
}

void DivisionMaker::set(std::span<Tensor> tensors, const pieces::PieceRange& range) const {
  for (size_t i = 0; i < tensors.size(); ++i) set_tensors_[i](tensors[i]);
  const CutOfArgs& cut = cuts_[range.cut];
  if (cut.length) *cut.length = range.length;
  if (cut.begin) cut.begin(range.first);
}

bool bring_back(const pieces::Division& division) {
  if (division.cuts.empty()) return true;
  const auto is_large = [](const pieces::PieceOperand& operand) {
    return pieces::is_large_and_outside(operand.whole);
  };
  if (division.streams && std::ranges::any_of(division.operands, is_large)) return false;
  std::vector<const Tensor*> tensors;
  for (const pieces::PieceOperand& operand : division.operands) tensors.push_back(&operand.whole);
  return pieces::bring_back(tensors);
}

bool may_find_no_room(const pieces::Division& division) {
  return division.scratch_bytes != 0 && tensors_can_leave(division.operands[0].whole.device());
}

}  // namespace kaiseki
