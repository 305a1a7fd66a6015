// SPDX-License-Identifier: MIT
// Classic learning: models by name, their fitting and files, and the built-in digits.
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "ml/model/file.h"
#include "ml/model/model.h"
#include "ml/model/registry.h"
#include "nn/data/source.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

using namespace ml;

std::string_view task_name(LearningTask task) {
  constexpr std::string_view kNames[] = {"classification", "regression", "clustering",
                                         "transformation"};
  return kNames[static_cast<size_t>(task)];
}

Use use_of(std::string_view name) {
  for (const Use use : {Use::predict, Use::predict_proba, Use::decision_function, Use::transform,
                        Use::score_samples})
    if (use_name(use) == name) return use;
  throw Error(message("apply", "expected predict, predict_proba, decision_function, transform or ",
                      "score_samples, got '", name, "'"));
}

template <class T>
Tensor matrix_of(const T* values, int rows, int columns) {
  const Shape shape{rows, columns};
  require(rows >= 0 && columns >= 0, "learn", "expected a shape of 0 or more, got ", shape);
  return Tensor::from(std::span(values, static_cast<size_t>(shape.elements())), shape,
                      Device::cpu());
}

/// The x that the model itself gets.
Tensor samples_of(const SavedModel& saved, const float* values, int rows, int columns) {
  const Tensor x = matrix_of(values, rows, columns);
  return saved.scaler ? saved.scaler->transform(x) : x;
}

/// Labels i32 [n], or targets f32 [n] or [n, outputs]. Undefined: no targets.
Tensor targets_of(const Model& model, const void* values, int rows, int columns) {
  if (!values) return {};
  if (model.task() == LearningTask::regression) {
    const Tensor y = matrix_of(static_cast<const float*>(values), rows, columns);
    return columns == 1 ? y.reshape({rows}) : y;
  }
  return matrix_of(static_cast<const int32_t*>(values), rows, 1).reshape({rows});
}

/// Classifications and regressions need targets.
void check_targets(const Model& model, const void* targets) {
  const bool needed =
      model.task() == LearningTask::classification || model.task() == LearningTask::regression;
  if (needed && !targets)
    throw Error(message(model.name(), "expected y, because it is a ", task_name(model.task()),
                        ", got none"));
}

/// Each value has four bytes.
ByteVector bytes_of_elements(const Tensor& tensor) {
  Tensor whole = tensor.contiguous();
  ByteVector bytes(whole.bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), whole.host_pointer(Access::read), bytes.size());
  return bytes;
}

}  // namespace

/// Returns all kinds of models as a JSON list.
KAISEKI_EXPORT const std::byte* kaiseki_learn_kinds() {
  return guarded([&] {
    Json kinds = Json::array();
    for (const ModelKind& kind : model_kinds())
      kinds.items.push_back(Json::object()
                                .set("name", std::string(kind.name))
                                .set("about", std::string(kind.about))
                                .set("task", std::string(task_name(kind.task))));
    return return_text(format_json_line(kinds));
  });
}

/// Returns a model that is not fitted. `settings` is a JSON object.
KAISEKI_EXPORT SavedModel* kaiseki_learn_model(const char* name, const char* settings) {
  return guarded([&] {
    SavedModel saved;
    saved.model = make_model(name, parse_json(settings, "settings"), name);
    return handle(std::move(saved));
  });
}

KAISEKI_EXPORT void kaiseki_learn_delete(SavedModel* saved) { release(saved); }

/// Returns name, task, settings, uses, number of features and names of classes, as JSON.
KAISEKI_EXPORT const std::byte* kaiseki_learn_describe(const SavedModel* saved) {
  return guarded([&] {
    const Model& model = *saved->model;
    Json uses = Json::array(), classes = Json::array();
    for (const Use use : model.uses()) uses.items.emplace_back(std::string(use_name(use)));
    for (const std::string& name : saved->class_names) classes.items.emplace_back(name);
    Json all = Json::object();
    all.set("name", std::string(model.name()))
        .set("task", std::string(task_name(model.task())))
        .set("settings", model.settings())
        .set("uses", uses)
        .set("hasScore", model.has_score())
        .set("hasPartialFit", model.has_partial_fit())
        .set("features", model.features())
        .set("classNames", classes);
    return return_text(format_json_line(all));
  });
}

KAISEKI_EXPORT int kaiseki_learn_fit(SavedModel* saved, const float* x, int rows, int features,
                                     const void* y, int outputs) {
  return guarded([&] {
    Model& model = *saved->model;
    check_targets(model, y);
    saved->columns.reset();
    saved->scaler.reset();
    saved->class_names.clear();
    model.fit(matrix_of(x, rows, features), targets_of(model, y, rows, outputs));
    return 1;
  });
}

KAISEKI_EXPORT int kaiseki_learn_partial_fit(SavedModel* saved, const float* x, int rows,
                                             int features, const void* y, int outputs,
                                             const int32_t* classes, int class_count) {
  return guarded([&] {
    Model& model = *saved->model;
    check_targets(model, y);
    model.partial_fit(samples_of(*saved, x, rows, features), targets_of(model, y, rows, outputs),
                      std::vector<int32_t>(classes, classes + class_count));
    return 1;
  });
}

/// Returns the values, row-major. Writes whether they are integers to `integers`.
KAISEKI_EXPORT const std::byte* kaiseki_learn_apply(const SavedModel* saved, const char* use,
                                                    const float* x, int rows, int features,
                                                    int32_t* integers) {
  return guarded([&] {
    const Tensor result = saved->model->apply(use_of(use), samples_of(*saved, x, rows, features));
    *integers = result.dtype() == DType::i32;
    return return_bytes(bytes_of_elements(result));
  });
}

KAISEKI_EXPORT double kaiseki_learn_score(const SavedModel* saved, const float* x, int rows,
                                          int features, const void* y, int outputs) {
  return guarded([&] {
    const Model& model = *saved->model;
    check_targets(model, y);
    return model.score(samples_of(*saved, x, rows, features), targets_of(model, y, rows, outputs));
  });
}

/// Returns the bytes of a model's file.
KAISEKI_EXPORT const std::byte* kaiseki_learn_encode(const SavedModel* saved) {
  return guarded([&] { return return_bytes(encode_model(*saved)); });
}

KAISEKI_EXPORT SavedModel* kaiseki_learn_decode(const std::byte* bytes, size_t size) {
  return guarded([&] { return handle(decode_model({bytes, size})); });
}

/// Returns pictures of 28 x 28 bytes. Picture i has the class i % 10.
KAISEKI_EXPORT const std::byte* kaiseki_learn_digits(int count, double seed, bool train) {
  return guarded([&] {
    if (count < 1) throw Error(message("digits", "expected one digit or more, got ", count));
    const auto source = nn::make_digits(count, static_cast<uint64_t>(seed), train);
    ByteVector bytes;
    nn::Picture picture;
    for (int i = 0; i < count; ++i) {
      source->read(i, {}, picture);
      const auto part = std::as_bytes(std::span(picture.pixels));
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return return_bytes(std::move(bytes));
  });
}

}  // namespace kaiseki::wasm
