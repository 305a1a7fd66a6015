// SPDX-License-Identifier: MIT
// Elementwise expressions. An Expression becomes the source of a kernel, which is compiled once for
// each expression and layout of its operands.
#include "matrix/backend/operations/elementwise.h"

#include <cmath>
#include <cstdio>

#include "matrix/backend/opencl/kernels.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/expression.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kRow = 64;  // rows of at least this length are a dimension of the launch

/// The indexing of an operand: by the element's number, always at 0, or by strides.
enum class Layout : uint8_t { flat, single, strided };

Layout layout_of(const ElementwiseOperand& operand, const Shape& shape) {
  Shape contiguous = shape.contiguous_strides();
  bool flat = true, single = true;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    flat = flat && operand.strides[i] == contiguous[i];
    single = single && operand.strides[i] == 0;
  }
  return single ? Layout::single : flat ? Layout::flat : Layout::strided;
}

std::string literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  char text[40];
  std::snprintf(text, sizeof(text), "(%af)", static_cast<double>(value));
  return text;
}

using Program = std::vector<Expression::Instruction>;

/// OpenCL's pow only guarantees 16 ulp.
std::string power(const Program& program, const Expression::Instruction& i, const std::string& a,
                  const std::string& b) {
  const Expression::Instruction& exponent = program[i.b];
  if (exponent.code == Expression::Code::constant && exponent.value == 2)
    return joined({a, " * ", a});
  return joined({"pow(", a, ", ", b, ")"});
}

std::string operation(const Program& program, const Expression::Instruction& i) {
  using Code = Expression::Code;
  auto value = [](int number) { return number < 0 ? "" : numbered("v", number); };
  std::string a = value(i.a), b = value(i.b), c = value(i.c);
  auto call = [&](std::string_view name) { return joined({name, "(", a, ")"}); };
  auto infix = [&](std::string_view sign) { return joined({a, sign, b}); };
  auto compare = [&](std::string_view sign) {
    return joined({"(", a, sign, b, ") ? 1.0f : 0.0f"});
  };
  auto extreme = [&](std::string_view sign) {
    return joined({"(", a, sign, b, " || ", a, " != ", a, ") ? ", a, " : ", b});
  };
  switch (i.code) {
    case Code::input:
      return numbered("x", i.a);
    case Code::scalar:
      return numbered("s", i.a);
    case Code::constant:
      return literal(i.value);
    case Code::negate:
      return joined({"-", a});
    case Code::add:
      return infix(" + ");
    case Code::subtract:
      return infix(" - ");
    case Code::multiply:
      return infix(" * ");
    case Code::divide:
      return infix(" / ");
    case Code::minimum:
      return extreme(" < ");
    case Code::maximum:
      return extreme(" > ");
    case Code::power:
      return power(program, i, a, b);
    case Code::less:
      return compare(" < ");
    case Code::less_equal:
      return compare(" <= ");
    case Code::greater:
      return compare(" > ");
    case Code::greater_equal:
      return compare(" >= ");
    case Code::equal:
      return compare(" == ");
    case Code::not_equal:
      return compare(" != ");
    case Code::select:
      return joined({"(", a, " != 0.0f) ? ", b, " : ", c});
    case Code::absolute:
      return call("fabs");
    case Code::square_root:
      return call("sqrt");
    case Code::reciprocal_square_root:
      return call("1.0f / sqrt");
    case Code::exponential:
      return call("exp");
    case Code::logarithm:
      return call("log");
    case Code::sine:
      return call("sin");
    case Code::cosine:
      return call("cos");
    case Code::hyperbolic_tangent:
      return call("tanh");
    case Code::logistic:
      return joined({"1.0f / (1.0f + exp(-", a, "))"});
    case Code::floor:
      return call("floor");
    case Code::ceiling:
      return call("ceil");
    case Code::round:
      return call("rint");
    case Code::sign:
      return joined({a, " > 0.0f ? 1.0f : ", a, " < 0.0f ? -1.0f : ", a});
    case Code::is_nan:
      return joined({"(", a, " != ", a, ") ? 1.0f : 0.0f"});
  }
  return {};
}

class KernelWriter {
 public:
  KernelWriter(const ElementwiseArgs& args, const std::vector<Layout>& layouts, bool rows)
      : args_(args), layouts_(layouts), rows_(rows), rank_(args.shape.rank()) {}

  std::string write(bool strided) {
    add({"__kernel void elementwise(INDEX n"});
    for (int d = 0; strided && d < rank_; ++d) add({", INDEX ", numbered("d", d)});
    write_parameters();
    add({") {\n  INDEX i = get_global_id(0);\n  if (i >= n) return;\n"});
    if (strided) write_positions();
    for (size_t j = 0; j < layouts_.size(); ++j) write_load(numbered("x", j), layouts_[j]);
    auto& program = args_.expression->program();
    for (size_t j = 0; j < program.size(); ++j)
      add({"  float ", numbered("v", j), " = ", operation(program, program[j]), ";\n"});
    auto& outputs = args_.expression->outputs();
    for (size_t j = 0; j < outputs.size(); ++j) {
      std::string y = numbered("y", j);
      add({"  ", y, "[", y, "_at + i] = ", numbered("v", outputs[j].value), ";\n"});
    }
    add({"}\n"});
    return text_;
  }

 private:
  void add(std::initializer_list<std::string_view> parts) { text_ += joined(parts); }

  void write_parameters() {
    for (size_t j = 0; j < args_.scalars.size(); ++j) add({", float ", numbered("s", j)});
    for (size_t j = 0; j < layouts_.size(); ++j) {
      std::string x = numbered("x", j);
      add({", __global const float* p", x, ", ulong ", x, "_at"});
      for (int d = 0; layouts_[j] == Layout::strided && d < rank_; ++d)
        add({", INDEX ", x, numbered("_d", d)});
    }
    for (size_t j = 0; j < args_.outputs.size(); ++j) {
      std::string y = numbered("y", j);
      add({", __global float* ", y, ", ulong ", y, "_at"});
    }
  }

  // Writes c0 to c(rank-1), the element's coordinates. i is its number.
  void write_positions() {
    int last = rank_ - 1;
    if (rows_) {
      add({"  INDEX ", numbered("c", last), " = i, r = get_global_id(1);\n"});
      add({"  i += r * ", numbered("d", last), ";\n"});
    } else {
      add({"  INDEX r = i;\n"});
    }
    for (int d = rows_ ? last - 1 : last; d > 0; --d) {
      std::string length = numbered("d", d);
      add({"  INDEX ", numbered("c", d), " = r % ", length, ";\n  r /= ", length, ";\n"});
    }
    if (!rows_ || last > 0) add({"  INDEX c0 = r;\n"});
  }

  void write_load(const std::string& x, Layout layout) {
    add({"  float ", x, " = p", x, "[", x, "_at"});
    if (layout == Layout::flat) add({" + i"});
    for (int d = 0; layout == Layout::strided && d < rank_; ++d)
      add({" + ", numbered("c", d), " * ", x, numbered("_d", d)});
    add({"];\n"});
  }

  const ElementwiseArgs& args_;
  const std::vector<Layout>& layouts_;
  bool rows_;
  int rank_;
  std::string text_;
};

void elementwise(OpenclDevice& device, const ElementwiseArgs& args) {
  int64_t total = args.shape.elements();
  if (total == 0) return;
  int rank = args.shape.rank();
  std::vector<Layout> layouts;
  bool strided = false;
  for (auto& input : args.inputs) {
    layouts.push_back(layout_of(input, args.shape));
    strided = strided || layouts.back() == Layout::strided;
  }
  bool rows = strided && rank > 1 && args.shape[rank - 1] >= kRow;
  std::string source = KernelWriter(args, layouts, rows).write(strided);
  Launch launch = Launch::from_source(device, Source::generated, source, "elementwise");
  launch.index(rows ? args.shape[rank - 1] : total);
  if (strided)
    for (int64_t d : args.shape) launch.index(d);
  for (float scalar : args.scalars) launch.arg(scalar);
  for (size_t j = 0; j < args.inputs.size(); ++j) {
    launch.in(*args.inputs[j].tensor);
    if (layouts[j] == Layout::strided)
      for (int64_t stride : args.inputs[j].strides) launch.index(stride);
  }
  for (Tensor* output : args.outputs) launch.out(*output);
  if (rows)
    launch.over(args.shape[rank - 1], total / args.shape[rank - 1]);
  else
    launch.over(total);
}

}  // namespace

void add_elementwise(OpenclKernels& kernels) { kernels.add(kElementwise, elementwise); }

}  // namespace kaiseki::opencl
