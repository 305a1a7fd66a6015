// SPDX-License-Identifier: MIT
#include "matrix/conv/out_of_core/sum.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/elementwise.h"
#include "matrix/expression.h"
#include "matrix/typed_expression.h"

namespace kaiseki::conv {
namespace {

/// Computes the expression for each element of the inputs. The result replaces the first one.
void update(std::string_view text, const std::vector<const Tensor*>& inputs,
            const std::vector<Scalar>& scalars, Tensor& result) {
  const std::vector<std::string> names(scalars.size(), "slope");
  const auto expression = Expression::parse(text, names);
  const std::vector<DType> types(inputs.size(), DType::f32);
  const std::array<DType, 1> output = {DType::f32};
  const TypedExpression typed = infer_types(*expression, types, scalars, output);
  ElementwiseArgs args;
  args.expression = &typed;
  args.shape = {result.size()};
  for (const Tensor* input : inputs) args.inputs.push_back({input, {1}});
  args.scalars = scalars;
  args.outputs = {&result};
  run_operation(kElementwise, result, args);
}

}  // namespace

void add_part(Tensor& sum, const Tensor& part) { update("sum + part", {&sum, &part}, {}, sum); }

void activate(Tensor& y, Activation activation, float slope) {
  if (activation == Activation::none) return;
  std::vector<Scalar> scalars;
  if (activation == Activation::leaky_relu) scalars.emplace_back(slope);
  update(activation_formula(activation), {&y}, scalars, y);
}

}  // namespace kaiseki::conv
