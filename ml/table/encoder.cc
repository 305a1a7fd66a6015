// SPDX-License-Identifier: MIT
#include "ml/table/encoder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "ml/archive.h"

namespace kaiseki::ml {
namespace {

constexpr size_t kMostTexts = 1000;         // each is a feature
constexpr int64_t kMostFeatures = 100'000;  // a model file keeps their names

[[noreturn]] void refuse_missing(const DataTable& table, int64_t row, int64_t column) {
  throw ParseError(table.source, table.place(row, column), "expected a value, got none");
}

}  // namespace

void TableEncoder::fit(const DataTable& table, std::string_view target) {
  features_.clear();
  has_names_ = table.has_names;
  for (int64_t j = 0; j < static_cast<int64_t>(table.columns.size()); ++j) {
    const Column& column = table.columns[static_cast<size_t>(j)];
    if (column.name == target) continue;
    Feature feature{column.name, j, {}, 0};
    std::set<std::string> texts;
    int64_t count = 0;
    for (int64_t i = 0; i < table.rows(); ++i) {
      const bool has_value = column.has_value(i);
      if (!has_value && missing_ == Missing::refuse) refuse_missing(table, i, j);
      if (column.is_text()) texts.insert(column.texts[static_cast<size_t>(i)]);
      if (!has_value || column.is_text()) continue;
      feature.fill += static_cast<double>(column.numbers[static_cast<size_t>(i)]);
      ++count;
    }
    feature.texts.assign(texts.begin(), texts.end());
    if (texts.size() > kMostTexts)
      throw ParseError(table.source, "column " + column.name,
                       text_from("expected at most ", kMostTexts, " different texts, got ",
                                 texts.size(), ". Remove the column, or group its texts"));
    if (!column.is_text() && count == 0)
      throw ParseError(table.source, "column " + column.name, "expected a value, got none");
    feature.fill /= static_cast<double>(std::max<int64_t>(1, count));
    features_.push_back(std::move(feature));
  }
  if (features() + static_cast<int64_t>(features_.size()) > kMostFeatures)
    throw ParseError(
        table.source, "line 1",
        text_from("expected at most ", kMostFeatures, " columns and different texts, got more"));
  if (features_.empty())
    throw ParseError(table.source, "line 1", "expected a column besides the target");
}

bool TableEncoder::has_texts() const {
  return std::any_of(features_.begin(), features_.end(),
                     [](const Feature& feature) { return feature.is_text(); });
}

int64_t TableEncoder::features() const {
  int64_t count = 0;
  for (const Feature& feature : features_)
    count += feature.is_text() ? static_cast<int64_t>(feature.texts.size()) : 1;
  return count;
}

std::vector<std::string> TableEncoder::feature_names() const {
  std::vector<std::string> names;
  for (const Feature& feature : features_) {
    if (!feature.is_text()) names.push_back(feature.name);
    for (const std::string& text : feature.texts) names.push_back(feature.name + "=" + text);
  }
  return names;
}

int64_t TableEncoder::column_for(const DataTable& table, const Feature& feature) const {
  const bool by_name = has_names_ && table.has_names;
  const auto column = by_name ? table.find(feature.name) : std::optional<int64_t>(feature.position);
  if (!column || *column < 0 || *column >= static_cast<int64_t>(table.columns.size()))
    throw ParseError(table.source, "line 1",
                     "expected the column " +
                         (has_names_ ? feature.name : std::to_string(feature.position + 1)) +
                         ", got none");
  return *column;
}

void TableEncoder::encode_column(const DataTable& table, int64_t number, const Feature& feature,
                                 float* x, int64_t stride) const {
  const Column& column = table.columns[static_cast<size_t>(number)];
  if (column.is_text() != feature.is_text())
    throw ParseError(table.source, table.place(0, number),
                     feature.is_text() ? "expected a column of texts, got numbers"
                                       : "expected a number, got '" + column.texts[0] + "'");
  for (int64_t i = 0; i < table.rows(); ++i, x += stride) {
    if (!column.has_value(i) && missing_ == Missing::refuse) refuse_missing(table, i, number);
    if (!feature.is_text()) {
      *x = column.has_value(i) ? column.numbers[static_cast<size_t>(i)]
                               : static_cast<float>(feature.fill);
      continue;
    }
    const std::string& text = column.texts[static_cast<size_t>(i)];
    const auto found = std::lower_bound(feature.texts.begin(), feature.texts.end(), text);
    if (found == feature.texts.end() || *found != text)
      throw ParseError(table.source, table.place(i, number),
                       "expected a text of the training data, got " +
                           (text.empty() ? "none" : "'" + text + "'"));
    x[found - feature.texts.begin()] = 1;
  }
}

Tensor TableEncoder::encode(const DataTable& table) const {
  std::vector<float> x(static_cast<size_t>(table.rows() * features()));
  int64_t at = 0;
  for (const Feature& feature : features_) {
    encode_column(table, column_for(table, feature), feature, x.data() + at, features());
    at += feature.is_text() ? static_cast<int64_t>(feature.texts.size()) : 1;
  }
  return Tensor::from(std::span<const float>(x), {table.rows(), features()}, Device::cpu());
}

TableForm TableEncoder::form() const {
  TableForm form{.has_names = has_names_};
  for (const Feature& feature : features_)
    if (feature.is_text()) form.texts.push_back(feature.name);
  return form;
}

void TableEncoder::archive(Archive& archive) {
  std::vector<std::string> names, texts;
  std::vector<int32_t> positions, counts;
  std::vector<double> fills;
  for (const Feature& feature : features_) {
    names.push_back(feature.name);
    positions.push_back(static_cast<int32_t>(feature.position));
    fills.push_back(feature.fill);
    counts.push_back(static_cast<int32_t>(feature.texts.size()));
    texts.insert(texts.end(), feature.texts.begin(), feature.texts.end());
  }
  archive("has_names", has_names_);
  archive("missing", missing_, {"refuse", "mean"});
  archive("names", names);
  archive("positions", positions);
  archive("fills", fills);
  archive("text_counts", counts);
  archive("texts", texts);
  if (!archive.reads()) return;
  if (positions.size() != names.size() || fills.size() != names.size() ||
      counts.size() != names.size())
    archive.fail("names", "expected a value of each kind for each name");
  features_.clear();
  auto text = texts.begin();
  for (size_t i = 0; i < names.size(); ++i) {
    if (counts[i] < 0 || counts[i] > texts.end() - text)
      archive.fail("text_counts", "expected the number of texts");
    features_.push_back({names[i], positions[i], {text, text + counts[i]}, fills[i]});
    text += counts[i];
    if (!std::is_sorted(features_.back().texts.begin(), features_.back().texts.end()))
      archive.fail("texts", "expected texts in ascending order");
  }
}

}  // namespace kaiseki::ml
