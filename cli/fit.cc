// SPDX-License-Identifier: MIT
// kaiseki fit: classic machine learning on .npy and CSV files.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/fit_progress.h"
#include "cli/for_option.h"
#include "cli/grid_search.h"
#include "cli/learn_data.h"
#include "cli/pool_grid.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "matrix/ops/index.h"
#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/model/file.h"
#include "ml/model/registry.h"
#include "ml/preprocessing/split.h"

namespace kaiseki::cli {
namespace {

constexpr size_t kLargestTable = 20;  // classes

/// The object {"alpha": 0.5} from "alpha=0.5". A value that is no JSON is a text.
Json settings_from(const std::vector<std::string>& arguments) {
  Json settings = Json::object();
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Error("--set: expected NAME=VALUE, got '" + shortened(argument) + "'");
    const std::string name = argument.substr(0, equals), text = argument.substr(equals + 1);
    if (settings.find(name))
      throw Error("--set: expected each name once, got '" + shortened(name) + "' again");
    settings.set(name, setting_value(text));
  }
  return settings;
}

struct LabeledRows {
  Tensor x, y;  // y is undefined without a target
  int64_t samples() const { return x.dim(0); }
};

struct DataSplit {
  LabeledRows train;
  std::optional<LabeledRows> test;
};

/// A table of texts may have a line of names that looks like a row.
void warn_about_names(const FitCommand& c, const LearnData& data) {
  if (c.header != "auto" || !data.table || data.table->has_names) return;
  if (std::ranges::all_of(data.table->columns, &ml::Column::is_text))
    log_warning(data.table->source +
                ": all cells are texts, so the first line is a row. If it has names, use --header "
                "yes");
}

/// Returns nothing without --test-size.
std::optional<ml::SplitIndices> split_rows(int64_t rows, const Tensor& y, const FitCommand& c,
                                           ml::LearningTask task) {
  if (c.test_size == 0) return {};
  return for_option("--test-size", [&] {
    ml::TrainTestSplitOptions options;
    options.test_size = c.test_size;
    options.seed = c.seed;
    if (task == ml::LearningTask::classification) options.stratify = &y;
    return std::optional(ml::train_test_indices(rows, options));
  });
}

ml::DataTable take_rows(const ml::DataTable& table, const Tensor& rows) {
  return ml::take_rows(table, rows.to_vector<int32_t>());
}

/// The columns learn from the training part. Returns its x, and that of the test part.
std::pair<Tensor, Tensor> encode_parts(const ml::DataTable& table, const std::string& target,
                                       const std::optional<ml::SplitIndices>& rows,
                                       ml::TableEncoder& columns) {
  // Errors about cells do not depend on the choice of the rows.
  for_option("--data", [&] { columns.fit(table, target); });
  if (!rows) return {columns.encode(table), Tensor()};
  const ml::DataTable train = take_rows(table, rows->train);
  for_option("--data", [&] { columns.fit(train, target); });
  // The test part may have a text that the training part does not have.
  return {columns.encode(train),
          for_option("--test-size", [&] { return columns.encode(take_rows(table, rows->test)); })};
}

/// Moves the samples out of `data`.
DataSplit split_data(LearnData& data, const Tensor& y, const FitCommand& c, ml::SavedModel& saved) {
  const auto rows = split_rows(data.rows(), y, c, saved.model->task());
  DataSplit parts;
  if (rows) parts.test.emplace();
  if (data.table) {
    ml::TableEncoder& columns =
        saved.columns.emplace(c.missing == "mean" ? ml::Missing::mean : ml::Missing::refuse);
    auto [train, test] = encode_parts(*data.table, data.target, rows, columns);
    parts.train.x = std::move(train);
    if (rows) parts.test->x = std::move(test);
  } else {
    parts.train.x = rows ? take(data.matrix, rows->train, 0) : data.matrix;
    if (rows) parts.test->x = take(data.matrix, rows->test, 0);
  }
  data = {};
  if (!y.defined()) return parts;
  parts.train.y = rows ? take(y, rows->train, 0) : y;
  if (rows) parts.test->y = take(y, rows->test, 0);
  return parts;
}

/// A line of the table of results.
struct Result {
  std::string name;  // as in --json
  std::string title;
  double train;
  std::optional<double> test;
};

std::vector<Result> results_of(const ml::Model& model, const DataSplit& parts) {
  std::vector<Result> results;
  const auto add = [&](const char* name, const char* title, auto&& value) {
    results.push_back({name, title, value(parts.train), {}});
    if (parts.test) results.back().test = value(*parts.test);
  };
  if (model.task() == ml::LearningTask::regression) {
    add("r2", "R^2", [&](const LabeledRows& part) { return model.score(part.x, part.y); });
    add("rmse", "root mean squared error", [&](const LabeledRows& part) {
      return std::sqrt(ml::mean_squared_error(part.y, model.apply(ml::Use::predict, part.x)));
    });
  } else if (model.has_score()) {
    const bool classes = model.task() == ml::LearningTask::classification;
    add(classes ? "accuracy" : "score", classes ? "accuracy" : "score",
        [&](const LabeledRows& part) { return model.score(part.x, part.y); });
  }
  return results;
}

void print_classes(const ml::Model& model, const LabeledRows& part, bool is_test,
                   const std::vector<std::string>& names) {
  const ml::ClassScores scores =
      ml::precision_recall_fscore_support(part.y, model.apply(ml::Use::predict, part.x));
  if (scores.classes.size() > kLargestTable) return;
  Table table({is_test ? "class (test)" : "class", "precision", "recall", "F1", "samples"});
  for (size_t i = 0; i < scores.classes.size(); ++i)
    table.row({label_name(names, scores.classes[i]), format_number("%.3f", scores.precision[i]),
               format_number("%.3f", scores.recall[i]), format_number("%.3f", scores.f1[i]),
               format_count(scores.support[i])});
  std::printf("\n%s", table.str().c_str());
}

/// The settings of the best candidate, after a search over all of them.
struct Search {
  Json settings;
  std::vector<ml::SearchResult> results;
  std::string pool = {};  // the work of the nodes, as a text; empty without a pool
};

Search search(const FitCommand& c, const Json& settings, const LabeledRows& train, Device device) {
  const std::vector<GridCandidate> candidates = grid_candidates(settings, c.grid);
  const FitProgress progress(
      c.model + " with " + format_count(static_cast<int64_t>(candidates.size())) + " settings",
      c.json);
  const GridData data{train.x.to(device), train.y, c.scale, c.folds};
  Search found;
  if (c.pool.where.empty()) {
    found.results = search_grid(c.model, candidates, data);
  } else {
    PoolGridResult result = search_grid_on_pool(c.pool, c.model, candidates, data, c.json);
    found.results = std::move(result.results);
    found.pool = std::move(result.summary);
  }
  found.settings = candidates[static_cast<size_t>(ml::best_result(found.results))].settings;
  return found;
}

void print_search(const std::vector<ml::SearchResult>& results) {
  constexpr size_t kMost = 20;
  std::vector<ml::SearchResult> order = results;
  std::ranges::stable_sort(order, {}, &ml::SearchResult::rank_test_score);
  Table table({"rank", "settings", "mean score", "deviation"});
  for (size_t i = 0; i < std::min(kMost, order.size()); ++i) {
    std::vector<std::string> settings;
    for (const auto& pair : order[i].params) settings.push_back(pair.first + "=" + pair.second);
    table.row({std::to_string(order[i].rank_test_score), join(settings, " "),
               format_number("%.4f", order[i].mean_test_score),
               format_number("%.4f", order[i].std_test_score)});
  }
  std::printf("%s", table.str().c_str());
  if (order.size() > kMost)
    std::printf("and %s more\n", format_count(static_cast<int64_t>(order.size() - kMost)).c_str());
  std::printf("\n");
}

/// JSON has no NaN and no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// A list with the varied settings of each candidate, its scores and its rank.
Json json_of(const std::vector<ml::SearchResult>& results) {
  Json list = Json::array();
  for (const ml::SearchResult& result : results) {
    Json settings = Json::object(), scores = Json::array();
    for (const auto& [name, text] : result.params) settings.set(name, setting_value(text));
    for (const double score : result.split_test_scores) scores.items.push_back(number(score));
    Json& item = list.items.emplace_back(Json::object());
    item.set("settings", std::move(settings)).set("split_test_scores", std::move(scores));
    item.set("mean_test_score", number(result.mean_test_score));
    item.set("std_test_score", number(result.std_test_score));
    item.set("rank_test_score", result.rank_test_score);
  }
  return list;
}

void print_json(const FitCommand& c, const DataSplit& parts, const std::vector<Result>& results,
                double seconds, const ml::Model& model, const std::optional<Search>& found) {
  Json line = Json::object();
  line.set("model", c.model).set("samples", parts.train.samples());
  line.set("test_samples", parts.test ? parts.test->samples() : int64_t{0});
  line.set("features", parts.train.x.dim(1)).set("seconds", seconds);
  line.set("settings", model.settings());
  if (const auto converged = model.converged()) line.set("converged", *converged);
  for (const Result& result : results) {
    line.set(result.name, number(result.train));
    if (result.test) line.set("test_" + result.name, number(*result.test));
  }
  if (found) line.set("search", json_of(found->results));
  std::printf("%s\n", format_json_line(line).c_str());
}

void print_results(const FitCommand& c, const DataSplit& parts, const std::vector<Result>& results,
                   double seconds) {
  std::printf("%s  %s samples, %s features, %s s\n", c.model.c_str(),
              format_count(parts.train.samples()).c_str(),
              format_count(parts.train.x.dim(1)).c_str(), format_number("%.3g", seconds).c_str());
  if (results.empty()) return;
  const std::string train = "training (" + format_count(parts.train.samples()) + ")";
  std::vector<std::string> header{"result", train};
  if (parts.test) header.push_back("test (" + format_count(parts.test->samples()) + ")");
  Table table(header);
  for (const Result& result : results) {
    std::vector<std::string> cells{result.title, format_number("%.6g", result.train)};
    if (result.test) cells.push_back(format_number("%.6g", *result.test));
    table.row(cells);
  }
  std::printf("\n%s", table.str().c_str());
}

}  // namespace

int run_command(const FitCommand& c) {
  ml::SavedModel saved;
  Json settings = settings_from(c.settings);
  saved.model = for_option("--set", [&] { return ml::make_model(c.model, settings); });
  const ml::LearningTask task = saved.model->task();
  const bool needs_target =
      task == ml::LearningTask::classification || task == ml::LearningTask::regression;
  if (needs_target && c.target.empty())
    throw Error("missing option --target: " + c.model + " learns from targets");
  if (!needs_target && !c.target.empty())
    throw Error("--target: " + c.model +
                " needs none. To leave a column out, remove it from the data");
  if (!needs_target && !c.grid.empty())
    throw Error("--grid: expected a classification or a regression, got " + c.model);
  if (!c.save.ends_with(".safetensors"))
    throw Error("--save: expected a .safetensors file, got '" + shortened(c.save) + "'");
  for_option("--save", [&] { expect_writable(c.save); });
  const Device device = open_device(c.device);
  ml::TableForm form{.has_names = {}, .texts = c.texts};
  if (c.header != "auto") form.has_names = c.header == "yes";
  if (!c.target.empty()) form.names.push_back(c.target);
  LearnData data = read_data(c.data, form);
  for (const std::string& name : c.texts)
    if (!data.table || !data.table->find(name))
      throw Error("--texts: expected a column of the CSV file, got '" + shortened(name) + "'");
  LearnTarget target;
  if (needs_target) target = read_target(c.target, task, data);
  warn_about_names(c, data);
  saved.class_names = std::move(target.class_names);
  DataSplit parts = split_data(data, target.values, c, saved);
  target = {};
  const double start = steady_seconds();
  std::optional<Search> found;
  if (!c.grid.empty()) {
    found = search(c, settings, parts.train, device);
    if (!c.json && !found->pool.empty()) std::printf("pool     %s\n\n", found->pool.c_str());
    if (!c.json) print_search(found->results);
    saved.model = ml::make_model(c.model, found->settings);
  }
  if (c.scale) parts.train.x = saved.scaler.emplace().fit_transform(parts.train.x);
  if (c.scale && parts.test) parts.test->x = saved.scaler->transform(parts.test->x);
  parts.train.x = parts.train.x.to(device);
  {
    const FitProgress progress(c.model + " on " + format_count(parts.train.samples()) + " x " +
                                   format_count(parts.train.x.dim(1)),
                               c.json);
    for_option("--data", [&] { saved.model->fit(parts.train.x, parts.train.y); });
  }
  const double seconds = steady_seconds() - start;
  const std::vector<Result> results =
      for_option("--data", [&] { return results_of(*saved.model, parts); });
  for_option("--save", [&] { ml::save_model(c.save, saved); });
  if (!saved.model->converged().value_or(true))
    log_warning(c.model + " did not converge. Raise max_iter with --set, or use --scale");
  if (c.json) {
    print_json(c, parts, results, seconds, *saved.model, found);
    return 0;
  }
  print_results(c, parts, results, seconds);
  if (task == ml::LearningTask::classification)
    print_classes(*saved.model, parts.test ? *parts.test : parts.train, parts.test.has_value(),
                  saved.class_names);
  std::printf("\nsaved    %s\n", c.save.c_str());
  return 0;
}

}  // namespace kaiseki::cli
