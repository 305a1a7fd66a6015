// SPDX-License-Identifier: MIT
#include "nn/io/tensor_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

// unity: alone (this name is another type in base/json.h)
using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kTypeNames[] = {"F32", "I32", "U8", "BOOL"};

/// Handles the parser's events. There is no tree of values, so a file cannot use much memory by
/// deep nesting.
class ListHandler {
 public:
  ListHandler(std::string_view source, bool offsets, Metadata* metadata)
      : source_(source), offsets_(offsets), metadata_(metadata) {}

  std::vector<ListedTensor> take() { return std::move(tensors_); }

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("true or false"); }
  bool number_float(double, const std::string&) { return unexpected("a number with a fraction"); }
  bool binary(Json::binary_t&) { return unexpected("binary data"); }
  bool number_integer(int64_t) { return unexpected("a negative number"); }

  bool number_unsigned(uint64_t value) {
    if (!in_array_) return unexpected("a number");
    if (field_ == "shape") {
      if (shape_.size() == Shape::kMaxRank) fail("expected at most 8 dimensions, got more");
      shape_.push_back(static_cast<int64_t>(value & ~(uint64_t{1} << 63)));
      if (value >> 62) fail("expected a dimension under 2^62, got " + std::to_string(value));
    } else {
      if (bounds_.size() == 2) fail("expected two data_offsets, got more");
      bounds_.push_back(value);
    }
    return true;
  }

  bool string(std::string& value) {
    if (depth_ != 2 || in_array_) return unexpected("a string");
    if (name_ == kMetadata) {
      if (metadata_) metadata_->insert_or_assign(field_, value);
      return true;
    }
    if (field_ != "dtype") return unexpected("a string");
    for (int i = 0; i < 4; ++i) {
      if (value == kTypeNames[i]) {
        tensor_.dtype = static_cast<DType>(i);
        return true;
      }
    }
    fail("expected dtype F32, I32, U8 or BOOL, got " + value.substr(0, 20));
  }

  bool start_object(size_t) {
    if (depth_ == 2 || in_array_) return unexpected("an object");
    if (++depth_ == 2) {
      tensor_ = {};
      shape_.clear();
      bounds_.clear();
      fields_.clear();
    }
    return true;
  }

  bool key(std::string& value) {
    if (depth_ == 1) {
      name_ = value;
      if (!names_.insert(value).second) fail("expected each name once, got it twice");
      return true;
    }
    field_ = value;
    if (!fields_.insert(value).second) fail("expected \"" + field_ + "\" once, got it twice");
    if (name_ != kMetadata && value != "dtype" && value != "shape" && value != "data_offsets")
      fail("expected dtype, shape and data_offsets, got \"" + value.substr(0, 40) + "\"");
    return true;
  }

  bool end_object() {
    if (--depth_ == 1 && name_ != kMetadata) add();
    return true;
  }

  bool start_array(size_t) {
    if (depth_ != 2 || in_array_ || name_ == kMetadata || field_ == "dtype")
      return unexpected("an array");
    in_array_ = true;
    return true;
  }

  bool end_array() {
    in_array_ = false;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception&) {
    throw ParseError(source_, "byte " + std::to_string(position) + " of the header",
                     "expected JSON, got something else");
  }

 private:
  void add() {
    if (!fields_.count("dtype") || !fields_.count("shape")) fail("expected dtype and shape");
    if (offsets_ != (bounds_.size() == 2))
      fail(offsets_ ? "expected two data_offsets" : "expected no data_offsets");
    tensor_.name = name_;
    tensor_.shape = Shape(shape_);
    check_elements();
    if (offsets_) {
      tensor_.begin = bounds_[0];
      tensor_.end = bounds_[1];
      if (tensor_.end < tensor_.begin || tensor_.end - tensor_.begin != tensor_.bytes())
        fail("expected " + std::to_string(tensor_.bytes()) + " bytes for shape " +
             tensor_.shape.str() + ", got data_offsets " + std::to_string(tensor_.begin) + " to " +
             std::to_string(tensor_.end));
    }
    tensors_.push_back(tensor_);
  }

  /// Throws if the number of bytes could overflow 64 bits.
  void check_elements() const {
    double elements = 1;
    for (int64_t dim : shape_) elements *= static_cast<double>(std::max<int64_t>(dim, 1));
    if (elements > static_cast<double>(uint64_t{1} << 60))
      fail("expected a shape of at most 2^60 elements, got " + tensor_.shape.str());
  }

  bool unexpected(std::string_view what) {
    fail("expected {name: {dtype, shape, data_offsets}}, got " + std::string(what));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ParseError(source_, "header: \"" + name_.substr(0, 80) + "\"", what);
  }

  std::string source_;
  bool offsets_;
  Metadata* metadata_;
  std::vector<ListedTensor> tensors_;
  std::set<std::string> names_, fields_;
  std::string name_, field_;
  ListedTensor tensor_;
  std::vector<int64_t> shape_;
  std::vector<uint64_t> bounds_;
  int depth_ = 0;
  bool in_array_ = false;
};

}  // namespace

std::vector<ListedTensor> parse_tensor_list(std::string_view text, std::string_view source,
                                            bool offsets, Metadata* metadata) {
  ListHandler handler(source, offsets, metadata);
  Json::sax_parse(text.begin(), text.end(), &handler);
  return handler.take();
}

std::string format_tensor_list(const std::vector<ListedTensor>& tensors, bool offsets,
                               const Metadata& metadata) {
  std::set<std::string_view> names = {kMetadata};
  std::string text = "{";
  try {
    if (!metadata.empty()) text += Json(kMetadata).dump() + ":" + Json(metadata).dump();
    for (const ListedTensor& t : tensors) {
      if (!names.insert(t.name).second)
        throw Error(message("tensor file", "expected each name once, got \"", t.name, "\" again"));
      Json entry = {{"dtype", kTypeNames[static_cast<int>(t.dtype)]},
                    {"shape", std::vector<int64_t>(t.shape.begin(), t.shape.end())}};
      if (offsets) entry["data_offsets"] = {t.begin, t.end};
      text += (text.size() > 1 ? "," : "") + Json(t.name).dump() + ":" + entry.dump();
    }
  } catch (const Json::type_error&) {
    throw Error(message("tensor file", "expected names and metadata in UTF-8, got other bytes"));
  }
  return text + "}";
}

}  // namespace kaiseki::nn
