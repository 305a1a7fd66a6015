// SPDX-License-Identifier: MIT
// Encodes named tensors and a few texts as one block of bytes. Training over a pool sends such
// blocks (docs/protocol-tensors.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::dist {

using nn::Metadata;

/// The type of a tensor's elements on the wire. An f32 tensor may use f32, f16 or i8. Any other
/// tensor uses its own type.
enum class WireType : uint8_t {
  f32 = 0,
  f16 = 1,  // times a power of two for each tensor
  i8 = 2,   // -127..127 times a scale for each 256 elements; random rounding without bias
  i32 = 3,
  u8 = 4,
};
/// "f32" and so on, in the order of the enumeration.
std::string_view wire_type_name(WireType type);

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

/// The same input gives the same bytes. `rounding` seeds the random rounding of i8. If a value is
/// NaN or infinite, throws nn::Diverged with the tensor's name.
ByteVector encode_tensors(std::span<const WireTensor> tensors, const Metadata& texts = {},
                          uint64_t rounding = 0);
/// Uses less memory than five times the bytes. Throws NotFinite for a value that is not finite.
/// Throws ParseError(source, place) for other bytes that encode_tensors() does not write.
TensorMessage decode_tensors(ByteView bytes, std::string_view source = "message");
/// Returns the types of a message's tensors. Throws ParseError if the part that it reads is
/// malformed.
std::vector<WireType> wire_types(ByteView bytes);

/// Bytes of a tensor's elements on the wire.
uint64_t wire_bytes(int64_t elements, WireType type);

}  // namespace kaiseki::dist
