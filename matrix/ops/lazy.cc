// SPDX-License-Identifier: MIT
// A Lazy is a tree of operators. It becomes a text of elementwise(), whose parser computes equal
// parts once.
#include "matrix/ops/lazy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki {

/// A leaf has no code.
struct Lazy::Node {
  std::variant<float, int32_t, Tensor> leaf;
  std::string_view code;
  std::array<std::shared_ptr<const Node>, 3> operands;
  int size = 1;  // nodes of the tree
};

namespace {

using Node = Lazy::Node;

// A larger expression is cut: its largest part is computed first. This bounds the recursion, and
// the number of arguments of an OpenCL kernel.
constexpr int kMaxSize = 64;

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.shares_storage_with(b) && a.offset() == b.offset() && a.dtype() == b.dtype() &&
         a.shape() == b.shape() && a.strides() == b.strides();
}

bool same_leaf(const Node& a, const Node& b) {
  if (a.leaf.index() != b.leaf.index()) return false;
  const Tensor* tensor = std::get_if<Tensor>(&a.leaf);
  return tensor && same_elements(*tensor, std::get<Tensor>(b.leaf));
}

class Writer {
 public:
  explicit Writer(const Node& node) {
    collect(node);
    for (size_t i = 0; i < leaves_.size(); ++i) names_.push_back("x" + std::to_string(i));
    write(node);
    for (size_t i = 0; i < leaves_.size(); ++i) bindings_.emplace_back(names_[i], leaves_[i]->leaf);
  }

  const std::string& text() const { return text_; }
  const std::vector<Binding>& bindings() const { return bindings_; }

 private:
  size_t index_of(const Node& node) const {
    const auto found = std::find_if(leaves_.begin(), leaves_.end(), [&](const Node* leaf) {
      return leaf == &node || same_leaf(*leaf, node);
    });
    return static_cast<size_t>(found - leaves_.begin());
  }

  void collect(const Node& node) {
    if (node.code.empty() && index_of(node) == leaves_.size()) leaves_.push_back(&node);
    for (const auto& operand : node.operands)
      if (operand) collect(*operand);
  }

  void write(const Node& node) {
    const auto& [a, b, c] = node.operands;
    if (!a) {
      text_ += names_[index_of(node)];
      return;
    }
    const bool is_function = std::isalpha(static_cast<unsigned char>(node.code[0])) != 0;
    if (is_function || !b) text_ += node.code;
    text_ += '(';
    write(*a);
    for (const auto* next : {&b, &c})
      if (*next) {
        text_ += is_function ? std::string_view(",") : node.code;
        write(**next);
      }
    text_ += ')';
  }

  std::string text_;
  std::vector<const Node*> leaves_;
  std::vector<std::string> names_;
  std::vector<Binding> bindings_;
};

}  // namespace

Lazy::Lazy(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

Lazy::Lazy(const Tensor& tensor) : node_(std::make_shared<Node>(Node{tensor, {}, {}})) {}

Lazy Lazy::make(int64_t number) {
  using Limits = std::numeric_limits<int32_t>;
  if (number < Limits::min() || number > Limits::max()) return make(static_cast<double>(number));
  return Lazy(std::make_shared<Node>(Node{static_cast<int32_t>(number), {}, {}}));
}

Lazy Lazy::make(uint64_t number) {
  if (number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return make(static_cast<int64_t>(number));
  return make(static_cast<double>(number));
}

Lazy Lazy::make(double number) {
  return Lazy(std::make_shared<Node>(Node{static_cast<float>(number), {}, {}}));
}

Lazy Lazy::join(std::string_view code, const Lazy* const (&operands)[3]) {
  Node node{{}, code, {}};
  for (size_t i = 0; i < 3 && operands[i]; ++i) {
    node.operands[i] = operands[i]->node_;
    node.size += node.operands[i]->size;
  }
  while (node.size > kMaxSize) {
    auto largest = std::max_element(
        node.operands.begin(), node.operands.end(),
        [](const auto& a, const auto& b) { return (a ? a->size : 0) < (b ? b->size : 0); });
    node.size -= (*largest)->size - 1;
    *largest = Lazy(Lazy(std::move(*largest)).eval()).node_;
  }
  return Lazy(std::make_shared<Node>(std::move(node)));
}

Lazy Lazy::call(std::string_view code, const Lazy& a) { return join(code, {&a, nullptr, nullptr}); }
Lazy Lazy::call(std::string_view code, const Lazy& a, const Lazy& b) {
  return join(code, {&a, &b, nullptr});
}
Lazy Lazy::call(std::string_view code, const Lazy& a, const Lazy& b, const Lazy& c) {
  return join(code, {&a, &b, &c});
}

Tensor Lazy::eval() const {
  if (const Tensor* tensor = std::get_if<Tensor>(&node_->leaf); tensor && node_->code.empty())
    return *tensor;
  const Writer writer(*node_);
  return elementwise(writer.text(), writer.bindings());
}

void Lazy::eval_into(Tensor& out) const {
  for (int axis = 0; axis < out.rank(); ++axis)
    require(out.dim(axis) < 2 || out.strides()[axis] != 0, "elementwise",
            "expected a result whose elements have places of their own, got strides ",
            out.strides(), " for shape ", out.shape());
  const Writer writer(*node_);
  if (out.is_contiguous()) return elementwise_into(out, writer.text(), writer.bindings());
  Tensor values(out.shape(), out.dtype(), out.device());
  elementwise_into(values, writer.text(), writer.bindings());
  copy_into(out, values);
}

}  // namespace kaiseki
