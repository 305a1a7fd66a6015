// SPDX-License-Identifier: MIT
#include "nn/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "nn/io/tensor_bytes.h"

namespace kaiseki::nn {
namespace {

constexpr uint32_t kMaxHeader = 1 << 16;
constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

/// Parses a header. It is one Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape':
/// (2, 3), }
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const ByteSource& source) : text_(text), source_(source) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        header.descr = string(), descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran = boolean(), order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple(), shape = true;
      } else {
        fail("expected descr, fortran_order and shape once each, got '" + key.substr(0, 40) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("expected the end of the header");
    if (!descr || !order || !shape) fail("expected descr, fortran_order and shape");
    return header;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \n\t\r", text_[at_])) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  std::string string() {
    char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("expected the end of a string");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    skip_space();
    for (std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("expected True or False");
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t dim = -1;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) fail("expected a dimension");
      if (shape.rank() == Shape::kMaxRank) fail("the array has more than 8 dimensions");
      shape.push_back(dim);
      at_ = static_cast<size_t>(end - text_.data());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ParseError(source_.name(), "npy header, character " + std::to_string(at_), what);
  }

  std::string_view text_;
  const ByteSource& source_;
  size_t at_ = 0;
};

NpyHeader read_header(ByteSource& source) {
  std::byte prefix[8], length[4] = {};
  source.read_exactly(prefix, "an npy header");
  if (std::memcmp(prefix, kMagic.data(), kMagic.size()) != 0)
    source.fail("the magic number of npy is missing");
  int version = std::to_integer<int>(prefix[6]);
  if (version < 1 || version > 3)
    source.fail("expected npy version 1 to 3, got " + std::to_string(version));
  source.read_exactly(std::span(length, version == 1 ? 2 : 4), "the length of the npy header");
  uint32_t count = load_le<uint32_t>(length);
  if (count > kMaxHeader)
    source.fail("expected an npy header of at most 64 KiB, got " + std::to_string(count));
  ByteVector text = source.read_bytes(count, "an npy header");
  return NpyHeaderParser(as_text(text), source).parse();
}

template <typename From>
Tensor narrowed(ByteView bytes, const Shape& shape, const ByteSource& source) {
  using To = std::conditional_t<std::is_same_v<From, double>, float, int32_t>;
  Tensor value(shape, DTypeOf<To>::value, Device::cpu());
  To* out = value.overwrite<To>();
  for (int64_t i = 0; i < value.size(); ++i) {
    From element;
    std::memcpy(&element, bytes.data() + static_cast<size_t>(i) * sizeof element, sizeof element);
    if constexpr (std::is_integral_v<From>) {
      if (element != static_cast<To>(element))
        source.fail("expected integers of 32 bits, got " + std::to_string(element));
    } else if (std::isfinite(element) && std::abs(element) > std::numeric_limits<To>::max()) {
      source.fail("expected numbers of 32 bits, got " + std::to_string(element));
    }
    out[i] = static_cast<To>(element);
  }
  return value;
}

/// Converts an array in Fortran order to row-major.
Tensor to_row_major(const Tensor& stored, const Shape& shape) {
  Tensor value(shape, stored.dtype(), Device::cpu());
  size_t width = dtype_size(stored.dtype());
  auto* from = static_cast<const std::byte*>(stored.host_pointer(Access::read));
  auto* to = static_cast<std::byte*>(value.host_pointer(Access::write));
  Shape at = shape;
  for (int64_t& i : std::span(&at[0], static_cast<size_t>(at.rank()))) i = 0;
  for (int64_t n = 0; n < value.size(); ++n) {
    int64_t offset = 0;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) offset = offset * shape[axis] + at[axis];
    std::memcpy(to + static_cast<size_t>(n) * width, from + static_cast<size_t>(offset) * width,
                width);
    for (int axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis) at[axis] = 0;
  }
  return value;
}

Tensor read_array(ByteSource& source, const NpyHeader& header, NpyF8 f8) {
  static constexpr struct {
    std::string_view descr;
    size_t bytes;
    std::optional<DType> dtype;
  } kTypes[] = {{"<f4", 4, DType::f32},     {"<i4", 4, DType::i32},   {"|u1", 1, DType::u8},
                {"|b1", 1, DType::boolean}, {"<f8", 8, std::nullopt}, {"<i8", 8, std::nullopt}};
  for (const auto& type : kTypes) {
    const bool swapped = header.descr.starts_with('>') && type.bytes > 1;
    if (header.descr != type.descr && !(swapped && header.descr.substr(1) == type.descr.substr(1)))
      continue;
    const Shape& shape = header.shape;
    uint64_t count = 0;
    try {
      count = static_cast<uint64_t>(shape.elements());
    } catch (const ShapeError&) {
      count = ~uint64_t{0};
    }
    if (count > (uint64_t{1} << 40))
      source.fail("expected at most 2^40 elements, got " + shape.str());
    ByteVector bytes = source.read_bytes(count * type.bytes, "elements of shape " + shape.str());
    for (size_t i = 0; swapped && i < bytes.size(); i += type.bytes)
      std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                   bytes.begin() + static_cast<ptrdiff_t>(i + type.bytes));
    MemorySource elements(bytes, source.name());
    if (type.dtype) return read_elements(elements, shape, *type.dtype);
    if (type.descr == "<i8") return narrowed<int64_t>(bytes, shape, source);
    return f8 == NpyF8::f64 ? read_elements(elements, shape, DType::f64)
                            : narrowed<double>(bytes, shape, source);
  }
  source.fail("expected elements f4, f8, i4, i8, u1 or b1, got '" + header.descr.substr(0, 40) +
              "'");
}

std::string header_of(const Tensor& value) {
  constexpr std::string_view kDescr[] = {"<f4", "<i4", "|u1", "|b1", "<f8"};
  std::string dict = "{'descr': '" + std::string(kDescr[static_cast<int>(value.dtype())]) +
                     "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : value.shape()) dict += std::to_string(dim) + ",";
  dict += "), }";
  dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 11, ' ');
  dict += '\n';
  std::string header = std::string(kMagic) + '\x01' + '\0';
  header += static_cast<char>(dict.size() & 255);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

Tensor read_whole(ByteSource& source, NpyF8 f8) {
  Tensor value = read_npy(source, f8);
  std::byte extra[1];
  if (source.read(extra)) source.fail("bytes follow the last element");
  return value;
}

}  // namespace

Tensor read_npy(ByteSource& source, NpyF8 f8) {
  NpyHeader header = read_header(source);
  Tensor stored = read_array(source, header, f8);
  bool same = !header.fortran || header.shape.rank() < 2 || stored.size() == 0;
  return same ? stored : to_row_major(stored, header.shape);
}

Tensor read_npy(const std::string& path, NpyF8 f8) {
  FileSource source(path);
  return read_whole(source, f8);
}

Tensor read_npy(ByteView bytes, const std::string& name, NpyF8 f8) {
  MemorySource source(bytes, name);
  return read_whole(source, f8);
}

void write_npy(const std::string& path, const Tensor& value) {
  Tensor host = for_file(value);
  std::string header = header_of(host);
  ByteView parts[] = {as_bytes(header), bytes_of(host)};
  write_file_atomic(path, parts);
}

ByteVector encode_npy(const Tensor& value) {
  Tensor host = for_file(value);
  std::string header = header_of(host);
  ByteVector bytes(as_bytes(header).begin(), as_bytes(header).end());
  bytes.insert(bytes.end(), bytes_of(host).begin(), bytes_of(host).end());
  return bytes;
}

}  // namespace kaiseki::nn
