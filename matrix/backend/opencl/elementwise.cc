// SPDX-License-Identifier: MIT
// Elementwise expressions. An Expression becomes the source of a kernel, which is compiled once for
// each expression and layout of its operands.
#include "matrix/backend/operations/elementwise.h"

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/elementwise_source.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"

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

class KernelWriter {
 public:
  KernelWriter(const ElementwiseArgs& args, const std::vector<Layout>& layouts, bool rows)
      : args_(args), layouts_(layouts), rows_(rows), rank_(args.shape.rank()) {}

  std::string write(bool strided) {
    const auto& program = args_.expression->program;
    add({elementwise_functions(program), "__kernel void elementwise(INDEX n"});
    for (int d = 0; strided && d < rank_; ++d) add({", INDEX ", numbered("d", d)});
    write_parameters();
    add({") {\n  INDEX i = get_global_id(0);\n  if (i >= n) return;\n"});
    if (strided) write_positions();
    for (size_t j = 0; j < layouts_.size(); ++j) write_load(j);
    for (size_t j = 0; j < program.size(); ++j)
      add({"  ", lane_name(program[j].type), " ", numbered("v", j), " = ",
           operation_text(program, program[j]), ";\n"});
    auto& outputs = args_.expression->outputs;
    for (size_t j = 0; j < outputs.size(); ++j) {
      std::string y = numbered("y", j);
      add({"  ", y, "[", y, "_at + i] = ", numbered("v", outputs[j]), ";\n"});
    }
    add({"}\n"});
    return text_;
  }

 private:
  void add(std::initializer_list<std::string_view> parts) { text_ += joined(parts); }

  void write_parameters() {
    for (size_t j = 0; j < args_.scalars.size(); ++j)
      add({std::holds_alternative<float>(args_.scalars[j]) ? ", float " : ", int ",
           numbered("s", j)});
    for (size_t j = 0; j < layouts_.size(); ++j) {
      std::string x = numbered("x", j);
      add({", __global const ", type_name(args_.inputs[j].tensor->dtype()), "* p", x, ", ulong ", x,
           "_at"});
      for (int d = 0; layouts_[j] == Layout::strided && d < rank_; ++d)
        add({", INDEX ", x, numbered("_d", d)});
    }
    for (size_t j = 0; j < args_.outputs.size(); ++j) {
      std::string y = numbered("y", j);
      add({", __global ", type_name(args_.outputs[j]->dtype()), "* ", y, ", ulong ", y, "_at"});
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

  void write_load(size_t input) {
    const Layout layout = layouts_[input];
    const std::string x = numbered("x", input);
    add({"  ", lane_name(args_.inputs[input].tensor->dtype()), " ", x, " = p", x, "[", x, "_at"});
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
  for (const Scalar& scalar : args.scalars)
    std::visit([&](auto number) { launch.arg(number); }, scalar);
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
