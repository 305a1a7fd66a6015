// SPDX-License-Identifier: MIT
// The options of the commands for classic machine learning: fit and apply.
#include <array>
#include <string>

#include "cli/options/shared.h"
#include "cli/text.h"
#include "ml/model/registry.h"

namespace kaiseki::cli {
namespace {

constexpr const char* kData =
    "Samples: .npy [samples, features], or .csv with or without a line of names";

/// Examples, then the models by task.
const char* fit_footer() {
  static const std::string footer = [] {
    std::string text =
        "Examples:\n"
        "  kaiseki fit LogisticRegression --data iris.csv --target species --save "
        "iris.safetensors\n"
        "  kaiseki fit KMeans --data x.npy --set n_clusters=10 --save clusters.safetensors\n"
        "  kaiseki fit Ridge --data houses.csv --target price --missing mean --scale \\\n"
        "      --test-size 0.25 --set alpha=0.5 --save prices.safetensors\n"
        "  kaiseki fit SVC --data iris.csv --target species --scale --grid C=0.1,1,10 \\\n"
        "      --grid gamma=0.01,0.1,1 --save best.safetensors\n"
        "  kaiseki fit RandomForestClassifier --data iris.csv --target species \\\n"
        "      --grid max_depth=2,4,8 --pool serve --save forest.safetensors\n"
        "Models:";
    constexpr std::array<const char*, 4> kTasks{"classification", "regression", "clustering",
                                                "transformation"};
    for (size_t task = 0; task < kTasks.size(); ++task) {
      text += std::string("\n  ") + kTasks[task] + ":";
      for (const ml::ModelKind& kind : ml::model_kinds())
        if (static_cast<size_t>(kind.task) == task)
          text += "\n    " + std::string(kind.name) + ": " + std::string(kind.about);
    }
    return text;
  }();
  return footer.c_str();
}

}  // namespace

CommandText add_options(OptionSet& set, FitCommand& c) {
  std::vector<std::string> names;
  for (const ml::ModelKind& kind : ml::model_kinds()) names.emplace_back(kind.name);
  set.choice("model", c.model, names, "The model").required();
  set.text("--data", "FILE", c.data, kData).required();
  set.text("--target", "COLUMN", c.target,
           "The targets: a column of the CSV file, or a .npy or .csv file");
  set.text("--save", "FILE", c.save, "File for the fitted model, .safetensors").required();
  set.texts("--set", "SETTING", c.settings,
            "A setting as NAME=VALUE, such as C=10. The error for a wrong name lists all names");
  const AddedOption grid = set.texts(
      "--grid", "VALUES", c.grid,
      "Values of a setting, NAME=VALUE,VALUE,... Cross-validation selects the best of all "
      "combinations");
  set.whole("--folds", c.folds, {2, 1000}, "Parts of the samples for cross-validation");
  set.real("--test-size", c.test_size, {.least = 0, .most = 1, .below_most = true},
           "Part of the samples that is used only for a test, such as 0.25");
  set.choice("--header", c.header, {"auto", "yes", "no"},
             "Whether the first line of a CSV file has the names of the columns");
  set.texts("--texts", "COLUMN", c.texts,
            "Columns with numbers that are read as texts, such as codes");
  set.choice("--missing", c.missing, {"refuse", "mean"}, "How to treat empty cells of a CSV file");
  set.flag("--scale", c.scale, "Scale each feature to mean 0 and variance 1 first");
  set.seed("--seed", c.seed, "Seed of the choice of test samples");
  set.flag("--json", c.json, "Print one JSON line");
  add_device(set, c.device);
  add_pool(set, c.pool,
           "Distribute --grid over the nodes that join (kaiseki join). serve: this command "
           "coordinates them. URL: the coordinator at this address does (kaiseki serve). Only "
           "nodes with the coordinator's token get the data. Without nodes this machine computes "
           "alone")
      .pool.needs(grid);
  return {"fit", "Fit a classic model: regression, classification, clustering, PCA", fit_footer()};
}

CommandText add_options(OptionSet& set, ApplyCommand& c) {
  set.text("model", "FILE", c.model, "A file of kaiseki fit").required();
  set.text("--data", "FILE", c.data, kData).required();
  set.text("--target", "COLUMN", c.target, "The true targets. With them, the score is printed");
  set.text("--use", "NAME", c.use,
           "predict, predict_proba, decision_function, transform or score_samples (default: the "
           "first that the model has)");
  set.text("--output", "FILE", c.output,
           ".npy or .csv file for the result (default: CSV on the standard output)");
  set.flag("--json", c.json,
           "Print the number of samples and the score as one JSON line, and no result");
  add_device(set, c.device);
  return {
      "apply", "Predict or transform with a model of kaiseki fit",
      "Examples:\n"
      "  kaiseki apply iris.safetensors --data new.csv\n"
      "  kaiseki apply iris.safetensors --data test.csv --target species --json\n"
      "  kaiseki apply clusters.safetensors --data x.npy --use transform --output distances.npy"};
}

}  // namespace kaiseki::cli
