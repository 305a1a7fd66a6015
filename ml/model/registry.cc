// SPDX-License-Identifier: MIT
#include "ml/model/registry.h"

#include <algorithm>

#include "base/error.h"
#include "ml/model/model_of.h"

namespace kaiseki::ml {
namespace {

template <class Estimator, class Options, LearningTask task>
ModelKind kind(std::string_view name, std::string_view about) {
  return {name, about, task,
          [](std::string_view name, const Json& settings, const std::string& place) {
            Options options;
            Archive archive(settings, {}, place, false);
            describe(archive, options);
            archive.expect_all_read();
            return std::unique_ptr<Model>(
                std::make_unique<ModelOf<Estimator, Options>>(name, task, std::move(options)));
          }};
}

std::vector<ModelKind> all_kinds() {
  constexpr LearningTask kClasses = LearningTask::classification,
                         kNumbers = LearningTask::regression, kClusters = LearningTask::clustering,
                         kTransforms = LearningTask::transformation;
  return {
      kind<AROW, AROWOptions, kClasses>("AROW", "Adaptive regularization of weights, online"),
      kind<ConfidenceWeighted, ConfidenceWeightedOptions, kClasses>(
          "ConfidenceWeighted", "Confidence-weighted linear classifier, online"),
      kind<DecisionTreeClassifier, DecisionTreeClassifierOptions, kClasses>(
          "DecisionTreeClassifier", "Decision tree"),
      kind<GaussianNB, GaussianNBOptions, kClasses>("GaussianNB",
                                                    "Naive Bayes for features of real numbers"),
      kind<KNeighborsClassifier, KNeighborsOptions, kClasses>("KNeighborsClassifier",
                                                              "Votes of the nearest samples"),
      kind<LogisticRegression, LogisticRegressionOptions, kClasses>(
          "LogisticRegression", "Linear classifier with probabilities, by L-BFGS"),
      kind<MultinomialNB, MultinomialNBOptions, kClasses>("MultinomialNB",
                                                          "Naive Bayes for counts"),
      kind<NHERD, NHERDOptions, kClasses>("NHERD", "Normal herding, online"),
      kind<PassiveAggressiveClassifier, PassiveAggressiveOptions, kClasses>(
          "PassiveAggressiveClassifier", "Passive-aggressive linear classifier, online"),
      kind<Perceptron, PerceptronOptions, kClasses>("Perceptron", "Perceptron, online"),
      kind<RadiusNeighborsClassifier, RadiusNeighborsClassifierOptions, kClasses>(
          "RadiusNeighborsClassifier", "Votes of all samples within a radius"),
      kind<RandomForestClassifier, RandomForestClassifierOptions, kClasses>(
          "RandomForestClassifier", "Votes of random decision trees"),
      kind<SGDClassifier, SGDClassifierOptions, kClasses>(
          "SGDClassifier", "Linear SVM and other linear classifiers, by stochastic gradients"),
      kind<SVC, SVCOptions, kClasses>("SVC", "Support vector machine with a kernel"),
      kind<SoftConfidenceWeighted, SoftConfidenceWeightedOptions, kClasses>(
          "SoftConfidenceWeighted", "Soft confidence-weighted linear classifier, online"),
      kind<CCA, CCAOptions, kNumbers>("CCA", "Regression on canonical correlations"),
      kind<DecisionTreeRegressor, DecisionTreeRegressorOptions, kNumbers>("DecisionTreeRegressor",
                                                                          "Decision tree"),
      kind<ElasticNet, ElasticNetOptions, kNumbers>("ElasticNet",
                                                    "Linear regression with L1 and L2 penalties"),
      kind<KNeighborsRegressor, KNeighborsOptions, kNumbers>("KNeighborsRegressor",
                                                             "Mean of the nearest samples"),
      kind<Lasso, LassoOptions, kNumbers>("Lasso", "Linear regression with an L1 penalty"),
      kind<LinearRegression, LinearRegressionOptions, kNumbers>("LinearRegression",
                                                                "Least squares"),
      kind<PassiveAggressiveRegressor, PassiveAggressiveRegressorOptions, kNumbers>(
          "PassiveAggressiveRegressor", "Passive-aggressive linear regression, online"),
      kind<RadiusNeighborsRegressor, RadiusNeighborsOptions, kNumbers>(
          "RadiusNeighborsRegressor", "Mean of all samples within a radius"),
      kind<RandomForestRegressor, RandomForestRegressorOptions, kNumbers>(
          "RandomForestRegressor", "Mean of random decision trees"),
      kind<Ridge, RidgeOptions, kNumbers>("Ridge", "Least squares with an L2 penalty"),
      kind<SGDRegressor, SGDRegressorOptions, kNumbers>(
          "SGDRegressor", "Linear regression, by stochastic gradients"),
      kind<SVR, SVROptions, kNumbers>("SVR", "Support vector regression with a kernel"),
      kind<GaussianMixture, GaussianMixtureOptions, kClusters>(
          "GaussianMixture", "Mixture of Gaussians, by expectation maximization"),
      kind<KMeans, KMeansOptions, kClusters>("KMeans", "k-means clustering"),
      kind<MiniBatchKMeans, MiniBatchKMeansOptions, kClusters>("MiniBatchKMeans",
                                                               "k-means on random batches"),
      kind<IncrementalPCA, IncrementalPCAOptions, kTransforms>(
          "IncrementalPCA", "Principal components, batch by batch"),
      kind<MinMaxScaler, MinMaxScalerOptions, kTransforms>("MinMaxScaler",
                                                           "Scales each feature to a range"),
      kind<PCA, PCAOptions, kTransforms>("PCA", "Principal components"),
      kind<StandardScaler, StandardScalerOptions, kTransforms>(
          "StandardScaler", "Scales each feature to mean 0 and variance 1"),
  };
}

}  // namespace

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds = all_kinds();
  return kinds;
}

std::unique_ptr<Model> make_model(std::string_view name, const Json& settings,
                                  const std::string& place) {
  const auto& kinds = model_kinds();
  const auto found =
      std::ranges::find_if(kinds, [&](const ModelKind& kind) { return kind.name == name; });
  if (found == kinds.end()) {
    std::string names;
    for (const ModelKind& kind : kinds) names.append(names.empty() ? "" : ", ").append(kind.name);
    throw Error(message("make_model", "expected one of ", names, ", got '", name, "'"));
  }
  if (!settings.is(Json::Kind::object))
    throw ParseError(place, "settings", "expected an object, got " + settings.describe());
  return found->make(found->name, settings, place);
}

}  // namespace kaiseki::ml
