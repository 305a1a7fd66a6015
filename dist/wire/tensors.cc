// SPDX-License-Identifier: MIT
#include "dist/wire/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "dist/wire/elements.h"
#include "matrix/ceil_div.h"
#include "nn/io/tensor_bytes.h"
#include "nn/train/diverged.h"

namespace kaiseki::dist {
namespace {

constexpr uint32_t kMagic = 0x31544b4b;  // "KKT1"
constexpr uint64_t kMaxTexts = 256, kMaxTensors = 1 << 16, kMaxHeader = 1 << 26;
constexpr uint64_t kMaxElements = uint64_t{1} << 40;

uint64_t padded(uint64_t bytes) { return round_up(bytes, 8); }

bool fits(DType dtype, WireType type) {
  if (type == WireType::i32) return dtype == DType::i32;
  if (type == WireType::u8) return dtype == DType::u8;
  return dtype == DType::f32;
}

DType dtype_of(WireType type) {
  return type == WireType::i32 ? DType::i32 : type == WireType::u8 ? DType::u8 : DType::f32;
}

std::span<const float> floats_of(const Tensor& value) {
  return {value.data<float>(), static_cast<size_t>(value.size())};
}

/// Appends the numbers and texts of the header.
class Header {
 public:
  template <typename T>
  void put(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    store_le<T>(value, &bytes_[bytes_.size() - sizeof(T)]);
  }
  void put_text(std::string_view text) {
    const ByteView bytes = as_bytes(text);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void pad() { bytes_.resize(padded(bytes_.size())); }
  ByteVector& bytes() { return bytes_; }

 private:
  ByteVector bytes_;
};

struct Entry {
  std::string name;
  WireType type;
  int exponent;
  Shape shape;
};

class Decoder {
 public:
  Decoder(ByteView bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  TensorMessage decode() {
    TensorMessage message;
    for (const Entry& of : header(message.texts))
      message.tensors.push_back({of.name, elements(of)});
    expect(at_ == bytes_.size(), "bytes follow the last tensor");
    return message;
  }

  std::vector<Entry> header(nn::Metadata& to) {
    expect(take<uint32_t>() == kMagic, "the mark KKT1 is missing");
    const uint64_t header = take<uint32_t>();
    expect(header >= 16 && header <= bytes_.size() && header <= kMaxHeader && header % 8 == 0,
           "the header does not lie in the message");
    const uint64_t texts = take<uint32_t>(), tensors = take<uint32_t>();
    expect(texts <= kMaxTexts && tensors <= kMaxTensors,
           "there are more than 256 texts or 65536 tensors");
    end_ = header;
    std::string last;
    for (uint64_t i = 0; i < texts; ++i) {
      const uint64_t key_bytes = take<uint32_t>(), value_bytes = take<uint32_t>();
      std::string key = text(key_bytes), value = text(value_bytes);
      expect(i == 0 || last < key, "the keys are not in order");
      to.emplace(key, std::move(value));
      last = std::move(key);
    }
    std::vector<Entry> entries;
    for (uint64_t i = 0; i < tensors; ++i) entries.push_back(entry());
    skip_padding(header);
    end_ = bytes_.size();
    return entries;
  }

 private:
  template <class Problem = ParseError>
  void expect(bool holds, std::string_view otherwise) const {
    if (!holds) throw Problem(source_, "byte " + std::to_string(at_), otherwise);
  }

  const std::byte* advance(uint64_t count) {
    if (count > end_ - at_)
      expect(false, "expected " + std::to_string(count) + " more bytes, got " +
                        std::to_string(end_ - at_));
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  template <typename T>
  T take() {
    return load_le<T>(advance(sizeof(T)));
  }
  std::string text(uint64_t count) {
    const auto* from = reinterpret_cast<const char*>(advance(count));
    return std::string(from, count);
  }

  void skip_padding(uint64_t until) {
    const uint64_t count = until - at_;
    expect(count < 8, "more than 7 bytes lie between two parts");
    const std::byte* from = advance(count);
    expect(std::all_of(from, from + count, [](std::byte b) { return b == std::byte{0}; }),
           "the bytes between two parts are not zero");
  }

  Entry entry() {
    const auto type = take<uint8_t>();
    expect(type <= static_cast<uint8_t>(WireType::u8), "the type of elements is unknown");
    const auto rank = take<uint8_t>();
    expect(rank <= Shape::kMaxRank, "a tensor has more than 8 dimensions");
    const auto exponent = static_cast<int16_t>(take<uint16_t>());
    const uint64_t name_bytes = take<uint32_t>();
    const auto wire = static_cast<WireType>(type);
    expect(wire == WireType::f16 ? exponent >= -163 && exponent <= 113 : exponent == 0,
           "the exponent is not one of floats");
    Shape shape;
    uint64_t elements = 1;
    for (int i = 0; i < rank; ++i) {
      const auto dim = take<uint64_t>();
      expect(dim >= 1 && dim <= kMaxElements / elements,
             "a shape does not have 1 to 2^40 elements");
      elements *= dim;
      shape.push_back(static_cast<int64_t>(dim));
    }
    Entry result{text(name_bytes), wire, exponent, shape};
    expect(names_.insert(result.name).second, "two tensors have the same name");
    return result;
  }

  Tensor elements(const Entry& of) {
    const uint64_t bytes = wire_bytes(of.shape.elements(), of.type);
    const std::byte* in = advance(bytes);
    Tensor value(of.shape, dtype_of(of.type), Device::cpu());
    bool well = true;
    if (dtype_of(of.type) == DType::f32) {
      const std::span<float> out(value.overwrite<float>(), static_cast<size_t>(value.size()));
      well = of.type == WireType::f32   ? get_floats(in, out)
             : of.type == WireType::f16 ? get_halves(in, of.exponent, out)
                                        : get_bytes(in, out);
    } else {
      std::memcpy(value.host_pointer(Access::write), in, bytes);
    }
    if (!well) expect<NotFinite>(false, of.name.substr(0, 60) + " has NaN or infinity");
    skip_padding(padded(at_));
    return value;
  }

  ByteView bytes_;
  std::string source_;
  uint64_t at_ = 0, end_ = bytes_.size();
  std::set<std::string> names_;
};

}  // namespace

std::string_view wire_type_name(WireType type) {
  constexpr std::string_view kNames[] = {"f32", "f16", "i8", "i32", "u8"};
  return kNames[static_cast<size_t>(type)];
}

uint64_t wire_bytes(int64_t elements, WireType type) {
  const auto count = static_cast<uint64_t>(elements);
  switch (type) {
    case WireType::f16:
      return 2 * count;
    case WireType::i8:
      return count + ceil_div(count, kBlock) * 4;
    case WireType::u8:
      return count;
    default:
      return 4 * count;
  }
}

ByteVector encode_tensors(std::span<const WireTensor> tensors, const Metadata& texts,
                          uint64_t rounding) {
  Header header;
  header.put(kMagic);
  header.put<uint32_t>(0);
  header.put(static_cast<uint32_t>(texts.size()));
  header.put(static_cast<uint32_t>(tensors.size()));
  for (const auto& [key, value] : texts) {
    header.put(static_cast<uint32_t>(key.size()));
    header.put(static_cast<uint32_t>(value.size()));
    header.put_text(key);
    header.put_text(value);
  }
  std::vector<Tensor> values;
  std::vector<int> exponents;
  uint64_t data_bytes = 0;
  for (const WireTensor& tensor : tensors) {
    const Tensor& value = values.emplace_back(nn::for_file(tensor.value));
    require(fits(value.dtype(), tensor.type) && value.size() > 0, "tensors",
            "expected elements that fit the type on the wire for ", tensor.name, ", got ",
            dtype_name(value.dtype()), " of shape ", value.shape());
    if (value.dtype() == DType::f32)
      for (float x : floats_of(value))
        if (!std::isfinite(x))
          throw nn::Diverged(message("tensors", "expected finite numbers in ", tensor.name,
                                     ", got ", x,
                                     "; if training diverged, use a smaller learning rate"));
    exponents.push_back(tensor.type == WireType::f16 ? half_exponent(floats_of(value)) : 0);
    header.put(static_cast<uint8_t>(tensor.type));
    header.put(static_cast<uint8_t>(value.rank()));
    header.put(static_cast<uint16_t>(exponents.back()));
    header.put(static_cast<uint32_t>(tensor.name.size()));
    for (int64_t dim : value.shape()) header.put(static_cast<uint64_t>(dim));
    header.put_text(tensor.name);
    data_bytes += padded(wire_bytes(value.size(), tensor.type));
  }
  header.pad();
  ByteVector bytes = std::move(header.bytes());
  size_t at = bytes.size();
  store_le(static_cast<uint32_t>(at), &bytes[4]);
  bytes.resize(at + data_bytes);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& value = values[i];
    switch (tensors[i].type) {
      case WireType::f16:
        put_halves(floats_of(value), exponents[i], &bytes[at]);
        break;
      case WireType::i8:
        put_bytes(floats_of(value), rounding, i, &bytes[at]);
        break;
      default:
        std::memcpy(&bytes[at], nn::bytes_of(value).data(), value.bytes());
    }
    at += padded(wire_bytes(value.size(), tensors[i].type));
  }
  return bytes;
}

TensorMessage decode_tensors(ByteView bytes, std::string_view source) {
  return Decoder(bytes, source).decode();
}

std::vector<WireType> wire_types(ByteView bytes) {
  Metadata texts;
  std::vector<WireType> types;
  for (const Entry& of : Decoder(bytes, "message").header(texts)) types.push_back(of.type);
  return types;
}

}  // namespace kaiseki::dist
