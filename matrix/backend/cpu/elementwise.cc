// SPDX-License-Identifier: MIT
// Runs an expression in blocks that stay in the first-level cache. Contiguous inputs are read in
// place; others are gathered into the block. A result is written directly to the output once no
// input at that address is read again.
#include "matrix/backend/operations/elementwise.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "matrix/backend/cpu/elementwise_kernels.h"
#include "matrix/backend/cpu/kernels.h"
#include "matrix/backend/cpu/scratch.h"
#include "matrix/expression.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using cpu::BlockOperand;
using Code = Expression::Code;

constexpr int64_t kBlock = 1024;
constexpr int64_t kGrain = 32768;
constexpr int kForever = std::numeric_limits<int>::max();

int cost(Code code) {
  switch (code) {
    case Code::power:
      return 16;
    case Code::exponential:
    case Code::logarithm:
    case Code::sine:
    case Code::cosine:
    case Code::hyperbolic_tangent:
    case Code::logistic:
      return 6;
    default:
      return 1;
  }
}

class Program {
 public:
  explicit Program(const ElementwiseArgs& args)
      : program_(args.expression->program()), shape_(args.shape), values_(program_.size()) {
    for (const auto& input : args.inputs) {
      auto* data = static_cast<const float*>(input.tensor->host_pointer(Access::read));
      inputs_.push_back({data, input.strides, input.strides == shape_.contiguous_strides()});
    }
    for (Tensor* tensor : args.outputs) outputs_.push_back({tensor->overwrite<float>()});
    find_last_uses(args);
    for (size_t i = 0; i < program_.size(); ++i) plan(static_cast<int>(i), args);
  }

  int64_t grain() const {
    return std::max(kGrain / std::max(cost_, int64_t{1}) / kBlock, int64_t{1}) * kBlock;
  }

  void run(int64_t begin, int64_t end) const {
    float* slots = cpu::thread_scratch(static_cast<size_t>(slot_count_ * kBlock));
    for (; begin < end; begin += kBlock) run_block(begin, std::min(kBlock, end - begin), slots);
  }

 private:
  enum class Place : uint8_t { scalar, input, slot, output };
  struct Value {
    Place place = Place::slot;
    int index = 0;  // index of the input, the slot or the output
    int last_use = -1;
    float scalar = 0;
  };
  struct Input {
    const float* data;
    Shape strides;
    bool contiguous;
  };
  struct Output {
    float* data;
    int value = 0;
    bool written = false;  // true: its instruction writes the output directly
  };

  void find_last_uses(const ElementwiseArgs& args) {
    for (size_t i = 0; i < program_.size(); ++i) {
      const auto& in = program_[i];
      if (in.code == Code::input || in.code == Code::scalar) continue;
      for (int operand : {in.a, in.b, in.c})
        if (operand >= 0) values_[operand].last_use = static_cast<int>(i);
    }
    for (size_t o = 0; o < outputs_.size(); ++o) {
      outputs_[o].value = args.expression->outputs()[o].value;
      values_[outputs_[o].value].last_use = kForever;
    }
  }

  int take_slot() {
    if (free_.empty()) return slot_count_++;
    int slot = free_.back();
    free_.pop_back();
    return slot;
  }

  bool is_output(const float* data) const {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [&](const Output& o) { return o.data == data; });
  }

  /// Returns whether no input at address `data` is read after instruction `i`.
  bool free_after(const float* data, int i) const {
    for (size_t v = 0; v < program_.size(); ++v)
      if (program_[v].code == Code::input && inputs_[program_[v].a].data == data &&
          !(values_[v].place == Place::slot && static_cast<int>(v) < i) && values_[v].last_use > i)
        return false;
    return true;
  }

  void plan(int i, const ElementwiseArgs& args) {
    const auto& in = program_[i];
    Value& value = values_[i];
    if (in.code == Code::constant || in.code == Code::scalar) {
      value.place = Place::scalar;
      value.scalar = in.code == Code::constant ? in.value : args.scalars[in.a];
      return;
    }
    if (in.code == Code::input) {
      const Input& input = inputs_[in.a];
      bool stays = input.contiguous && !(value.last_use == kForever && is_output(input.data));
      value.place = stays ? Place::input : Place::slot;
      value.index = stays ? in.a : take_slot();
      return;
    }
    if (fold(i)) return;
    cost_ += cost(in.code);
    for (int operand : {in.a, in.b, in.c})
      if (operand >= 0 && values_[operand].place == Place::slot && values_[operand].last_use == i) {
        free_.push_back(values_[operand].index);
        values_[operand].last_use = i - 1;
      }
    for (size_t o = 0; o < outputs_.size(); ++o)
      if (outputs_[o].value == i && free_after(outputs_[o].data, i)) {
        value.place = Place::output;
        value.index = static_cast<int>(o);
        outputs_[o].written = true;
        return;
      }
    value.place = Place::slot;
    value.index = take_slot();
  }

  /// Evaluates an instruction if all its operands are scalars.
  bool fold(int i) {
    const auto& in = program_[i];
    BlockOperand operands[3];
    int n = 0;
    for (int operand : {in.a, in.b, in.c}) {
      if (operand >= 0 && values_[operand].place != Place::scalar) return false;
      operands[n++] = {operand >= 0 ? &values_[operand].scalar : nullptr, false};
    }
    cpu::run_instruction(in.code, operands[0], operands[1], operands[2], &values_[i].scalar, 1);
    values_[i].place = Place::scalar;
    return true;
  }

  BlockOperand operand(int v, int64_t begin, float* slots) const {
    if (v < 0) return {};
    const Value& value = values_[v];
    switch (value.place) {
      case Place::scalar:
        return {&value.scalar, true};
      case Place::input:
        return {inputs_[value.index].data + begin, false};
      case Place::output:
        return {outputs_[value.index].data + begin, false};
      case Place::slot:
        break;
    }
    return {slots + value.index * kBlock, false};
  }

  float* target(int v, int64_t begin, float* slots) const {
    const Value& value = values_[v];
    return value.place == Place::output ? outputs_[value.index].data + begin
                                        : slots + value.index * kBlock;
  }

  void run_block(int64_t begin, int64_t count, float* slots) const {
    auto n = static_cast<size_t>(count);
    for (size_t i = 0; i < program_.size(); ++i) {
      const auto& in = program_[i];
      int v = static_cast<int>(i);
      if (values_[i].place == Place::scalar || values_[i].place == Place::input) continue;
      float* out = target(v, begin, slots);
      if (in.code == Code::input) {
        gather(inputs_[in.a], begin, count, out);
        continue;
      }
      BlockOperand a = operand(in.a, begin, slots), b = operand(in.b, begin, slots),
                   c = operand(in.c, begin, slots);
      if (in.code == Code::select && a.scalar) {
        const BlockOperand& chosen = *a.values != 0 ? b : c;
        if (chosen.scalar)
          std::fill_n(out, n, *chosen.values);
        else if (chosen.values != out)
          std::copy_n(chosen.values, n, out);
        continue;
      }
      cpu::run_instruction(in.code, a, b, c, out, n);
    }
    for (const Output& output : outputs_) {
      if (output.written) continue;
      BlockOperand from = operand(output.value, begin, slots);
      float* to = output.data + begin;
      if (from.scalar)
        std::fill_n(to, n, *from.values);
      else if (from.values != to)
        std::copy_n(from.values, n, to);
    }
  }

  void gather(const Input& input, int64_t begin, int64_t count, float* out) const {
    int last = shape_.rank() - 1;
    Shape index = shape_;
    int64_t offset = 0, rest = begin;
    for (int axis = last; axis >= 0; --axis) {
      index[axis] = rest % shape_[axis];
      rest /= shape_[axis];
      offset += index[axis] * input.strides[axis];
    }
    int64_t stride = input.strides[last];
    while (count > 0) {
      int64_t run = std::min(count, shape_[last] - index[last]);
      const float* from = input.data + offset;
      if (stride == 1)
        std::copy_n(from, run, out);
      else if (stride == 0)
        std::fill_n(out, run, *from);
      else
        for (int64_t i = 0; i < run; ++i) out[i] = from[i * stride];
      out += run;
      count -= run;
      offset -= index[last] * stride;
      index[last] = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        offset += input.strides[axis];
        if (++index[axis] < shape_[axis]) break;
        offset -= shape_[axis] * input.strides[axis];
        index[axis] = 0;
      }
    }
  }

  const std::vector<Expression::Instruction>& program_;
  Shape shape_;
  std::vector<Value> values_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<int> free_;
  int slot_count_ = 0;
  int64_t cost_ = 0;
};

void elementwise(const ElementwiseArgs& args) {
  int64_t count = args.shape.elements();
  if (count == 0) return;
  Program program(args);
  parallel_for(count, program.grain(),
               [&](int64_t begin, int64_t end) { program.run(begin, end); });
}

}  // namespace

void cpu::add_elementwise(KernelTable& kernels) { kernels.add(kElementwise, elementwise); }

}  // namespace kaiseki
