// SPDX-License-Identifier: MIT
// Runs operations whose tensors may have left the device. If the tensors do not fit it together,
// the operation runs in pieces. The arguments' function divide() describes the pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/has_devices.h"
#include "matrix/out_of_core/run.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki {

/// For divide(): returns whether a tensor is outside its device.
class OutsideFinder {
 public:
  bool found() const { return found_; }
  /// Returns whether the operation allocates a tensor that may find no room.
  bool has_scratch() const { return has_scratch_; }

  void cut(int64_t&) {}
  void cut_sum(int64_t&, float&) {}
  template <class Begin>
  void cut_at(int64_t, const Begin&) {}
  void cut_at(int64_t) {}
  void any_strides() {}
  void scratch(uint64_t) { has_scratch_ = true; }
  void reads(const Tensor* tensor, const Shape&, const Shape&) { look(tensor); }
  void writes(const Tensor* tensor, const Shape&, const Shape&) { look(tensor); }
  void updates(const Tensor* tensor, const Shape&, const Shape&) { look(tensor); }

 private:
  void look(const Tensor* tensor) { found_ |= tensor && tensor->buffer().left_device(); }
  bool found_ = false, has_scratch_ = false;
};

/// For divide(): collects how the arguments are divided, and changes them into those of a piece.
class DivisionMaker {
 public:
  /// The next way to cut: along this number of the arguments.
  void cut(int64_t& length) { add({.length = length}, &length); }
  /// As cut(), but the results of pieces are added. `beta`: the factor of the earlier result.
  void cut_sum(int64_t& length, float& beta);
  /// As cut(), for a length that is no argument. Calls begin(first) before each piece.
  void cut_at(int64_t length, std::function<void(int64_t first)> begin = nullptr) {
    add({.length = length}, nullptr, std::move(begin));
  }
  /// The tensors added after this call may have any strides. Parts of the others are contiguous.
  void any_strides() { any_strides_ = true; }
  /// The bytes of a tensor that the operation allocates before it computes.
  void scratch(uint64_t bytes) { division_.scratch_bytes = bytes; }

  /// Adds a tensor, viewed as `shape`. `axes`: for each cut, the axis that is cut, or kWhole. The
  /// tensor may be null.
  void reads(const Tensor*& tensor, const Shape& shape, const Shape& axes) {
    add(tensor, Access::read, shape, axes, [&tensor](Tensor& piece) { tensor = &piece; });
  }
  void reads(Tensor*& tensor, const Shape& shape, const Shape& axes) {
    add(tensor, Access::read, shape, axes, [&tensor](Tensor& piece) { tensor = &piece; });
  }
  void writes(Tensor*& tensor, const Shape& shape, const Shape& axes) {
    add(tensor, Access::write, shape, axes, [&tensor](Tensor& piece) { tensor = &piece; });
  }
  void updates(Tensor*& tensor, const Shape& shape, const Shape& axes) {
    add(tensor, Access::read_write, shape, axes, [&tensor](Tensor& piece) { tensor = &piece; });
  }

  const pieces::Division& division() const { return division_; }
  /// Sets the arguments of a piece.
  void set(std::span<Tensor> tensors, const pieces::PieceRange& range) const;

 private:
  using SetTensor = std::function<void(Tensor&)>;
  struct CutOfArgs {
    int64_t* length;
    std::function<void(int64_t)> begin;
  };
  void add(const pieces::Cut& cut, int64_t* length, std::function<void(int64_t)> begin = nullptr);
  void add(const Tensor* tensor, Access access, const Shape& shape, const Shape& axes,
           SetTensor set);

  pieces::Division division_;
  std::vector<CutOfArgs> cuts_;
  std::vector<SetTensor> set_tensors_;
  bool any_strides_ = false;
};

/// Copies the operands back to the device. Returns false if the operation must run in pieces.
bool bring_back(const pieces::Division& division);

/// Returns whether the operation can fail because it has no room for its scratch tensor. It has
/// then computed nothing yet.
bool may_find_no_room(const pieces::Division& division);

/// As run_operation(), for an operation that can be divided.
template <class Args, class Prepare>
void run_divisible(const Operation<Args>& operation, const Tensor& tensor, const Args& args,
                   const Prepare& prepare) {
  if constexpr (kHasDevices) {
    Args piece = args;
    OutsideFinder outside;
    piece.divide(outside);
    if (outside.found() || outside.has_scratch()) {
      const auto run = [&](Backend& backend) {
        prepare(backend);
        DivisionMaker maker;
        if (backend.device() == tensor.device()) piece.divide(maker);
        const std::vector<BufferHold> holds = pieces::hold_operands(maker.division());
        if (bring_back(maker.division())) try {
            return backend.run(operation, args);
          } catch (const OutOfMemory&) {
            if (!may_find_no_room(maker.division())) throw;
          }
        pieces::run_in_pieces(operation.name, tensor.device(), maker.division(),
                              [&](std::span<Tensor> tensors, const pieces::PieceRange& range) {
                                maker.set(tensors, range);
                                run_or_fall_back(operation.name, true, tensor,
                                                 [&](Backend& on) { on.run(operation, piece); });
                              });
      };
      return run_or_fall_back(operation.name, tensor.device().backend().has(operation), tensor,
                              run);
    }
  }
  run_operation(operation, tensor, args, prepare);
}
template <class Args>
void run_divisible(const Operation<Args>& operation, const Tensor& tensor, const Args& args) {
  run_divisible(operation, tensor, args, [](Backend&) {});
}
template <class Args>
void run_divisible(const Operation<Args>& operation, const Tensor& result, const Args& args,
                   SmallTask small) {
  if (small == SmallTask::yes)
    cpu_backend().run(operation, args);
  else
    run_divisible(operation, result, args);
}

}  // namespace kaiseki
