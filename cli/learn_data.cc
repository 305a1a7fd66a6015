// SPDX-License-Identifier: MIT
#include "cli/learn_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>

#include "cli/for_option.h"
#include "cli/text.h"
#include "matrix/ops/elementwise.h"
#include "nn/io/npy.h"

namespace kaiseki::cli {
namespace {

constexpr float kLargestLabel = 1 << 24;  // above it, f32 does not have all integers

bool is_npy(const std::string& file) { return file.ends_with(".npy"); }
bool is_file(const std::string& where) { return is_npy(where) || where.ends_with(".csv"); }

Tensor read_matrix(const std::string& file) {
  const Tensor read = nn::read_npy(file);
  if (read.rank() != 2)
    throw Error(text_from(file, ": expected a matrix [samples, features], got ", read.shape()));
  return cast(read, DType::f32);
}

/// Labels from texts: their numbers in the order of the names.
Tensor labels_of(const ml::DataTable& table, int64_t number,
                 const std::vector<std::string>& names) {
  const ml::Column& column = table.columns[static_cast<size_t>(number)];
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < table.rows(); ++i) {
    const std::string& text = column.texts[static_cast<size_t>(i)];
    const auto found = std::ranges::lower_bound(names, text);
    if (found == names.end() || *found != text)
      throw ParseError(table.source, table.place(i, number),
                       "expected one of the classes " + shortened(join(names, ", ")) + ", got '" +
                           shortened(text) + "'");
    labels.push_back(static_cast<int32_t>(found - names.begin()));
  }
  return Tensor::from(std::span<const int32_t>(labels), {table.rows()}, Device::cpu());
}

Tensor whole_numbers(const ml::DataTable& table, int64_t number) {
  const ml::Column& column = table.columns[static_cast<size_t>(number)];
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < table.rows(); ++i) {
    const float value = column.numbers[static_cast<size_t>(i)];
    if (value != std::floor(value) || std::abs(value) > kLargestLabel)
      throw ParseError(
          table.source, table.place(i, number),
          text_from("expected a text or a whole number up to 16,777,216 as class, got ", value,
                    ". For real numbers, use a regression"));
    labels.push_back(static_cast<int32_t>(value));
  }
  return Tensor::from(std::span<const int32_t>(labels), {table.rows()}, Device::cpu());
}

LearnTarget target_of(const ml::DataTable& table, int64_t number, ml::LearningTask task,
                      const std::vector<std::string>* names) {
  const ml::Column& column = table.columns[static_cast<size_t>(number)];
  for (int64_t i = 0; i < table.rows(); ++i)
    if (!column.has_value(i))
      throw ParseError(table.source, table.place(i, number), "expected a target, got none");
  LearnTarget target;
  if (task != ml::LearningTask::classification) {
    for (int64_t i = 0; i < table.rows(); ++i)
      if (const auto value = column.number(i); !value)
        throw ParseError(table.source, table.place(i, number),
                         "expected a number, got '" +
                             shortened(column.texts[static_cast<size_t>(i)]) +
                             "'. For texts, use a classification");
    target.values =
        Tensor::from(std::span<const float>(column.numbers), {table.rows()}, Device::cpu());
  } else if (names && !names->empty() && !column.is_text()) {
    throw ParseError(table.source, table.place(0, number),
                     "expected a column of texts, got numbers");
  } else if (names ? !names->empty() : column.is_text()) {
    target.class_names = names ? *names : [&] {
      const std::set<std::string> texts(column.texts.begin(), column.texts.end());
      return std::vector<std::string>(texts.begin(), texts.end());
    }();
    target.values = labels_of(table, number, target.class_names);
  } else if (column.is_text()) {
    throw ParseError(table.source, table.place(0, number), "expected whole numbers, got texts");
  } else {
    target.values = whole_numbers(table, number);
  }
  return target;
}

Tensor npy_target(const std::string& file, ml::LearningTask task) {
  const Tensor values = nn::read_npy(file);
  if (task != ml::LearningTask::classification) return cast(values, DType::f32);
  if (values.rank() != 1)
    throw Error(text_from(file, ": expected labels [samples], got ", values.shape()));
  const Tensor labels = cast(values, DType::i32);
  if (values.dtype() == DType::f32) {
    const std::vector<float> reals = values.to_vector<float>();
    for (size_t i = 0; i < reals.size(); ++i)
      if (!(reals[i] == std::floor(reals[i])) || std::abs(reals[i]) > kLargestLabel)
        throw Error(
            text_from(file, ": expected whole numbers as labels, got ", reals[i], " at index ", i));
  }
  return labels;
}

}  // namespace

LearnData read_data(const std::string& file, const ml::TableForm& form) {
  return for_option("--data", [&] {
    LearnData data;
    if (!is_file(file)) throw Error("expected a .npy or .csv file, got '" + shortened(file) + "'");
    if (is_npy(file))
      data.matrix = read_matrix(file);
    else
      data.table = ml::read_table(file, form);
    return data;
  });
}

std::string label_name(const std::vector<std::string>& names, int32_t label) {
  const auto i = static_cast<size_t>(label);
  return label >= 0 && i < names.size() ? names[i] : std::to_string(label);
}

LearnTarget read_target(const std::string& where, ml::LearningTask task, LearnData& data,
                        const std::vector<std::string>* names) {
  return for_option("--target", [&] {
    LearnTarget target;
    const std::optional<int64_t> column = data.table ? data.table->find(where) : std::nullopt;
    if (column) {
      data.target = where;
      return target_of(*data.table, *column, task, names);
    }
    if (!is_file(where)) {
      std::vector<std::string> columns;
      if (data.table)
        for (const ml::Column& column : data.table->columns) columns.push_back(column.name);
      throw Error(
          "expected a .npy or .csv file" +
          (columns.empty() ? "" : " or one of the columns " + shortened(join(columns, ", "))) +
          ", got '" + shortened(where) + "'" +
          (names || !data.table || data.table->has_names
               ? ""
               : ". If the first line has names, use --header yes"));
    }
    if (is_npy(where)) {
      target.values = npy_target(where, task);
    } else {
      // Without names, the column has the name 1.
      ml::TableForm form;
      if (names && !names->empty()) form.texts = {"1"};
      const ml::DataTable table = ml::read_table(where, form);
      if (table.columns.size() != 1)
        throw Error(text_from(where, ": expected one column, got ", table.columns.size()));
      target = target_of(table, 0, task, names);
    }
    if (target.values.dim(0) != data.rows())
      throw Error(text_from(where, ": expected a target for each of the ", data.rows(),
                            " samples, got ", target.values.dim(0)));
    return target;
  });
}

}  // namespace kaiseki::cli
