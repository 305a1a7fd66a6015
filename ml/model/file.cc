// SPDX-License-Identifier: MIT
#include "ml/model/file.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "ml/archive.h"
#include "ml/model/registry.h"
#include "nn/io/safetensors.h"

namespace kaiseki::ml {
namespace {

constexpr const char* kKey = "kaiseki.model";
constexpr int64_t kFormat = 1;

/// The values and tensors of one part of a file: "model", "columns" or "scaler".
void add_part(Json& all, std::vector<nn::NamedTensor>& tensors, const std::string& part,
              const Archive& archive) {
  all.set(part, archive.values());
  for (const nn::NamedTensor& tensor : archive.tensors())
    tensors.push_back({part + "." + tensor.name, tensor.value});
}

class ModelReader {
 public:
  ModelReader(ByteSource& source) : place_(source.name()) {
    nn::Metadata metadata;
    tensors_ = nn::read_safetensors(source, &metadata);
    const auto text = metadata.find(kKey);
    if (text == metadata.end())
      throw ParseError(place_, "metadata",
                       std::string("expected a model under '") + kKey +
                           "', got none. Is it a file of `kaiseki fit`?");
    all_ = parse_json(text->second, place_);
    if (!all_.is(Json::Kind::object))
      throw ParseError(place_, kKey, "expected an object, got " + all_.describe());
    const Json& format = member("format", Json::Kind::number);
    if (format != Json(kFormat))
      throw ParseError(place_, "format",
                       "expected 1, got " + format.describe() + ". Use a newer version of Kaiseki");
  }

  const Json& member(const std::string& name, Json::Kind kind) const {
    const Json* value = all_.find(name);
    if (!value || !value->is(kind))
      throw ParseError(place_, name,
                       value ? "expected another value, got " + value->describe()
                             : std::string("expected a value, got none"));
    return *value;
  }
  bool has(const std::string& part) const { return all_.find(part) != nullptr; }
  const std::string& place() const { return place_; }

  /// Reads all values of a part.
  template <class Object>
  void read(const std::string& part, Object& object) const {
    std::vector<nn::NamedTensor> tensors;
    for (const nn::NamedTensor& tensor : tensors_)
      if (tensor.name.starts_with(part + "."))
        tensors.push_back({tensor.name.substr(part.size() + 1), tensor.value});
    Archive archive(member(part, Json::Kind::object), std::move(tensors), place_ + ": " + part,
                    true);
    object.archive(archive);
    archive.expect_all_read();
  }

 private:
  std::string place_;
  std::vector<nn::NamedTensor> tensors_;
  Json all_;
};

/// The tensors and the metadata of a file.
struct ModelContent {
  std::vector<nn::NamedTensor> tensors;
  nn::Metadata metadata;
};

ModelContent content_of(const SavedModel& saved) {
  Model& model = *saved.model;
  Json all = Json::object();
  std::vector<nn::NamedTensor> tensors;
  all.set("format", kFormat).set("name", std::string(model.name()));
  all.set("settings", model.settings());
  Archive state;
  model.archive(state);
  add_part(all, tensors, "model", state);
  if (saved.columns) {
    TableEncoder columns = *saved.columns;
    Archive archive;
    columns.archive(archive);
    add_part(all, tensors, "columns", archive);
  }
  if (saved.scaler) {
    StandardScaler scaler = *saved.scaler;
    Archive archive;
    scaler.archive(archive);
    add_part(all, tensors, "scaler", archive);
  }
  Json classes = Json::array();
  for (const std::string& name : saved.class_names) classes.items.emplace_back(name);
  all.set("classes", std::move(classes));
  return {std::move(tensors), {{kKey, format_json_line(all)}}};
}

std::unique_ptr<Model> model_of(const ModelReader& reader) {
  const std::string& name = reader.member("name", Json::Kind::string).string;
  const Json& settings = reader.member("settings", Json::Kind::object);
  try {
    return make_model(name, settings, reader.place());
  } catch (const ParseError&) {
    throw;
  } catch (const Error& error) {
    throw ParseError(reader.place(), "settings", error.what());
  }
}

/// The names of the labels 0, 1, ...
void check_class_names(const SavedModel& saved, const std::string& place) {
  const std::vector<std::string>& names = saved.class_names;
  const auto count = static_cast<int64_t>(names.size());
  const bool ascending =
      std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) == names.end();
  bool fits = names.empty() || saved.model->task() == LearningTask::classification;
  for (const int32_t label : saved.model->classes())
    fits = fits && (names.empty() || (label >= 0 && label < count));
  if (!ascending || !fits)
    throw ParseError(place, "classes", "expected an ascending name for each label");
}

SavedModel read_model(ByteSource& source) {
  const ModelReader reader(source);
  SavedModel saved;
  saved.model = model_of(reader);
  reader.read("model", *saved.model);
  if (reader.has("columns")) reader.read("columns", saved.columns.emplace());
  if (reader.has("scaler")) reader.read("scaler", saved.scaler.emplace());
  for (const Json& item : reader.member("classes", Json::Kind::array).items) {
    if (!item.is(Json::Kind::string))
      throw ParseError(reader.place(), "classes", "expected texts, got " + item.describe());
    saved.class_names.push_back(item.string);
  }
  check_class_names(saved, reader.place());
  return saved;
}

}  // namespace

void save_model(const std::filesystem::path& path, const SavedModel& saved) {
  const ModelContent content = content_of(saved);
  nn::write_safetensors(path, content.tensors, content.metadata);
}

SavedModel load_model(const std::filesystem::path& path) {
  FileSource source(path);
  return read_model(source);
}

ByteVector encode_model(const SavedModel& saved) {
  const ModelContent content = content_of(saved);
  return nn::encode_safetensors(content.tensors, content.metadata);
}

SavedModel decode_model(ByteView bytes, std::string_view place) {
  MemorySource source(bytes, std::string(place));
  return read_model(source);
}

}  // namespace kaiseki::ml
