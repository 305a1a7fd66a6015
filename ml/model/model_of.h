// SPDX-License-Identifier: MIT
// ModelOf: the Model of one estimator class, found from the functions that the class has.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ml/model/model.h"
#include "ml/model/settings.h"

namespace kaiseki::ml {

template <class Estimator, class Options>
class ModelOf final : public Model {
 public:
  ModelOf(std::string_view name, LearningTask task, Options options)
      : name_(name), task_(task), options_(std::move(options)), estimator_(options_) {}

  std::string_view name() const override { return name_; }
  LearningTask task() const override { return task_; }
  Json settings() const override {
    Archive archive;
    Options options = options_;
    describe(archive, options);
    return archive.values();
  }

  void fit(const Tensor& x, const Tensor& y) override {
    if constexpr (requires { estimator_.fit(x, y); })
      estimator_.fit(x, y);
    else
      estimator_.fit(x);
    features_ = x.dim(1);
  }

  void partial_fit(const Tensor& x, const Tensor& y, const std::vector<int32_t>& classes) override {
    if constexpr (requires { estimator_.partial_fit(x, y, classes); })
      estimator_.partial_fit(x, y, classes);
    else if constexpr (requires { estimator_.partial_fit(x, y); })
      estimator_.partial_fit(x, y);
    else if constexpr (requires { estimator_.partial_fit(x); })
      estimator_.partial_fit(x);
    else
      throw Error(message(name_, "has no partial_fit()"));
    features_ = x.dim(1);
  }
  bool has_partial_fit() const override {
    const Tensor x;
    return requires(Estimator & estimator) { estimator.partial_fit(x, x); }
    || requires(Estimator & estimator) { estimator.partial_fit(x); };
  }

  std::vector<Use> uses() const override {
    std::vector<Use> uses;
    const Tensor x;
    if constexpr (requires { Tensor(estimator_.predict(x)); }) uses.push_back(Use::predict);
    if constexpr (requires { Tensor(estimator_.transform(x)); }) uses.push_back(Use::transform);
    if constexpr (requires { Tensor(estimator_.predict_proba(x)); })
      uses.push_back(Use::predict_proba);
    if constexpr (requires { Tensor(estimator_.decision_function(x)); })
      uses.push_back(Use::decision_function);
    if constexpr (requires { Tensor(estimator_.score_samples(x)); })
      uses.push_back(Use::score_samples);
    return uses;
  }

  Tensor apply(Use use, const Tensor& x) const override {
    switch (use) {
      case Use::predict:
        if constexpr (requires { Tensor(estimator_.predict(x)); }) return estimator_.predict(x);
        break;
      case Use::transform:
        if constexpr (requires { Tensor(estimator_.transform(x)); }) return estimator_.transform(x);
        break;
      case Use::predict_proba:
        if constexpr (requires { Tensor(estimator_.predict_proba(x)); })
          return estimator_.predict_proba(x);
        break;
      case Use::decision_function:
        if constexpr (requires { Tensor(estimator_.decision_function(x)); })
          return estimator_.decision_function(x);
        break;
      case Use::score_samples:
        if constexpr (requires { Tensor(estimator_.score_samples(x)); })
          return estimator_.score_samples(x);
        break;
    }
    throw Error(message(name_, "has no ", use_name(use), "()"));
  }

  double score(const Tensor& x, const Tensor& y) const override {
    if constexpr (requires { estimator_.score(x, y); })
      return estimator_.score(x, y);
    else if constexpr (requires { estimator_.score(x); })
      return estimator_.score(x);
    throw Error(message(name_, "has no score()"));
  }
  bool has_score() const override {
    const Tensor x;
    return requires { estimator_.score(x, x); }
    || requires { estimator_.score(x); };
  }

  std::optional<bool> converged() const override {
    if constexpr (requires { bool(estimator_.converged()); }) return estimator_.converged();
    return {};
  }

  std::vector<int32_t> classes() const override {
    if constexpr (requires { estimator_.classes(); }) return estimator_.classes();
    return {};
  }

  std::optional<LinearParts> linear_parts() const override {
    // A support vector machine has a function for each pair of classes.
    if constexpr (
        requires { estimator_.coefficients(), estimator_.intercept(); } &&
        !requires { estimator_.support_vectors(); }) {
      LinearParts parts{estimator_.coefficients(), estimator_.intercept(), {}, false};
      if constexpr (requires { estimator_.classes(); }) parts.classes = estimator_.classes();
      parts.softmax = std::is_same_v<Estimator, LogisticRegression>;
      return parts;
    }
    return {};
  }

  std::optional<ForestParts> forest_parts() const override {
    ForestParts parts;
    if constexpr (requires { std::span<const Tree>(estimator_.trees()); })
      parts.trees = estimator_.trees();
    else if constexpr (requires { estimator_.tree(); })
      parts.trees = {&estimator_.tree(), 1};
    else
      return {};
    if constexpr (requires { estimator_.classes(); }) parts.classes = estimator_.classes();
    return parts;
  }

  void archive(Archive& state) override {
    state("features", features_);
    if (features_ < 0 || features_ > kMostFeatures)
      state.fail("features", "expected 0 or more features");
    estimator_.archive(state);
  }

 private:
  static constexpr int64_t kMostFeatures = int64_t{1} << 40;

  std::string_view name_;
  LearningTask task_;
  Options options_;
  Estimator estimator_;
};

}  // namespace kaiseki::ml
