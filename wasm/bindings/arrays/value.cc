// SPDX-License-Identifier: MIT
#include "wasm/bindings/arrays/value.h"

#include <cstdint>

#include "base/text.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

/// The first word of a value. wasm/src/arrays_code.js has the same order.
enum class Tag {
  missing,
  null,
  boolean,
  number,
  tensor,
  random,
  text,
  bytes,
  numbers,
  tensors,
  record
};

class ValueReader {
 public:
  ValueReader(const double* words, int count) : next_(words), end_(words + count) {}

  bool at_end() const { return next_ == end_; }

  Value value() {
    switch (static_cast<Tag>(number())) {
      case Tag::missing:
        return Missing{};
      case Tag::null:
        return nullptr;
      case Tag::boolean:
        return number() != 0;
      case Tag::number:
        return number();
      case Tag::tensor:
        return pointer<Tensor>();
      case Tag::random:
        return pointer<Random>();
      case Tag::text:
        return as_text(bytes());
      case Tag::bytes:
        return bytes();
      case Tag::numbers: {
        Numbers all(size());
        for (double& one : all) one = number();
        return all;
      }
      case Tag::tensors: {
        Tensors all(size());
        for (Tensor& one : all) one = *pointer<Tensor>();
        return all;
      }
      case Tag::record:
        return record();
    }
    return Missing{};
  }

 private:
  double number() { return *next_++; }
  size_t size() { return static_cast<size_t>(number()); }
  template <class T>
  T* pointer() {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(number()));
  }
  ByteView bytes() {
    const auto* first = pointer<const std::byte>();
    return {first, size()};
  }
  Record record() {
    Record fields(size());
    for (auto& field : fields) {
      field.first = as_text(bytes());
      if (static_cast<Tag>(number()) == Tag::tensor)
        field.second = *pointer<Tensor>();
      else
        field.second = number();
    }
    return fields;
  }

  const double* next_;
  const double* end_;
};

/// The bytes and texts of the last result.
std::vector<ByteVector> returned_bytes;

}  // namespace

std::vector<Value> read_values(const double* words, int count) {
  returned_bytes.clear();
  std::vector<Value> values;
  for (ValueReader reader(words, count); !reader.at_end();) values.push_back(reader.value());
  return values;
}

std::string describe_value(const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return text_from("the number ", *number);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return text_from('\'', text->substr(0, 40), '\'');
  constexpr std::string_view kNames[] = {"nothing",
                                         "null",
                                         "a boolean",
                                         "a number",
                                         "a tensor",
                                         "a generator of random numbers",
                                         "a text",
                                         "a Uint8Array",
                                         "a list of numbers",
                                         "a list of tensors",
                                         "a plain object"};
  return std::string(kNames[value.index()]);
}

void Words::tensor(Tensor&& value) {
  number(static_cast<double>(reinterpret_cast<uintptr_t>(handle(std::move(value)))));
}

void Words::random(Random&& value) {
  number(static_cast<double>(reinterpret_cast<uintptr_t>(handle(std::move(value)))));
}

void Words::bytes(ByteVector&& value) {
  returned_bytes.push_back(std::move(value));
  number(static_cast<double>(reinterpret_cast<uintptr_t>(returned_bytes.back().data())));
  number(static_cast<double>(returned_bytes.back().size()));
}

void Words::text(std::string_view value) {
  const ByteView view = as_bytes(value);
  bytes(ByteVector(view.begin(), view.end()));
}

}  // namespace kaiseki::wasm
