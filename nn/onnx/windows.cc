// SPDX-License-Identifier: MIT
// Reads windows, and imports pooling and Pad.
#include "nn/onnx/windows.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "matrix/ceil_div.h"
#include "matrix/ops/pooling.h"
#include "nn/layer.h"
#include "nn/onnx/operators.h"

namespace kaiseki::nn::onnx {
namespace {

std::array<int64_t, 2> read_pair(OnnxOp& op, std::string_view name,
                                 std::array<int64_t, 2> otherwise) {
  const std::vector<int64_t> values = op.integers(name, {otherwise[0], otherwise[1]});
  const auto fits = [](int64_t value) { return value >= 1 && value <= kMaxDimension; };
  if (values.size() != 2 || !fits(values[0]) || !fits(values[1]))
    op.fail_attribute(name, "two integers of 1 or more, for pictures", list_text(values));
  return {values[0], values[1]};
}

/// Pads so that the output has ceil(input / stride) elements. If the total is odd, `upper` puts the
/// extra element at the end, else at the beginning.
void pad_to_same(OnnxWindow& window, const Shape& input, bool upper) {
  for (int i = 0; i < 2; ++i) {
    const int64_t in = input[i + 1], stride = window.stride[i];
    const int64_t out = ceil_div(in, stride);
    const int64_t total = std::max<int64_t>((out - 1) * stride + window.reach(i) - in, 0);
    window.begin[i] = upper ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

void read_pads(OnnxOp& op, OnnxWindow& window, const Shape& input) {
  const std::string automatic = op.text("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = op.integers("pads", {0, 0, 0, 0});
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_to_same(window, input, automatic == "SAME_UPPER");
  } else if (automatic == "NOTSET") {
    if (pads.size() != 4 || *std::min_element(pads.begin(), pads.end()) < 0 ||
        *std::max_element(pads.begin(), pads.end()) > kMaxDimension)
      op.fail_attribute("pads", "four integers of 0 or more, for pictures", list_text(pads));
    window.begin = {pads[0], pads[1]};
    window.end = {pads[2], pads[3]};
  } else if (automatic != "VALID") {
    op.fail_attribute("auto_pad", "NOTSET, VALID, SAME_UPPER or SAME_LOWER", automatic);
  }
}

std::string pads_text(const OnnxWindow& w) {
  return list_text({w.begin[0], w.begin[1], w.end[0], w.end[1]});
}

/// Returns the Pooling2d with the same windows, if there is one.
std::optional<Pooling2d> same_windows(const OnnxWindow& window, const Shape& input) {
  Pooling2d pooling{.window = window.kernel, .stride = window.stride, .padding = window.begin};
  for (const bool ceil_mode : {window.ceil_mode, !window.ceil_mode}) {
    pooling.ceil_mode = ceil_mode;
    const Shape shape = pooling2d_shape({1, input[0], input[1], input[2]}, pooling);
    if (shape[2] == window.length(0, input[1]) && shape[3] == window.length(1, input[2]))
      return pooling;
  }
  return std::nullopt;
}

NewLayer pooling_layer(OnnxOp& op, const OnnxWindow& window, const Shape& input, bool counts) {
  if (window.dilation != std::array<int64_t, 2>{1, 1})
    op.fail_attribute("dilations", "[1, 1] of pooling",
                      list_text({window.dilation[0], window.dilation[1]}));
  std::optional<Pooling2d> pooling;
  try {
    pooling = same_windows(window, input);
  } catch (const ShapeError& error) {
    op.fail(error.what());
  }
  if (!pooling)
    op.fail_attribute("pads",
                      "the same at both ends, or more at the end so that windows begin "
                      "inside the picture and cover it",
                      pads_text(window));
  for (int i = 0; i < 2; ++i) {
    const int64_t last = (window.length(i, input[i + 1]) - 1) * window.stride[i] + window.kernel[i];
    if (counts && last > input[i + 1] + 2 * window.begin[i])
      op.fail_attribute("count_include_pad", "0 where a window reaches beyond the padding", "1");
  }
  NewLayer layer;
  layer.params.set("kernel_size", pair_json(pooling->window))
      .set("stride", pair_json(pooling->stride))
      .set("padding", pair_json(pooling->padding))
      .set("ceil_mode", pooling->ceil_mode);
  return layer;
}

}  // namespace

int64_t OnnxWindow::length(int axis, int64_t in) const {
  const int64_t free = in + begin[axis] + end[axis] - reach(axis);
  if (free < 0) return 0;
  return (free + (ceil_mode ? stride[axis] - 1 : 0)) / stride[axis] + 1;
}

Json pair_json(const std::array<int64_t, 2>& pair) {
  return pair[0] == pair[1] ? Json(pair[0]) : Json::array({Json(pair[0]), Json(pair[1])});
}

void expect_no_automatic_padding(OnnxOp& op) {
  const std::string automatic = op.text("auto_pad", "NOTSET");
  if (automatic.starts_with("SAME"))
    op.fail_attribute("auto_pad", "NOTSET or VALID after a Pad", automatic);
}

OnnxWindow read_window(OnnxOp& op, const Shape& input, std::array<int64_t, 2> kernel) {
  OnnxWindow window;
  window.kernel = read_pair(op, "kernel_shape", kernel);
  window.stride = read_pair(op, "strides", {1, 1});
  window.dilation = read_pair(op, "dilations", {1, 1});
  window.ceil_mode = op.integer("ceil_mode", 0) != 0;
  read_pads(op, window, input);
  return window;
}

void import_max_pool(OnnxOp& op) {
  const OnnxValue& x = op.data(0, 3);
  op.integer("storage_order", 0);  // affects the second output only
  NewLayer layer = pooling_layer(op, read_window(op, x.shape, {0, 0}), x.shape, false);
  layer.type = "max_pooling";
  op.add(std::move(layer), {&x});
}

void import_average_pool(OnnxOp& op) {
  OnnxValue x = op.input(0);
  bool counts = op.integer("count_include_pad", 0) != 0;
  const std::vector<int64_t> pads = std::exchange(x.pads, {});
  if (x.is_constant() || x.gain || x.shape.rank() != 3) op.data(0, 3);
  if (!pads.empty()) expect_no_automatic_padding(op);
  OnnxWindow window = read_window(op, x.shape, {0, 0});
  const bool padded =
      window.begin != std::array<int64_t, 2>{} || window.end != std::array<int64_t, 2>{};
  if (!pads.empty()) {
    if (padded && !counts)
      op.fail_attribute("pads", "none after a Pad, unless count_include_pad is 1",
                        pads_text(window));
    counts = true;
    for (int i = 0; i < 2; ++i) window.begin[i] += pads[i], window.end[i] += pads[i + 2];
  }
  NewLayer layer = pooling_layer(op, window, x.shape, counts && (padded || !pads.empty()));
  layer.type = "average_pooling";
  layer.params.set("count_padding", counts && window.begin != std::array<int64_t, 2>{});
  op.add(std::move(layer), {&x});
}

void import_pad(OnnxOp& op) {
  const OnnxValue& x = op.data(0, 3);
  const std::string mode = op.text("mode", "constant");
  if (mode != "constant") op.fail_attribute("mode", "constant", mode);
  const std::vector<int64_t> pads =
      op.opset() < 11 ? op.integers("pads", {}) : op.constant_integers(1);
  double value = op.opset() < 11 ? op.number("value", 0) : 0;
  if (op.has_input(2)) {
    const TensorData& given = op.constant(2);
    if (given.elements() != 1)
      op.fail("expected a constant_value of one element, got " + list_text(given.dims));
    value = op.values(given)[0];
  }
  if (value != 0) op.fail("expected padding with zeros, got padding with " + std::to_string(value));
  const bool plane = pads.size() == 8 && pads[0] == 0 && pads[1] == 0 && pads[4] == 0 &&
                     pads[5] == 0 && *std::min_element(pads.begin(), pads.end()) >= 0 &&
                     *std::max_element(pads.begin(), pads.end()) <= kMaxDimension;
  if (!plane)
    op.fail("expected pads of 0 or more, along height and width only, got " + list_text(pads));
  OnnxValue padded = x;
  const std::vector<int64_t> around = {pads[2], pads[3], pads[6], pads[7]};
  if (around != std::vector<int64_t>(4)) {
    padded.pads = around;
    padded.pending = op.place();
  }
  op.set(std::move(padded));
}

}  // namespace kaiseki::nn::onnx
