// SPDX-License-Identifier: MIT
#include "tests/support/activation.h"
#include "tests/support/gradcheck.h"
#include "tests/support/layer_reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

void check(const std::string& settings, const ConvSizes& z, int bias) {
  check_layers(R"({"name": "c", "type": "convolution", )" + settings + "}", {z.n, z.c, z.h, z.w},
               [&](const Doubles& x, const Parameters& p) {
                 Doubles y = convolution(z, x, p.at("c.weight"));
                 if (bias == 0) return y;
                 return with_bias(y, p.at("c.bias"), bias == 1 ? z.out_h() * z.out_w() : 1);
               });
}

}  // namespace

TEST_CASE("convolution: stride, padding, dilation, groups and kinds of bias") {
  check(R"("output_channels": 3, "kernel_size": 3)", {2, 2, 5, 7, 3, 3, 3}, 1);
  check(R"("output_channels": 2, "kernel_size": [3, 2], "stride": [2, 1], "padding": [1, 0])",
        {3, 3, 7, 5, 2, 3, 2, {2, 1}, {1, 0}}, 1);
  check(R"("output_channels": 4, "kernel_size": 2, "dilation": [2, 3], "groups": 2, "bias": false)",
        {1, 4, 6, 7, 4, 2, 2, {1, 1}, {0, 0}, {2, 3}, 2}, 0);
  check(R"("output_channels": 6, "kernel_size": 3, "padding": 1, "groups": 3, "stride": 2)",
        {2, 3, 5, 5, 6, 3, 3, {2, 2}, {1, 1}, {1, 1}, 3}, 1);
  check(R"("output_channels": 5, "kernel_size": 1)", {1, 1, 1, 1, 5, 1, 1}, 1);
  check(R"("output_channels": 2, "kernel_size": 2, "bias": "position")", {3, 1, 4, 3, 2, 2, 2}, 2);
}

TEST_CASE("convolution: more or less padding at the end") {
  check(R"("output_channels": 3, "kernel_size": 3, "stride": 2, "end_padding": 1)",
        {2, 2, 6, 8, 3, 3, 3, {2, 2}, {0, 0}, {1, 1}, 1, {1, 1}}, 1);
  check(R"("output_channels": 2, "kernel_size": 3, "padding": [2, 1], "end_padding": [0, 3])",
        {3, 3, 7, 5, 2, 3, 3, {1, 1}, {2, 1}, {1, 1}, 1, {-2, 2}}, 1);
}

TEST_CASE("convolution: fuses an activation, with and without max pooling") {
  const ConvSizes z{2, 2, 6, 5, 3, 3, 3, {1, 1}, {1, 1}};
  const std::string conv =
      R"({"name": "c", "type": "convolution", "output_channels": 3, "kernel_size": 3, "padding": 1})";
  auto convolved = [&](const Doubles& x, const Parameters& p) {
    return with_bias(convolution(z, x, p.at("c.weight")), p.at("c.bias"), 30);
  };
  for (Activation kind : kActivations) {
    if (kind == Activation::none) continue;
    const auto f = [kind](double v) { return activate(v, kind, 0.01); };
    const std::string layers =
        conv + R"(, {"type": ")" + std::string(activation_name(kind)) + "\"}";
    check_layers(layers, {2, 2, 6, 5},
                 [&](const Doubles& x, const Parameters& p) { return map(convolved(x, p), f); });
    check_layers(layers + R"(, {"type": "max_pooling", "kernel_size": 2})", {2, 2, 6, 5},
                 [&](const Doubles& x, const Parameters& p) {
                   return pooling({6, 6, 5, 3, 2, {2, 2}, {2, 2}}, map(convolved(x, p), f));
                 });
  }
}
