// SPDX-License-Identifier: MIT
// All combinations of values of an estimator's settings.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaiseki::ml {

/// Settings by name, as text.
using ParamValues = std::vector<std::pair<std::string, std::string>>;

/// An estimator that a search tries.
template <class Model>
struct SearchCandidate {
  ParamValues params;
  std::function<Model()> make;  // returns a new estimator
};

/// The values of one setting.
template <class Options>
struct ParamAxis {
  struct NamedValue {
    std::string text;
    std::function<void(Options&)> set;
  };
  std::string name;
  std::vector<NamedValue> values;
};

/// vary("c", &SVCOptions::c, {0.1, 1, 10}). `texts` name the values in results. A value without a
/// text is printed. If its type cannot be printed, its text is its position 0, 1, ...
template <class Options, class Value>
ParamAxis<Options> vary(std::string name, Value Options::*member,
                        std::initializer_list<std::type_identity_t<Value>> values,
                        const std::vector<std::string>& texts = {}) {
  ParamAxis<Options> axis{std::move(name), {}};
  for (const Value& value : values) {
    const size_t position = axis.values.size();
    std::ostringstream text;
    if (position < texts.size())
      text << texts[position];
    else if constexpr (requires { text << value; })
      text << value;
    else
      text << position;
    axis.values.push_back(
        {text.str(), [member, value](Options& options) { options.*member = value; }});
  }
  return axis;
}

/// param_grid<SVC>(SVCOptions{}, vary(...), vary(...)): an estimator for each combination. The
/// values of the last axis change first. Grids can be joined, as they are vectors.
template <class Model, class Options, std::same_as<ParamAxis<Options>>... Axes>
std::vector<SearchCandidate<Model>> param_grid(const Options& base, const Axes&... axes) {
  std::vector<std::pair<ParamValues, Options>> points{{{}, base}};
  [[maybe_unused]] const auto extend = [&points](const ParamAxis<Options>& axis) {
    std::vector<std::pair<ParamValues, Options>> longer;
    for (const auto& point : points)
      for (const auto& value : axis.values) {
        longer.push_back(point);
        longer.back().first.emplace_back(axis.name, value.text);
        value.set(longer.back().second);
      }
    points = std::move(longer);
  };
  (extend(axes), ...);
  std::vector<SearchCandidate<Model>> candidates;
  for (const auto& point : points) {
    const Options options = point.second;
    candidates.push_back({point.first, [options] { return Model(options); }});
  }
  return candidates;
}

}  // namespace kaiseki::ml
