// SPDX-License-Identifier: MIT
// kaiseki tune: one step of training, in which every convolution is measured.
#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/bench.h"
#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "matrix/conv/select.h"
#include "matrix/environment.h"
#include "matrix/error.h"
#include "nn/train/json_line.h"

namespace kaiseki::cli {
namespace {

struct Row {
  ConvProblem problem;
  std::vector<TuningResult> results;

  /// Without a measurement the first of the backend's list runs.
  const TuningResult& untuned() const { return results.front(); }
  const TuningResult& best() const {
    return *std::ranges::min_element(results, {}, &TuningResult::milliseconds);
  }
};

ConvProblem forward_of(ConvProblem problem) {
  problem.direction = ConvDirection::forward;
  return problem;
}

/// Runs the step. Gives a row for each different convolution, and the layers that each stands for.
class Tuning {
 public:
  Tuning(nn::Network& network, int64_t batch_size) {
    for (const nn::LayerSummary& layer : network.summary())
      if (layer.type == "convolution") layers_.push_back(layer.name);
    const Samples samples = random_samples(network, batch_size);
    TuneConvolutions tune(
        [this](const ConvProblem& problem, const std::vector<TuningResult>& results) {
          if (problem.direction == ConvDirection::forward && next_ < layers_.size())
            names_[problem].push_back(layers_[next_++]);
          if (std::ranges::find(rows_, problem, &Row::problem) != rows_.end()) return;
          rows_.push_back({problem, results});
          draw_live_line("measured " + names(problem) + ' ' +
                         std::string(direction_name(problem.direction)) + ", " +
                         format_count(static_cast<int64_t>(rows_.size())) + " convolutions so far");
        });
    network.forward_loss(samples.x, samples.labels);
    network.backward();
    clear_live_line();
    std::erase_if(rows_, [](const Row& row) { return row.results.empty(); });
    std::ranges::stable_sort(rows_, {}, [this](const Row& row) { return place(row); });
  }

  const std::vector<Row>& rows() const { return rows_; }
  std::string names(const ConvProblem& problem) const {
    const auto found = names_.find(forward_of(problem));
    return found == names_.end() ? "" : join(found->second, ", ");
  }

 private:
  /// Of the first layer of this shape, in the network's order.
  std::pair<ptrdiff_t, ConvDirection> place(const Row& row) const {
    const auto layer = std::ranges::find(layers_, names_.at(forward_of(row.problem)).front());
    return {layer - layers_.begin(), row.problem.direction};
  }

  std::vector<std::string> layers_;
  std::map<ConvProblem, std::vector<std::string>> names_;
  std::vector<Row> rows_;
  size_t next_ = 0;
};

std::string milliseconds(double value) { return format_number("%.3g", value); }

void print_json(const Tuning& tuning, const Row& row) {
  for (const TuningResult& result : row.results) {
    nn::JsonLine line;
    line.add("layer", tuning.names(row.problem));
    line.add("direction", std::string(direction_name(row.problem.direction)));
    line.add("problem", row.problem.str()).add("solver", result.candidate);
    line.add("milliseconds", result.milliseconds).add("workspace", result.workspace);
    std::printf("%s\n", line.str().c_str());
  }
}

std::string others(const Row& row) {
  std::vector<TuningResult> sorted = row.results;
  std::ranges::sort(sorted, {}, &TuningResult::milliseconds);
  std::vector<std::string> parts;
  for (size_t i = 1; i < sorted.size(); ++i)
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
  std::printf("%s\nkept in %s\n", table.str().c_str(), tuning_file().string().c_str());
}

}  // namespace

int run_command(const TuneCommand& c) {
  const Device device = open_device(c.device);
  const std::filesystem::path file = find_network(c.network);
  nn::Network network = nn::Network::load(file, device);
  network.initialize(0);
  if (!c.json)
    std::printf("%s  batch of %s on %s\n\n",
                styled(Style::bold, title(network.name(), file)).c_str(),
                format_count(c.batch_size).c_str(), describe_device(device).c_str());
  const Tuning tuning(network, c.batch_size);
  if (tuning.rows().empty())
    throw Error(
        message("tune", "expected a network with convolutions, got none in ", file.string()));
  if (c.json)
    for (const Row& row : tuning.rows()) print_json(tuning, row);
  else
    print_table(tuning);
  return 0;
}

}  // namespace kaiseki::cli
