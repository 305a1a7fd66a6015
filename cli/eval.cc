// SPDX-License-Identifier: MIT
// kaiseki eval
#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_line.h"
#include "cli/classes.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "nn/train/evaluator.h"

namespace kaiseki::cli {
namespace {

constexpr int kLargestTable = 20;  // classes

std::string class_name(const std::vector<std::string>& names, int c) {
  return c < static_cast<int>(names.size()) ? names[c] : std::to_string(c);
}

std::string confusion_table(const nn::Evaluation& e, const std::vector<std::string>& names) {
  std::vector<std::string> header{"true \\ predicted"};
  for (int c = 0; c < e.classes; ++c) header.push_back(class_name(names, c));
  header.push_back("recall");
  Table table(header);
  for (int r = 0; r < e.classes; ++r) {
    std::vector<std::string> cells{class_name(names, r)};
    int64_t total = 0;
    for (int c = 0; c < e.classes; ++c) total += e.confusion[r * e.classes + c];
    for (int c = 0; c < e.classes; ++c)
      cells.push_back(std::to_string(e.confusion[r * e.classes + c]));
    const double own = static_cast<double>(e.confusion[r * e.classes + r]);
    cells.push_back(total ? format_percent(own / static_cast<double>(total), 1) : "-");
    table.row(cells);
  }
  return table.str();
}

bool fits_terminal(const std::string& table) {
  return !terminal().live || std::ranges::all_of(split(table, '\n'), [](const std::string& line) {
    return display_width(line) <= terminal_width();
  });
}

void print_worst(const nn::Evaluation& e, const std::vector<std::string>& names) {
  struct Pair {
    int64_t count;
    int truth, predicted;
  };
  std::vector<Pair> pairs;
  for (int r = 0; r < e.classes; ++r)
    for (int c = 0; c < e.classes; ++c)
      if (int64_t n = e.confusion[static_cast<size_t>(r) * e.classes + c]; r != c && n)
        pairs.push_back({n, r, c});
  const size_t shown = std::min<size_t>(10, pairs.size());
  std::partial_sort(pairs.begin(), pairs.begin() + shown, pairs.end(),
                    [](const Pair& a, const Pair& b) { return a.count > b.count; });
  Table table({"most confused", "predicted as", "samples"});
  for (size_t i = 0; i < shown; ++i)
    table.row({class_name(names, pairs[i].truth), class_name(names, pairs[i].predicted),
               std::to_string(pairs[i].count)});
  std::printf("\n%s", table.str().c_str());
}

void write_confusion(const std::string& file, const nn::Evaluation& e,
                     const std::vector<std::string>& names) {
  std::string text = "true";
  for (int c = 0; c < e.classes; ++c) text += "," + class_name(names, c);
  for (int r = 0; r < e.classes; ++r) {
    text += "\n" + class_name(names, r);
    for (int c = 0; c < e.classes; ++c)
      text += "," + std::to_string(e.confusion[static_cast<size_t>(r) * e.classes + c]);
  }
  write_file_atomic(file, as_bytes(text + "\n"));
}

}  // namespace

int run_command(const EvalCommand& c) {
  const Device device = open_device(c.device);
  nn::Network network = nn::Network::load(find_network(c.network), device);
  const WeightsInfo info = load_weights_for(c.weights, network);
  DataFlags data = c.data;
  data.mean = mean_for(network, c.data.mean, c.data.mean_image);
  if (data.mean.empty()) data.mean = info.mean;
  if (data.std.empty()) data.std = info.std;
  if (!data.resize) data.resize = info.resize;
  auto samples = in_classes(open_data(data, network, c.train_part, "none", c.data.limit),
                            info.class_names, data.data);
  if (!c.confusion.empty()) for_option("--confusion", [&] { expect_writable(c.confusion); });

  nn::EvaluateOptions how;
  how.batch_size = c.batch_size;
  double drawn = steady_seconds();
  how.progress = [&](int64_t done) {
    if (!c.json) show_evaluation(done, samples->size(), drawn);
  };
  nn::Evaluation e = nn::evaluate(network, samples, how);
  clear_live_line();
  expect_finite(e.loss, printable(data.data), network);
  const auto names = info.class_names.empty() ? class_names_of(*samples) : info.class_names;
  if (!c.confusion.empty()) write_confusion(c.confusion, e, names);
  if (c.json) {
    JsonLine line;
    line.add("samples", e.samples).add("loss", e.loss).add("top1", e.top1).add("top5", e.top5);
    std::printf("%s\n", line.str().c_str());
    return 0;
  }
  std::printf("samples  %s\nloss     %.4f\n", format_count(e.samples).c_str(), e.loss);
  if (!e.classes) return 0;
  std::printf("top-1    %s\ntop-5    %s\n", format_percent(e.top1).c_str(),
              format_percent(e.top5).c_str());
  const std::string table = e.classes <= kLargestTable ? confusion_table(e, names) : "";
  if (table.empty() || !fits_terminal(table))
    print_worst(e, names);
  else
    std::printf("\n%s", table.c_str());
  return 0;
}

}  // namespace kaiseki::cli
