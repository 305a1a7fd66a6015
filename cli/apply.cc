// SPDX-License-Identifier: MIT
// kaiseki apply: predictions and transformations of a model of kaiseki fit.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json_line.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/learn_data.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "ml/model/file.h"
#include "nn/io/csv.h"
#include "nn/io/npy.h"

namespace kaiseki::cli {
namespace {

ml::Use use_of(const ApplyCommand& c, const ml::Model& model) {
  const std::vector<ml::Use> uses = model.uses();
  std::vector<std::string> names;
  for (const ml::Use use : uses) {
    if (c.use == ml::use_name(use)) return use;
    names.emplace_back(ml::use_name(use));
  }
  if (c.use.empty() && !uses.empty()) return uses[0];
  throw Error("--use: expected " + join(names, " or ") + " for " + std::string(model.name()) +
              ", got '" + shortened(c.use) + "'");
}

/// A cell of CSV: in quotes if it needs them.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",;\t\"\r\n ") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Numbers, or the names of the classes.
std::string csv_of(const Tensor& result, const std::vector<std::string>& names) {
  if (names.empty() || result.dtype() != DType::i32) return nn::format_csv(result);
  std::string text;
  for (const int32_t label : result.to_vector<int32_t>())
    text += csv_cell(label_name(names, label)) + "\r\n";
  return text;
}

/// A text may have any bytes.
void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int run_command(const ApplyCommand& c) {
  if (!c.output.empty() && !c.output.ends_with(".npy") && !c.output.ends_with(".csv"))
    throw Error("--output: expected a .npy or .csv file, got '" + shortened(c.output) + "'");
  const Device device = open_device(c.device);
  const ml::SavedModel saved = ml::load_model(c.model);
  const ml::Model& model = *saved.model;
  const ml::Use use = use_of(c, model);
  if (!c.output.empty()) for_option("--output", [&] { expect_writable(c.output); });
  ml::TableForm form;
  if (saved.columns) form = saved.columns->form();
  if (!saved.class_names.empty() && !c.target.empty()) form.texts.push_back(c.target);
  LearnData data = read_data(c.data, form);
  Tensor y;
  if (!c.target.empty()) {
    if (!model.has_score()) throw Error("--target: " + std::string(model.name()) + " has no score");
    y = read_target(c.target, model.task(), data, &saved.class_names).values;
  }
  JsonLine line;
  const Tensor result = for_option("--data", [&] {
    Tensor x = data.matrix;
    if (data.table && saved.columns) {
      x = saved.columns->encode(*data.table);
    } else if (data.table) {
      ml::TableEncoder columns;
      columns.fit(*data.table, data.target);
      x = columns.encode(*data.table);
    }
    if (saved.scaler) x = saved.scaler->transform(x);
    x = x.to(device);
    line.add("samples", x.dim(0));
    if (y.defined()) {
      const double score = model.score(x, y);
      const char* name = model.task() == ml::LearningTask::classification ? "accuracy" : "score";
      if (c.json)
        line.add(name, score);
      else
        std::fprintf(stderr, "%s  %.6g\n", name, score);
    }
    return model.apply(use, x).to(Device::cpu());
  });
  if (c.output.ends_with(".npy"))
    for_option("--output", [&] { nn::write_npy(c.output, result); });
  else if (!c.output.empty())
    for_option("--output",
               [&] { write_file_atomic(c.output, as_bytes(csv_of(result, saved.class_names))); });
  else if (!c.json)
    print(csv_of(result, saved.class_names));
  if (c.json) std::printf("%s\n", line.str().c_str());
  return 0;
}

}  // namespace kaiseki::cli
