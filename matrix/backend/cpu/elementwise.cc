// SPDX-License-Identifier: MIT
// Runs an expression in blocks that stay in the first-level cache. Contiguous inputs of 4 bytes are
// read in place; others are gathered into the block. A result of 4 bytes is written directly to the
// output once no input at that address is read again.
#include "matrix/backend/operations/elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "matrix/backend/cpu/elementwise_kernels.h"
#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using cpu::BlockOperand;
using Code = Expression::Code;

constexpr int64_t kBlock = 1024;
constexpr int64_t kLane = 4;  // bytes
constexpr int64_t kGrain = 32768;
constexpr int kForever = std::numeric_limits<int>::max();

int cost(Code code) {
  switch (code) {
    case Code::input:
    case Code::scalar:
    case Code::constant:
    case Code::negate:
    case Code::add:
    case Code::subtract:
    case Code::multiply:
    case Code::divide:
    case Code::minimum:
    case Code::maximum:
    case Code::less:
    case Code::less_equal:
    case Code::greater:
    case Code::greater_equal:
    case Code::equal:
    case Code::not_equal:
    case Code::select:
    case Code::absolute:
    case Code::square_root:
    case Code::reciprocal_square_root:
    case Code::floor:
    case Code::ceiling:
    case Code::round:
    case Code::truncate:
    case Code::sign:
    case Code::is_nan:
    case Code::is_infinite:
    case Code::is_finite:
    case Code::logical_and:
    case Code::logical_or:
    case Code::logical_not:
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
    case Code::bit_not:
    case Code::shift_left:
    case Code::shift_right:
    case Code::to_f32:
    case Code::to_i32:
    case Code::to_u8:
    case Code::to_bool:
      return 1;
    case Code::exponential:
    case Code::logarithm:
    case Code::logarithm_1p:
    case Code::logarithm_2:
    case Code::logarithm_10:
    case Code::sine:
    case Code::cosine:
    case Code::hyperbolic_tangent:
    case Code::logistic:
    case Code::arc_sine:
    case Code::arc_cosine:
    case Code::arc_tangent:
    case Code::floor_divide:
    case Code::modulo:
      return 6;
    default:
      return 16;  // functions of <cmath>
  }
}

class Program {
 public:
  explicit Program(const ElementwiseArgs& args)
      : program_(args.expression->program), shape_(args.shape), values_(program_.size()) {
    for (const auto& input : args.inputs) {
      const Tensor& tensor = *input.tensor;
      bool in_place = dtype_size(tensor.dtype()) == size_t{kLane} &&
                      input.strides == shape_.contiguous_strides();
      inputs_.push_back({static_cast<const std::byte*>(tensor.host_pointer(Access::read)),
                         tensor.dtype(), input.strides, in_place});
    }
    for (Tensor* tensor : args.outputs) {
      bool whole = tensor->bytes() == tensor->buffer().bytes();
      void* data = tensor->host_pointer(whole ? Access::write : Access::read_write);
      outputs_.push_back({static_cast<std::byte*>(data), tensor->dtype()});
    }
    find_last_uses(args);
    for (size_t i = 0; i < program_.size(); ++i) plan(static_cast<int>(i), args);
  }

  int64_t grain() const {
    return std::max(kGrain / std::max(cost_, int64_t{1}) / kBlock, int64_t{1}) * kBlock;
  }

  void run(int64_t begin, int64_t end) const {
    auto* slots = reinterpret_cast<std::byte*>(
        cpu::thread_scratch(static_cast<size_t>(slot_count_ * kBlock)));
    for (; begin < end; begin += kBlock) run_block(begin, std::min(kBlock, end - begin), slots);
  }

 private:
  enum class Place : uint8_t { scalar, input, slot, output };
  struct Value {
    Place place = Place::slot;
    int index = 0;  // index of the input, the slot or the output
    int last_use = -1;
    alignas(kLane) std::array<std::byte, kLane> scalar{};
  };
  struct Input {
    const std::byte* data;
    DType type;
    Shape strides;
    bool in_place;  // its memory is a row of lanes
  };
  struct Output {
    std::byte* data;
    DType type;
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
      outputs_[o].value = args.expression->outputs[o];
      values_[outputs_[o].value].last_use = kForever;
    }
  }

  int take_slot() {
    if (free_.empty()) return slot_count_++;
    int slot = free_.back();
    free_.pop_back();
    return slot;
  }

  bool is_output(const std::byte* data) const {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [&](const Output& o) { return o.data == data; });
  }

  /// Returns whether no input at address `data` is read after instruction `i`.
  bool free_after(const std::byte* data, int i) const {
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
      const Scalar& number = in.code == Code::constant ? in.value : args.scalars[in.a];
      std::visit([&](auto n) { std::memcpy(value.scalar.data(), &n, kLane); }, number);
      return;
    }
    if (in.code == Code::input) {
      const Input& input = inputs_[in.a];
      bool stays = input.in_place && !(value.last_use == kForever && is_output(input.data));
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
      if (outputs_[o].value == i && dtype_size(outputs_[o].type) == size_t{kLane} &&
          free_after(outputs_[o].data, i)) {
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
      operands[n++] = {operand >= 0 ? values_[operand].scalar.data() : nullptr, false};
    }
    cpu::run_instruction(in, operands[0], operands[1], operands[2], values_[i].scalar.data(), 1);
    values_[i].place = Place::scalar;
    return true;
  }

  BlockOperand operand(int v, int64_t begin, std::byte* slots) const {
    if (v < 0) return {};
    const Value& value = values_[v];
    switch (value.place) {
      case Place::scalar:
        return {value.scalar.data(), true};
      case Place::input:
        return {inputs_[value.index].data + begin * kLane, false};
      case Place::output:
        return {outputs_[value.index].data + begin * kLane, false};
      case Place::slot:
        break;
    }
    return {slots + value.index * kBlock * kLane, false};
  }

  std::byte* target(int v, int64_t begin, std::byte* slots) const {
    const Value& value = values_[v];
    return value.place == Place::output ? outputs_[value.index].data + begin * kLane
                                        : slots + value.index * kBlock * kLane;
  }

  void run_block(int64_t begin, int64_t count, std::byte* slots) const {
    for (size_t i = 0; i < program_.size(); ++i) {
      const auto& in = program_[i];
      int v = static_cast<int>(i);
      if (values_[i].place == Place::scalar || values_[i].place == Place::input) continue;
      std::byte* out = target(v, begin, slots);
      if (in.code == Code::input) {
        load(inputs_[in.a], begin, count, out);
        continue;
      }
      BlockOperand a = operand(in.a, begin, slots), b = operand(in.b, begin, slots),
                   c = operand(in.c, begin, slots);
      if (in.code == Code::select && a.scalar) {
        const BlockOperand& chosen = *static_cast<const int32_t*>(a.values) != 0 ? b : c;
        store(chosen, lane_of(in.type) == Lane::f32 ? DType::f32 : DType::i32, out, count);
        continue;
      }
      cpu::run_instruction(in, a, b, c, out, static_cast<size_t>(count));
    }
    for (const Output& output : outputs_)
      if (!output.written)
        store(operand(output.value, begin, slots), output.type,
              output.data + begin * static_cast<int64_t>(dtype_size(output.type)), count);
  }

  static void store(const BlockOperand& from, DType type, std::byte* to, int64_t count) {
    if (dtype_size(type) != size_t{kLane})
      return store_as<int32_t>(from, reinterpret_cast<uint8_t*>(to), count);
    if (lane_of(type) == Lane::f32)
      return store_as<float>(from, reinterpret_cast<float*>(to), count);
    store_as<int32_t>(from, reinterpret_cast<int32_t*>(to), count);
  }

  template <typename From, typename To>
  static void store_as(const BlockOperand& from, To* to, int64_t count) {
    auto* values = static_cast<const From*>(from.values);
    if (from.scalar)
      std::fill_n(to, count, static_cast<To>(*values));
    else if (from.values != to)
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(values[i]);
  }

  void load(const Input& input, int64_t begin, int64_t count, std::byte* out) const {
    if (dtype_size(input.type) != size_t{kLane})
      gather(reinterpret_cast<const uint8_t*>(input.data), input.strides, begin, count,
             reinterpret_cast<int32_t*>(out));
    else if (lane_of(input.type) == Lane::f32)
      gather(reinterpret_cast<const float*>(input.data), input.strides, begin, count,
             reinterpret_cast<float*>(out));
    else
      gather(reinterpret_cast<const int32_t*>(input.data), input.strides, begin, count,
             reinterpret_cast<int32_t*>(out));
  }

  template <typename From, typename To>
  void gather(const From* data, const Shape& strides, int64_t begin, int64_t count, To* out) const {
    int last = shape_.rank() - 1;
    Shape index = shape_;
    int64_t offset = 0, rest = begin;
    for (int axis = last; axis >= 0; --axis) {
      index[axis] = rest % shape_[axis];
      rest /= shape_[axis];
      offset += index[axis] * strides[axis];
    }
    int64_t stride = strides[last];
    while (count > 0) {
      int64_t run = std::min(count, shape_[last] - index[last]);
      const From* from = data + offset;
      if (stride == 1)
        std::copy_n(from, run, out);
      else if (stride == 0)
        std::fill_n(out, run, static_cast<To>(*from));
      else
        for (int64_t i = 0; i < run; ++i) out[i] = from[i * stride];
      out += run;
      count -= run;
      offset -= index[last] * stride;
      index[last] = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        offset += strides[axis];
        if (++index[axis] < shape_[axis]) break;
        offset -= shape_[axis] * strides[axis];
        index[axis] = 0;
      }
    }
  }

  const std::vector<TypedInstruction>& program_;
  Shape shape_;
  std::vector<Value> values_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<int> free_;
  int slot_count_ = 0;
  int64_t cost_ = 0;
};

void run_elementwise(const ElementwiseArgs& args) {
  int64_t count = args.shape.elements();
  if (count == 0) return;
  Program program(args);
  parallel_for(count, program.grain(),
               [&](int64_t begin, int64_t end) { program.run(begin, end); });
}

}  // namespace

namespace cpu {

void add_elementwise(KernelTable& kernels) { kernels.add(kElementwise, run_elementwise); }

}  // namespace cpu

}  // namespace kaiseki
