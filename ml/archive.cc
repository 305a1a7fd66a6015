// SPDX-License-Identifier: MIT
#include "ml/archive.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"

namespace kaiseki::ml {
namespace {

// Integers up to this limit are exact as a double, as JSON has them.
constexpr double kLargestWhole = 0x1p53;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Archive::Archive(Json values, std::vector<nn::NamedTensor> tensors, std::string place,
                 bool complete)
    : values_(std::move(values)),
      tensors_(std::move(tensors)),
      place_(std::move(place)),
      reads_(true),
      complete_(complete) {}

void Archive::fail(std::string_view name, const std::string& what) const {
  throw ParseError(place_, name, what);
}

const Json* Archive::read(std::string_view name) {
  names_.emplace_back(name);
  const Json* value = values_.find(name);
  if (!value && complete_) fail(name, "expected a value, got none");
  return value;
}

void Archive::write(std::string_view name, Json value) {
  names_.emplace_back(name);
  values_.set(name, std::move(value));
}

void Archive::operator()(std::string_view name, bool& value) {
  if (!reads_) return write(name, value);
  const Json* json = read(name);
  if (!json) return;
  if (!json->is(Json::Kind::boolean)) fail(name, "expected true or false, got " + json->describe());
  value = json->boolean;
}

void Archive::operator()(std::string_view name, int64_t& value) {
  if (!reads_) return write(name, value);
  const Json* json = read(name);
  if (!json) return;
  if (!json->is_integer() || std::abs(json->number) > kLargestWhole)
    fail(name, "expected a whole number, got " + json->describe());
  value = static_cast<int64_t>(json->number);
}

void Archive::operator()(std::string_view name, uint64_t& value) {
  auto whole = static_cast<int64_t>(value);
  (*this)(name, whole);
  if (whole < 0) fail(name, "expected 0 or more, got " + std::to_string(whole));
  value = static_cast<uint64_t>(whole);
}

void Archive::operator()(std::string_view name, double& value) {
  if (!reads_) {
    if (!std::isfinite(value))  // JSON has no such number
      throw Error(message("Archive", "expected a finite number for ", name, ", got ", value));
    return write(name, value);
  }
  const Json* json = read(name);
  if (!json) return;
  if (!json->is(Json::Kind::number)) fail(name, "expected a number, got " + json->describe());
  value = json->number;
}

void Archive::operator()(std::string_view name, std::string& value) {
  if (!reads_) return write(name, value);
  const Json* json = read(name);
  if (!json) return;
  if (!json->is(Json::Kind::string)) fail(name, "expected a text, got " + json->describe());
  value = json->string;
}

void Archive::operator()(std::string_view name, std::optional<int64_t>& value) {
  if (!reads_) return write(name, value ? Json(*value) : Json());
  const Json* json = values_.find(name);
  if (json && json->is(Json::Kind::null)) {
    names_.emplace_back(name);
    value.reset();
    return;
  }
  int64_t whole = value.value_or(-1);
  (*this)(name, whole);
  if (json) value = whole;
}

void Archive::operator()(std::string_view name, std::vector<std::string>& value) {
  if (!reads_) {
    Json list = Json::array();
    for (const std::string& text : value) list.items.emplace_back(text);
    return write(name, std::move(list));
  }
  const Json* json = read(name);
  if (!json) return;
  if (!json->is(Json::Kind::array)) fail(name, "expected a list of texts, got " + json->describe());
  value.clear();
  for (const Json& item : json->items) {
    if (!item.is(Json::Kind::string)) fail(name, "expected a text, got " + item.describe());
    value.push_back(item.string);
  }
}

void Archive::operator()(std::string_view name, Json& value) {
  if (!reads_) return write(name, value);
  if (const Json* json = read(name)) value = *json;
}

Tensor Archive::read_tensor(std::string_view name, std::optional<DType> type) {
  names_.emplace_back(name);
  const auto found =
      std::ranges::find_if(tensors_, [&](const auto& tensor) { return tensor.name == name; });
  if (found == tensors_.end()) fail(name, "expected a tensor, got none");
  const Tensor& value = found->value;
  if (type && (value.dtype() != *type || value.rank() != 1))
    fail(name, text_from("expected ", dtype_name(*type), " [n], got ", dtype_name(value.dtype()),
                         " ", value.shape()));
  return value;
}

void Archive::operator()(std::string_view name, std::vector<double>& value) {
  if (reads_) {
    value = read_tensor(name, DType::f64).to_vector<double>();
    return;
  }
  names_.emplace_back(name);
  tensors_.push_back(
      {std::string(name), Tensor::from(std::span<const double>(value),
                                       {static_cast<int64_t>(value.size())}, Device::cpu())});
}

void Archive::operator()(std::string_view name, std::vector<float>& value) {
  if (reads_) {
    value = read_tensor(name, DType::f32).to_vector<float>();
    return;
  }
  names_.emplace_back(name);
  tensors_.push_back(
      {std::string(name), Tensor::from(std::span<const float>(value),
                                       {static_cast<int64_t>(value.size())}, Device::cpu())});
}

void Archive::operator()(std::string_view name, std::vector<int32_t>& value) {
  if (reads_) {
    value = read_tensor(name, DType::i32).to_vector<int32_t>();
    return;
  }
  names_.emplace_back(name);
  tensors_.push_back(
      {std::string(name), Tensor::from(std::span<const int32_t>(value),
                                       {static_cast<int64_t>(value.size())}, Device::cpu())});
}

void Archive::operator()(std::string_view name, Tensor& value) {
  bool defined = value.defined();
  (*this)(name, defined);
  if (reads_)
    value = defined ? read_tensor(name, {}) : Tensor();
  else if (defined)
    tensors_.push_back({std::string(name), value.to(Device::cpu()).contiguous()});
}

void Archive::choice(std::string_view name, int64_t& index,
                     std::initializer_list<std::string_view> names) {
  if (!reads_) return write(name, std::string(names.begin()[index]));
  const Json* json = read(name);
  if (!json) return;
  const auto found = json->is(Json::Kind::string)
                         ? std::find(names.begin(), names.end(), std::string_view(json->string))
                         : names.end();
  if (found == names.end())
    fail(name, "expected " + listed({names.begin(), names.end()}) + ", got " + json->describe());
  index = found - names.begin();
}

void Archive::expect_all_read() const {
  std::vector<std::string> known;  // a tensor is asked for twice
  for (const std::string& name : names_)
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
  const auto check = [&](const std::string& name) {
    if (std::ranges::find(known, name) == known.end())
      fail(name, "expected one of the names " + listed(known) + ", got another");
  };
  for (const std::string& key : values_.keys) check(key);
  for (const nn::NamedTensor& tensor : tensors_) check(tensor.name);
}

}  // namespace kaiseki::ml
