// SPDX-License-Identifier: MIT
// Tensors on the wire. Tensors that were read must be the same after writing and reading. Tickets
// and samples are read from the same bytes.
#include "dist/train/samples.h"
#include "dist/train/ticket.h"
#include "dist/wire/tensors.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;
using namespace kaiseki::dist;

KAISEKI_FUZZ(bytes) {
  const TensorMessage message = decode_tensors(bytes);
  std::vector<WireTensor> tensors;
  for (const auto& [name, value] : message.tensors)
    tensors.push_back({name, value,
                       value.dtype() == DType::i32  ? WireType::i32
                       : value.dtype() == DType::u8 ? WireType::u8
                                                    : WireType::f32});
  const ByteVector again = encode_tensors(tensors, message.texts);
  if (encode_tensors(tensors, decode_tensors(again).texts) != again) __builtin_trap();
  try {
    unpack_samples(bytes);
  } catch (const Error&) {
  }
  decode_ticket(bytes);
}
