// SPDX-License-Identifier: MIT
#include "ml/model/file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "matrix/ops/compare.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "matrix/random.h"
#include "ml/archive.h"
#include "ml/model/registry.h"
#include "nn/io/safetensors.h"
#include "tests/support/folder.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// The defaults, but for the one component of CCA that a single target allows.
Json settings_for(const ModelKind& kind) {
  Json settings = Json::object();
  if (kind.name == "CCA") settings.set("n_components", int64_t{1});
  return settings;
}

/// Iris as each task needs it.
MlSet data_for(LearningTask task) {
  MlSet set = ml_set("iris");
  if (task == LearningTask::regression)
    set.y = Tensor::from(std::span<const float>(set.x.slice(1, 0, 1).contiguous().to_vector()),
                         {150}, Device::cpu());
  return set;
}

std::string error_of(const std::filesystem::path& path) {
  try {
    load_model(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

namespace {

struct Variant {
  std::string name, settings;
};

/// Every kind with its defaults, and the settings that change the fitted state.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const ModelKind& kind : model_kinds())
    all.push_back({std::string(kind.name), format_json(settings_for(kind))});
  for (const char* name : {"SVC", "SVR"})
    for (const char* kernel : {"linear", "poly"})
      all.push_back({name, std::string(R"({"kernel": ")") + kernel + "\"}"});
  for (const char* type : {"tied", "diag", "spherical"})
    all.push_back({"GaussianMixture",
                   std::string(R"({"n_components": 3, "covariance_type": ")") + type + "\"}"});
  for (const char* name : {"KNeighborsClassifier", "KNeighborsRegressor"})
    for (const char* algorithm : {"kd_tree", "brute"})
      all.push_back(
          {name, std::string(R"({"weights": "distance", "algorithm": ")") + algorithm + "\"}"});
  all.push_back({"RadiusNeighborsClassifier", R"({"radius": 0.1, "outlier_label": -1})"});
  all.push_back({"SVC", R"({"decision_function_shape": "ovo", "class_weight": "balanced"})"});
  all.push_back({"SGDClassifier", R"({"loss": "log_loss", "average": true, "penalty": "l1"})"});
  all.push_back({"PCA", R"({"n_components": 2, "whiten": true, "svd_solver": "randomized"})"});
  all.push_back({"KMeans", R"({"algorithm": "lloyd", "n_clusters": 3})"});
  all.push_back({"RandomForestClassifier", R"({"criterion": "entropy", "max_depth": 2})"});
  all.push_back({"StandardScaler", R"({"with_mean": false})"});
  return all;
}

}  // namespace

TEST_CASE("Model files: a model gives the same bits after it was saved and loaded") {
  const Folder folder;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    CAPTURE(variant.settings);
    SavedModel saved;
    saved.model = make_model(variant.name, parse_json(variant.settings, "json"));
    MlSet set = data_for(saved.model->task());
    // Features far from 0, as a shift may get lost.
    set.x = set.x + floats({100, -50, 0, 10}, {4});
    if (variant.name == "MultinomialNB") set.x = elementwise("abs(x)", {{"x", set.x}});
    saved.model->fit(set.x, set.y);
    if (saved.model->task() == LearningTask::classification)
      saved.class_names = {"setosa", "versicolor", "virginica"};
    const auto path = folder / "model.safetensors";
    save_model(path, saved);
    const SavedModel loaded = load_model(path);
    const ByteVector bytes = encode_model(saved);
    CHECK(encode_model(loaded) == bytes);
    CHECK(encode_model(decode_model(bytes)) == bytes);
    CHECK(loaded.model->name() == variant.name);
    CHECK(loaded.model->settings() == saved.model->settings());
    CHECK(loaded.model->features() == 4);
    CHECK(loaded.class_names == saved.class_names);
    CHECK_FALSE(loaded.columns.has_value());
    for (const Use use : saved.model->uses()) {
      // A use may need a setting, such as a loss.
      std::string refused;
      Tensor expected;
      try {
        expected = saved.model->apply(use, set.x);
      } catch (const Error& error) {
        refused = error.what();
      }
      if (refused.empty())
        CHECK(array_equal(loaded.model->apply(use, set.x), expected));
      else
        CHECK_THROWS_WITH_AS(loaded.model->apply(use, set.x), refused.c_str(), Error);
    }
  }
}

TEST_CASE("Model files: a model of huge samples is refused by fit(), or its file can be read") {
  int64_t fitted = 0;
  for (const ModelKind& kind : model_kinds())
    for (const float scale : {1e18f, 1e20f, 1e30f, 1e-30f}) {
      CAPTURE(std::string(kind.name));
      CAPTURE(scale);
      MlSet set = data_for(kind.task);
      set.x = elementwise("x * s", {{"x", set.x}, {"s", scale}});
      SavedModel saved;
      saved.model = make_model(kind.name, settings_for(kind));
      try {
        saved.model->fit(set.x, set.y);
      } catch (const Error&) {
        continue;
      }
      ++fitted;
      const SavedModel loaded = decode_model(encode_model(saved));
      CHECK(encode_model(loaded) == encode_model(saved));
    }
  CHECK(fitted > 60);
}

TEST_CASE("Model files: hostile states are refused") {
  const auto read = [](const std::string& name, const std::string& settings, Json values,
                       std::vector<nn::NamedTensor> tensors) {
    const auto model = make_model(name, parse_json(settings, "json"));
    Archive state(std::move(values), std::move(tensors), "f", true);
    model->archive(state);
  };
  const auto whole = [](std::initializer_list<int32_t> values) {
    const std::vector<int32_t> all(values);
    return Tensor::from(std::span<const int32_t>(all), {static_cast<int64_t>(all.size())},
                        Device::cpu());
  };
  const auto zeros = [](int64_t count, DType type) {
    return Tensor::zeros({count}, type, Device::cpu());
  };
  // rows * outputs is 2^64.
  Json values = Json::object();
  values.set("features", int64_t{1}).set("one_output", false);
  values.set("outputs", int64_t{1} << 52).set("tree_features", int64_t{1});
  CHECK_THROWS_WITH_AS(read("RandomForestRegressor", R"({"n_estimators": 1})", values,
                            {{"node_counts", whole({1})},
                             {"row_counts", whole({4096})},
                             {"node_features", whole({-1})},
                             {"node_next", whole({0})},
                             {"node_thresholds", zeros(1, DType::f32)},
                             {"values", zeros(4096, DType::f32)},
                             {"importance", zeros(1, DType::f64)}}),
                       "f: row_counts: expected fewer", ParseError);
  // Names of classes that do not fit.
  const Folder folder;
  SavedModel saved;
  saved.model = make_model("LogisticRegression");
  const MlSet set = data_for(LearningTask::classification);
  saved.model->fit(set.x, set.y);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"a"}, {"a", "a", "b"}, {"b", "a", "c"}}) {
    saved.class_names = names;
    save_model(folder / "m.safetensors", saved);
    CHECK(error_of(folder / "m.safetensors")
              .ends_with("classes: expected an ascending name for each label"));
  }
  // A support vector machine without classes.
  const auto machine = make_model("SVC");
  machine->fit(set.x, set.y);
  Archive state;
  machine->archive(state);
  std::vector<nn::NamedTensor> tensors = state.tensors();
  for (nn::NamedTensor& tensor : tensors) {
    if (tensor.name == "classes" || tensor.name == "support" || tensor.name == "n_support")
      tensor.value = zeros(0, DType::i32);
    if (tensor.name == "intercept") tensor.value = zeros(0, DType::f32);
    if (tensor.name == "support_vectors")
      tensor.value = Tensor::zeros({0, 4}, DType::f32, Device::cpu());
    if (tensor.name == "dual") tensor.value = Tensor::zeros({3, 0}, DType::f32, Device::cpu());
  }
  CHECK_THROWS_AS(read("SVC", "{}", state.values(), tensors), ParseError);
}

TEST_CASE("Model files: with the columns of a table and a scaler") {
  const Folder folder;
  const DataTable table = parse_table("a,b,y\n1,x,0\n2,z,1\n3,x,0\n5,z,1\n", "t.csv");
  SavedModel saved;
  saved.columns.emplace().fit(table, "y");
  saved.scaler.emplace();
  const Tensor x = saved.scaler->fit_transform(saved.columns->encode(table));
  saved.model = make_model("LogisticRegression");
  saved.model->fit(x, integers({0, 1, 0, 1}, {4}));
  const auto path = folder / "model.safetensors";
  save_model(path, saved);
  const SavedModel loaded = load_model(path);
  REQUIRE(loaded.columns.has_value());
  REQUIRE(loaded.scaler.has_value());
  const Tensor again = loaded.scaler->transform(loaded.columns->encode(table));
  CHECK(array_equal(again, x));
  CHECK(loaded.model->apply(Use::predict, again).to_vector<int32_t>() ==
        std::vector<int32_t>{0, 1, 0, 1});
}

TEST_CASE(
    "Model files: after a scaler, partial_fit of a loaded model gives the bits of the saved") {
  std::vector<Variant> all;
  for (const ModelKind& kind : model_kinds()) all.push_back({std::string(kind.name), "{}"});
  all.push_back({"SGDClassifier", R"({"loss": "log_loss", "average": true, "penalty": "l1"})"});
  all.push_back({"SGDRegressor", R"({"average": true, "learning_rate": "adaptive"})"});
  // Starts small clusters anew in each second part.
  all.push_back({"MiniBatchKMeans", R"({"n_clusters": 4, "reassignment_ratio": 0.9})"});
  const Folder folder;
  const auto path = folder / "model.safetensors";
  int64_t tested = 0, linear = 0;
  for (const Variant& variant : all) {
    CAPTURE(variant.name);
    CAPTURE(variant.settings);
    SavedModel saved;
    saved.model = make_model(variant.name, parse_json(variant.settings, "json"));
    // Its samples are 0 or more, but scaled samples are not.
    if (!saved.model->has_partial_fit() || variant.name == "MultinomialNB") continue;
    ++tested;
    const MlSet set = data_for(saved.model->task());
    const Tensor x = set.x + floats({100, -50, 0, 10}, {4});
    // Each part has all classes.
    const auto x_of = [&](int64_t part) { return x(Slice(part, {}, 5)); };
    const auto y_of = [&](int64_t part) { return set.y(Slice(part, {}, 5)); };
    const Tensor first = saved.scaler.emplace().fit_transform(x_of(0));
    saved.model->partial_fit(first, y_of(0), {0, 1, 2});
    for (int64_t part = 1; part < 5; ++part) {
      save_model(path, saved);
      SavedModel loaded = load_model(path);
      const ByteVector before = encode_model(saved);
      REQUIRE(loaded.scaler.has_value());
      for (SavedModel* each : {&saved, &loaded})
        each->model->partial_fit(each->scaler->transform(x_of(part)), y_of(part), {});
      const ByteVector after = encode_model(saved);
      CHECK(after != before);
      CHECK(encode_model(loaded) == after);
      const std::optional<LinearParts> expected = saved.model->linear_parts();
      if (!expected) continue;
      ++linear;
      const LinearParts got = loaded.model->linear_parts().value();
      CHECK(array_equal(got.coefficients, expected->coefficients));
      CHECK(array_equal(got.intercept, expected->intercept));
    }
  }
  CHECK(tested >= 14);
  CHECK(linear >= 4 * 8);
}

TEST_CASE("Model files: damaged and other files are errors that name the place") {
  const Folder folder;
  const auto path = folder / "model.safetensors";
  CHECK(error_of(path).find("model.safetensors") != std::string::npos);
  nn::write_safetensors(path, {});
  CHECK(
      error_of(path).ends_with("metadata: expected a model under 'kaiseki.model', got none. "
                               "Is it a file of `kaiseki fit`?"));
  const auto with = [&](const std::string& json) {
    nn::write_safetensors(path, {}, {{"kaiseki.model", json}});
    const std::string error = error_of(path);
    return error.substr(std::min(error.size(), path.string().size() + 2));
  };
  CHECK(with("[]") == "kaiseki.model: expected an object, got a list");
  CHECK(with("{}") == "format: expected a value, got none");
  CHECK(with(R"({"format": 2})") == "format: expected 1, got 2. Use a newer version of Kaiseki");
  CHECK(with(R"({"format": 1, "name": "Ridge", "settings": {"beta": 1}})")
            .starts_with("beta: expected one of the names alpha, fit_intercept, got another"));
  CHECK(with(R"({"format": 1, "name": "Ridge", "settings": {}, "model": {}, "classes": []})") ==
        "model: features: expected a value, got none");
}

TEST_CASE("Model files: bytes that are damaged are refused under their name") {
  SavedModel saved;
  saved.model = make_model("KMeans", parse_json(R"({"n_clusters": 2})", "settings"));
  const MlSet set = data_for(LearningTask::clustering);
  saved.model->fit(set.x, set.y);
  ByteVector bytes = encode_model(saved);
  bytes.back() ^= std::byte{1};
  CHECK_THROWS_WITH_AS(decode_model(bytes, "a.model"), doctest::Contains("a.model"), ParseError);
  CHECK_THROWS_AS(decode_model({}, "a.model"), ParseError);
}

namespace {

template <class T>
Tensor with_value(const Tensor& tensor, size_t at, T value) {
  std::vector<T> values = tensor.to_vector<T>();
  values[at] = value;
  return Tensor::from(std::span<const T>(values), tensor.shape(), Device::cpu());
}

/// A tensor of the same type with another shape or other values.
Tensor changed(const Tensor& tensor, Random& random) {
  const int64_t size = tensor.size();
  switch (random.below(5)) {
    case 0:
      return Tensor::zeros({size + 1}, tensor.dtype(), Device::cpu());
    case 1:
      return Tensor::zeros({0}, tensor.dtype(), Device::cpu());
    case 2:
      return tensor.reshape({size});
    case 3:
      return tensor.reshape({1, size});
    default:
      break;
  }
  if (size == 0) return tensor;
  const auto at = random.below(static_cast<uint32_t>(size));
  if (tensor.dtype() == DType::i32)
    return with_value(tensor, at, static_cast<int32_t>(random.below(1000)) - 500);
  return tensor.dtype() == DType::f32 ? with_value(tensor, at, 1e30f)
                                      : with_value(tensor, at, -1e300);
}

Json changed(const Json& value, Random& random) {
  constexpr double kNumbers[] = {-1, 0, 1, 3, 1e6, 1e15};
  if (value.is(Json::Kind::number)) return kNumbers[random.below(6)];
  if (value.is(Json::Kind::boolean)) return !value.boolean;
  return Json();
}

}  // namespace

TEST_CASE("Model files: a state with one change is refused, or the model works") {
  Random random(7, 0);
  int64_t refused = 0, accepted = 0;
  for (const ModelKind& kind : model_kinds()) {
    CAPTURE(std::string(kind.name));
    const MlSet set = data_for(kind.task);
    const auto model = make_model(kind.name, settings_for(kind));
    model->fit(set.x, set.y);
    Archive state;
    model->archive(state);
    for (int i = 0; i < 60; ++i) {
      Json values = state.values();
      std::vector<nn::NamedTensor> tensors = state.tensors();
      const size_t which = random.below(static_cast<uint32_t>(values.keys.size() + tensors.size()));
      if (which < values.keys.size())
        values.items[which] = changed(values.items[which], random);
      else
        tensors[which - values.keys.size()].value =
            changed(tensors[which - values.keys.size()].value, random);
      try {
        const auto loaded = make_model(kind.name, settings_for(kind));
        Archive reader(values, tensors, "f", true);
        loaded->archive(reader);
        reader.expect_all_read();
        for (const Use use : loaded->uses()) loaded->apply(use, set.x);
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 500);
  CHECK(accepted > 100);
}
