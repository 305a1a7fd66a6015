// SPDX-License-Identifier: MIT
// Binds the names of an expression to tensors and scalars, checks shapes and merges dimensions.
// Then a backend runs it.
#include "matrix/ops/elementwise.h"

#include <algorithm>

#include "base/error.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/cast.h"
#include "matrix/backend/operations/elementwise.h"
#include "matrix/expression.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "elementwise";

class Call {
 public:
  Call(std::string_view text, const std::vector<Binding>& bindings) : bindings_(bindings) {
    std::vector<std::string> scalars;
    for (size_t i = 0; i < bindings.size(); ++i) {
      for (size_t j = 0; j < i; ++j)
        require(bindings[i].first != bindings[j].first, kName,
                "expected each name bound once, got '", bindings[i].first, "' twice");
      if (!std::holds_alternative<Tensor>(bindings[i].second))
        scalars.emplace_back(bindings[i].first);
    }
    expression_ = Expression::parse(text, scalars);
    for (const std::string& name : expression_->inputs()) inputs_.push_back(tensor(name));
    for (const std::string& name : expression_->scalars()) args_.scalars.push_back(scalar(name));
  }

  const Expression& expression() const { return *expression_; }
  Device device() const { return inputs_.empty() ? default_device() : inputs_[0].device(); }

  Shape input_shape() const {
    Shape shape;
    for (const Tensor& input : inputs_) shape = broadcast_shapes(shape, input.shape(), kName);
    return shape;
  }

  Tensor tensor(const std::string& name) const {
    const auto* value = find(name);
    require(value != nullptr, kName, "expected every name of '", expression_->text(),
            "' bound, got none for '", name, "'");
    const Tensor& t = std::get<Tensor>(*value);
    check_defined(t, name, kName);
    return t;
  }

  /// Gives every value its type. `outputs` are the types of the results; they may be empty.
  void infer(std::span<const DType> outputs) {
    std::vector<DType> types;
    for (const Tensor& input : inputs_) types.push_back(input.dtype());
    for (const auto& all : {std::span<const DType>(types), outputs})
      for (const DType type : all)
        require(type != DType::f64, kName,
                "expected tensors of f32, i32, u8 or bool, got f64; cast() converts it");
    typed_ = infer_types(*expression_, types, args_.scalars, outputs);
  }

  DType result_type() const { return typed_.program[static_cast<size_t>(typed_.outputs[0])].type; }

  void run(std::vector<Tensor>& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) check_output(outputs, i);
    if (outputs[0].size() == 0) return;
    args_.expression = &typed_;
    set_operands(inputs_, outputs);
    std::vector<const Tensor*> operands(args_.outputs.begin(), args_.outputs.end());
    for (const ElementwiseOperand& input : args_.inputs) operands.push_back(input.tensor);
    const SmallTask small = is_small_task(
        outputs[0], operands,
        static_cast<double>(outputs[0].size()) * static_cast<double>(operands.size()));
    if (kHasDevices && small == SmallTask::no && std::ranges::any_of(operands, is_outside))
      return run_or_fall_back(kElementwise.name, outputs[0].device().backend().has(kElementwise),
                              outputs[0],
                              [&](Backend& backend) { run_with_room(backend, outputs); });
    run_operation(kElementwise, outputs[0], args_, small);
  }

 private:
  static bool is_outside(const Tensor* tensor) { return tensor->buffer().left_device(); }

  void run_with_room(Backend& backend, std::vector<Tensor>& outputs) {
    set_operands(inputs_, outputs);
    pieces::Division division;
    if (backend.device() == outputs[0].device()) division = divide(outputs);
    const std::vector<BufferHold> holds = pieces::hold_operands(division);
    if (bring_back(division)) return backend.run(kElementwise, args_);
    pieces::run_in_pieces(kElementwise.name, outputs[0].device(), division,
                          [&](std::span<Tensor> tensors, const pieces::PieceRange&) {
                            set_operands(tensors.first(inputs_.size()),
                                         tensors.subspan(inputs_.size()));
                            run_or_fall_back(kElementwise.name, true, outputs[0],
                                             [&](Backend& on) { on.run(kElementwise, args_); });
                          });
  }

  /// A division along each axis, or of all elements if no input is broadcast.
  pieces::Division divide(const std::vector<Tensor>& outputs) const {
    const Shape shape = outputs[0].shape();
    const bool flat = std::ranges::all_of(inputs_, [&](const Tensor& input) {
      return input.size() == 1 || (input.shape() == shape && input.is_contiguous());
    });
    pieces::Division division;
    if (flat)
      division.cuts.push_back({.length = outputs[0].size()});
    else
      for (int64_t length : shape) division.cuts.push_back({.length = length});
    const auto add = [&](const Tensor& whole, Access access) {
      pieces::PieceOperand operand{.whole = flat ? whole.reshape({whole.size()}) : whole,
                                   .access = access,
                                   .any_strides = access == Access::read};
      for (int axis = 0; axis < static_cast<int>(division.cuts.size()); ++axis) {
        const int own = flat ? 0 : axis - (shape.rank() - whole.rank());
        const bool broadcast =
            own < 0 || operand.whole.dim(own) != division.cuts[static_cast<size_t>(axis)].length;
        operand.axes.push_back(broadcast ? kWhole : own);
      }
      division.operands.push_back(std::move(operand));
    };
    for (const Tensor& input : inputs_) add(input, Access::read);
    for (const Tensor& output : outputs) add(output, Access::write);
    return division;
  }

  Scalar scalar(const std::string& name) const {
    const auto* value = find(name);
    if (const auto* integer = std::get_if<int32_t>(value)) return *integer;
    return std::get<float>(*value);
  }

  const std::variant<float, int32_t, Tensor>* find(const std::string& name) const {
    for (const auto& [bound, value] : bindings_)
      if (bound == name) return &value;
    return nullptr;
  }

  void check_output(const std::vector<Tensor>& outputs, size_t i) const {
    const Tensor& out = outputs[i];
    check_same_device(outputs[0], out, kName);
    require(out.is_contiguous(), kName, "expected a contiguous result, got strides ",
            out.strides());
    require(out.shape() == outputs[0].shape(), kName, "expected results of shape ",
            outputs[0].shape(), ", got ", out.shape());
    require(broadcast_shapes(out.shape(), input_shape(), kName) == out.shape(), kName,
            "expected a result of shape ", input_shape(), ", got ", out.shape());
    for (size_t j = 0; j < i; ++j)
      require(!overlap(out, outputs[j]), kName,
              "two results overlap in memory; use separate tensors");
    for (const Tensor& in : inputs_) {
      check_same_device(out, in, kName);
      bool same_place = in.is_contiguous() && in.offset() == out.offset() &&
                        in.size() == out.size() && in.dtype() == out.dtype();
      require(same_place || !overlap(out, in), kName, "a result of shape ", out.shape(),
              " partly overlaps an input of shape ", in.shape(),
              " in memory; use separate tensors");
    }
  }

  /// Drops dimensions of length 1. Merges neighboring dimensions if every input has a single stride
  /// for both.
  void set_operands(std::span<Tensor> inputs, std::span<Tensor> outputs) {
    const Shape& shape = outputs[0].shape();
    std::vector<Shape> walked(inputs.size());
    Shape merged;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 1) continue;
      bool joins = merged.rank() > 0;
      std::vector<int64_t> strides(inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) {
        int own = axis - (shape.rank() - inputs[i].rank());
        strides[i] = own < 0 || inputs[i].dim(own) == 1 ? 0 : inputs[i].strides()[own];
        joins = joins && walked[i][-1] == strides[i] * shape[axis];
      }
      if (joins)
        merged[-1] *= shape[axis];
      else
        merged.push_back(shape[axis]);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (joins)
          walked[i][-1] = strides[i];
        else
          walked[i].push_back(strides[i]);
    }
    if (merged.rank() == 0) {
      merged.push_back(1);
      for (Shape& strides : walked) strides.push_back(1);
    }
    args_.shape = merged;
    args_.inputs.clear();
    for (size_t i = 0; i < inputs.size(); ++i) args_.inputs.push_back({&inputs[i], walked[i]});
    args_.outputs.clear();
    for (Tensor& output : outputs) args_.outputs.push_back(&output);
  }

  const std::vector<Binding>& bindings_;
  std::shared_ptr<const Expression> expression_;
  std::vector<Tensor> inputs_;
  TypedExpression typed_;
  ElementwiseArgs args_;
};

void check_bare(const Expression& expression) {
  require(expression.outputs().size() == 1 && expression.outputs()[0].name.empty(), kName,
          "expected one expression, got assignments in '", expression.text(), "'");
}

}  // namespace

Tensor elementwise(std::string_view expression, const std::vector<Binding>& bindings) {
  Call call(expression, bindings);
  check_bare(call.expression());
  call.infer({});
  std::vector<Tensor> outputs{Tensor(call.input_shape(), call.result_type(), call.device())};
  call.run(outputs);
  return outputs[0];
}

void elementwise_into(Tensor& out, std::string_view expression,
                      const std::vector<Binding>& bindings) {
  Call call(expression, bindings);
  check_bare(call.expression());
  require(out.defined(), kName, "expected a tensor as the result, got an empty one");
  const DType type = out.dtype();
  call.infer({&type, 1});
  std::vector<Tensor> outputs{out};
  call.run(outputs);
}

void update(std::string_view statements, const std::vector<Binding>& bindings) {
  Call call(statements, bindings);
  std::vector<Tensor> outputs;
  std::vector<DType> types;
  for (const auto& output : call.expression().outputs()) {
    require(!output.name.empty(), kName, "expected assignments, got one expression '", statements,
            "'");
    outputs.push_back(call.tensor(output.name));
    types.push_back(outputs.back().dtype());
  }
  call.infer(types);
  call.run(outputs);
}

Tensor cast(const Tensor& x, DType dtype) {
  require(x.defined(), "cast", "expected a tensor, got an empty one");
  if (x.dtype() == dtype) return x;
  if (x.dtype() != DType::f64 && dtype != DType::f64)
    return elementwise(std::string(dtype_name(dtype)) + "(x)", {{"x", x}});
  Tensor out(x.shape(), dtype, x.device());
  if (out.size() == 0) return out;
  const Tensor input = x.contiguous();
  run_divisible(kCast, out, {&input, &out},
                is_small_task(out, {&input}, static_cast<double>(out.size())));
  return out;
}

}  // namespace kaiseki
