// SPDX-License-Identifier: MIT
// Named tensors and a few texts as one block of bytes, as training over a pool sends them
// (docs/protocol-tensors.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/error.h"
#include "nn/io/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::dist {

using nn::ByteVector;
using nn::ByteView;
using nn::Metadata;

/// How the elements of a tensor travel. Of f32 tensors the first three; of the others their own.
enum class WireType : uint8_t {
  f32 = 0,
  f16 = 1,  // times a power of two of the tensor's own
  i8 = 2,   // -127..127 times a scale for each 256 elements, rounded at random, without bias
  i32 = 3,
  u8 = 4,
};

struct WireTensor {
  std::string name;
  Tensor value;
  WireType type = WireType::f32;
};

/// A value on the wire is NaN or infinite.
class NotFinite : public ParseError {
 public:
  using ParseError::ParseError;
};

struct TensorMessage {
  Metadata texts;
  std::vector<nn::NamedTensor> tensors;  // on the CPU
};

/// The same input gives the same bytes; `rounding` seeds that of i8. Throws nn::Diverged naming the
/// tensor when a value is NaN or infinite.
ByteVector encode_tensors(std::span<const WireTensor> tensors, const Metadata& texts = {},
                          uint64_t rounding = 0);
/// Memory stays below five times the bytes. Throws ParseError(source, place) for everything that
/// encode_tensors() does not write; NotFinite for a value.
TensorMessage decode_tensors(ByteView bytes, std::string_view source = "message");
/// How its tensors travel. Throws ParseError when that much is not well formed.
std::vector<WireType> wire_types(ByteView bytes);

/// Bytes that the elements of a tensor take.
uint64_t wire_bytes(int64_t elements, WireType type);

}  // namespace kaiseki::dist
