// SPDX-License-Identifier: MIT
// kaiseki tune: runs a training step in which every convolution is measured.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/json_line.h"
#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "matrix/conv/select.h"
#include "matrix/memory/workspace.h"

namespace kaiseki::cli {
namespace {

struct Row {
  ConvProblem problem;
  std::vector<TuningResult> results;

  /// The solver that runs without measurements: the first applicable one.
  const TuningResult& untuned() const {
    return *std::ranges::find_if(results, [this](const TuningResult& result) {
      return result.outcome == TuningOutcome::timed || &result == &results.back();
    });
  }
  const TuningResult& best() const { return *std::ranges::min_element(results, is_faster); }
};

/// Runs steps and returns a row for each different convolution, in the order of the layers.
class Tuning {
 public:
  Tuning(nn::Network& network, int64_t batch_size) : layers_(network.summary()) {
    const RandomSamples samples = random_samples(network, batch_size);
    Workspace& workspace = network.device().workspace();
    set_tune_policy({TuneMode::exhaustive});
    observe_convolutions([this](Backend& backend, const ConvProblem& problem) {
      add(problem, conv_results(backend, problem));
    });
    // Repeats while the workspace grows, to measure the solvers that did not fit before.
    for (bool grew = true; grew;) {
      const uint64_t before = workspace.available();
      network.forward_loss(samples.x, samples.labels);
      network.backward();
      workspace.grow();
      grew = workspace.available() > before;
    }
    observe_convolutions({});
    set_tune_policy({});
    clear_live_line();
    std::ranges::stable_sort(rows_, {}, [this](const Row& row) {
      const auto first =
          std::ranges::find_if(layers_, [&](const auto& layer) { return is(layer, row.problem); });
      return std::pair{first - layers_.begin(), row.problem.direction};
    });
  }

  const std::vector<Row>& rows() const { return rows_; }

  /// The layers of this shape.
  std::string names(const ConvProblem& problem) const {
    std::vector<std::string> all;
    for (const nn::LayerSummary& layer : layers_)
      if (is(layer, problem)) all.push_back(layer.name);
    return join(all, ", ");
  }

 private:
  void add(const ConvProblem& problem, const std::vector<TuningResult>& results) {
    if (results.empty()) return;
    if (const auto row = std::ranges::find(rows_, problem, &Row::problem); row != rows_.end()) {
      row->results = results;
      return;
    }
    rows_.push_back({problem, results});
    draw_live_line("measured " + printable(names(problem)) + ' ' +
                   std::string(direction_name(problem.direction)) + ", " +
                   format_count(static_cast<int64_t>(rows_.size())) + " convolutions so far");
  }

  static bool is(const nn::LayerSummary& layer, ConvProblem p) {
    p.direction = ConvDirection::forward, p.n = 1;
    return layer.convolution == p;
  }

  std::vector<nn::LayerSummary> layers_;
  std::vector<Row> rows_;
};

std::string milliseconds(double value) { return format_number("%.3g", value); }

void print_json(const Tuning& tuning, const Row& row) {
  for (const TuningResult& result : row.results) {
    JsonLine line;
    line.add("layer", tuning.names(row.problem));
    line.add("direction", std::string(direction_name(row.problem.direction)));
    line.add("problem", row.problem.str()).add("solver", result.candidate);
    if (result.outcome == TuningOutcome::timed)
      line.add("milliseconds", result.milliseconds);
    else
      line.add("outcome", std::string(outcome_name(result.outcome)));
    line.add("workspace", result.workspace);
    std::printf("%s\n", line.str().c_str());
  }
}

std::string others(const Row& row) {
  std::vector<TuningResult> sorted = row.results;
  std::ranges::sort(sorted, is_faster);
  std::vector<std::string> parts;
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].outcome == TuningOutcome::timed)
      parts.push_back(sorted[i].candidate + ' ' + milliseconds(sorted[i].milliseconds));
  return join(parts, ", ");
}

void print_table(const Tuning& tuning) {
  Table table({"layer", "direction", "solver", "ms", "workspace", "others, ms"});
  double untuned = 0, tuned = 0;
  for (const Row& row : tuning.rows()) {
    untuned += row.untuned().milliseconds, tuned += row.best().milliseconds;
    table.row({tuning.names(row.problem), std::string(direction_name(row.problem.direction)),
               row.best().candidate, milliseconds(row.best().milliseconds),
               format_bytes(row.best().workspace), others(row)});
  }
  table.rule();
  table.row({"total", "", "", milliseconds(tuned), "", "untuned " + milliseconds(untuned)});
  std::printf("%s\n", table.str().c_str());
  if (all_results_stored()) std::printf("saved in %s\n", tuning_file().string().c_str());
}

}  // namespace

int run_command(const TuneCommand& c) {
  const Device device = open_device(c.device);
  const std::filesystem::path file = find_network(c.network);
  nn::Network network = nn::Network::load(file, device);
  network.initialize(0);
  if (!c.json)
    std::printf("%s  batch of %s on %s\n\n",
                styled(TextStyle::bold, title(network.name(), file)).c_str(),
                format_count(c.batch_size).c_str(), describe_device(device).c_str());
  const Tuning tuning(network, c.batch_size);
  if (tuning.rows().empty())
    throw Error(message("tune",
                        "expected a network with convolutions, got none that could be measured in ",
                        file.string()));
  if (c.json)
    for (const Row& row : tuning.rows()) print_json(tuning, row);
  else
    print_table(tuning);
  if (!all_results_stored())
    throw Error(
        message("tune", "cannot write ", tuning_file().string(), ": the measurements are lost"));
  return 0;
}

}  // namespace kaiseki::cli
