// SPDX-License-Identifier: MIT
#include "nn/io/tensor_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kTypeNames[] = {"F32", "I32", "U8", "BOOL", "F64"};

/// Reads the list from JSON that is parsed.
class ListReader {
 public:
  ListReader(std::string_view source, bool offsets) : source_(source), offsets_(offsets) {}

  std::vector<ListedTensor> read(const Json& list, Metadata* metadata) {
    if (!list.is(Json::Kind::object)) unexpected(list);
    std::vector<ListedTensor> tensors;
    for (size_t i = 0; i < list.items.size(); ++i) {
      name_ = list.keys[i];
      if (!list.items[i].is(Json::Kind::object)) unexpected(list.items[i]);
      if (name_ != kMetadata)
        tensors.push_back(tensor(list.items[i]));
      else
        read_metadata(list.items[i], metadata);
    }
    return tensors;
  }

 private:
  void read_metadata(const Json& texts, Metadata* metadata) const {
    for (size_t i = 0; i < texts.items.size(); ++i) {
      if (!texts.items[i].is(Json::Kind::string)) unexpected(texts.items[i]);
      if (metadata) metadata->insert_or_assign(texts.keys[i], texts.items[i].string);
    }
  }

  ListedTensor tensor(const Json& entry) const {
    for (const std::string& key : entry.keys)
      if (key != "dtype" && key != "shape" && key != "data_offsets" && key != "sha256")
        fail("expected dtype, shape and data_offsets, got \"" + key.substr(0, 40) + "\"");
    const Json *const dtype = entry.find("dtype"), *const shape = entry.find("shape"),
                      *const bounds = entry.find("data_offsets"), *const sum = entry.find("sha256");
    if (!dtype || !shape) fail("expected dtype and shape");
    if (offsets_ != (bounds != nullptr))
      fail(offsets_ ? "expected two data_offsets" : "expected no data_offsets");
    ListedTensor tensor;
    tensor.name = name_;
    tensor.dtype = type(*dtype);
    tensor.shape = read_shape(*shape);
    if (sum) tensor.sha256 = digits(*sum);
    if (!bounds) return tensor;
    const std::vector<int64_t> range = whole_numbers(*bounds);
    if (range.size() != 2) fail("expected two data_offsets");
    tensor.begin = static_cast<uint64_t>(range[0]), tensor.end = static_cast<uint64_t>(range[1]);
    if (tensor.end < tensor.begin || tensor.end - tensor.begin != tensor.bytes())
      fail("expected " + std::to_string(tensor.bytes()) + " bytes for shape " + tensor.shape.str() +
           ", got data_offsets " + std::to_string(tensor.begin) + " to " +
           std::to_string(tensor.end));
    return tensor;
  }

  std::string digits(const Json& sum) const {
    if (offsets_) fail("expected no sha256");
    if (!sum.is(Json::Kind::string) || !is_sha256(sum.string))
      fail("expected 64 hexadecimal digits as sha256, got " + sum.describe());
    return sum.string;
  }

  DType type(const Json& name) const {
    if (!name.is(Json::Kind::string)) unexpected(name);
    const auto found = std::ranges::find(kTypeNames, name.string);
    if (found == std::end(kTypeNames))
      fail("expected dtype F32, F64, I32, U8 or BOOL, got " + name.string.substr(0, 20));
    return static_cast<DType>(found - std::begin(kTypeNames));
  }

  /// Throws if the number of bytes could overflow 64 bits.
  Shape read_shape(const Json& list) const {
    const std::vector<int64_t> dims = whole_numbers(list);
    if (dims.size() > Shape::kMaxRank)
      fail("expected at most 8 dimensions, got " + std::to_string(dims.size()));
    const Shape shape(dims);
    double elements = 1;
    for (int64_t dim : dims) elements *= static_cast<double>(std::max<int64_t>(dim, 1));
    if (elements > static_cast<double>(uint64_t{1} << 60))
      fail("expected a shape of at most 2^60 elements, got " + shape.str());
    return shape;
  }

  std::vector<int64_t> whole_numbers(const Json& list) const {
    if (!list.is(Json::Kind::array)) unexpected(list);
    std::vector<int64_t> values;
    for (const Json& item : list.items) {
      if (!item.is_integer() || item.number < 0)
        fail("expected whole numbers from 0 to 2^53, got " + item.describe());
      values.push_back(static_cast<int64_t>(item.number));
    }
    return values;
  }

  [[noreturn]] void unexpected(const Json& value) const {
    fail("expected {name: {dtype, shape, data_offsets}}, got " + value.describe());
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ParseError(source_, "header: \"" + name_.substr(0, 80) + "\"", what);
  }

  std::string_view source_;
  bool offsets_;
  std::string name_;
};

/// Adds a key, which is new. Throws Error if it is not UTF-8.
void append(Json& object, const std::string& key, Json value) {
  if (!is_utf8(key) || !is_utf8(value.string))
    throw Error(message("tensor file", "a name or the metadata is not UTF-8"));
  object.keys.push_back(key);
  object.items.push_back(std::move(value));
}

Json entry(const ListedTensor& tensor, bool offsets) {
  Json json = Json::object(), shape = Json::array();
  if (offsets)
    json.set("data_offsets",
             Json::array({static_cast<int64_t>(tensor.begin), static_cast<int64_t>(tensor.end)}));
  for (int i = 0; i < tensor.shape.rank(); ++i) shape.items.emplace_back(tensor.shape[i]);
  json.set("dtype", std::string(kTypeNames[static_cast<int>(tensor.dtype)]))
      .set("shape", std::move(shape));
  if (tensor.sha256) json.set("sha256", *tensor.sha256);
  return json;
}

}  // namespace

std::vector<ListedTensor> parse_tensor_list(std::string_view text, std::string_view source,
                                            bool offsets, Metadata* metadata) {
  if (!is_utf8(text)) throw ParseError(source, "header", "the text is not UTF-8");
  const Json list = parse_json(text, std::string(source) + ": header");
  return ListReader(source, offsets).read(list, metadata);
}

std::string format_tensor_list(const std::vector<ListedTensor>& tensors, bool offsets,
                               const Metadata& metadata) {
  std::set<std::string_view> names = {kMetadata};
  Json list = Json::object(), texts = Json::object();
  for (const auto& [key, value] : metadata) append(texts, key, value);
  if (!metadata.empty()) append(list, std::string(kMetadata), std::move(texts));
  for (const ListedTensor& t : tensors) {
    if (!names.insert(t.name).second)
      throw Error(message("tensor file", "expected each name once, got \"", t.name, "\" again"));
    append(list, t.name, entry(t, offsets));
  }
  return format_json_compact(list);
}

}  // namespace kaiseki::nn
