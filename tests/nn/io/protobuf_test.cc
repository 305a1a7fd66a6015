// SPDX-License-Identifier: MIT
#include "nn/io/protobuf.h"

#include <limits>

#include "tests/nn/io/damage.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::ProtoField;
using nn::ProtoReader;
using nn::ProtoWriter;

namespace {

ByteVector raw(std::initializer_list<int> values) {
  ByteVector bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// Reads all fields. Field 9 is read as a message.
void read_all(ByteView bytes) {
  ProtoReader in(bytes, "test");
  for (ProtoField field; in.next(field);) {
    if (field.number != 9) continue;
    ProtoReader inner = in.message(field);
    for (ProtoField deeper; inner.next(deeper);) inner.integer(deeper);
  }
}

}  // namespace

TEST_CASE("protobuf: the examples of the format's documentation") {
  // https://protobuf.dev/programming-guides/encoding: field 1 is 150; field 2 is "testing"; field 6
  // holds 3, 270 and 86942, packed.
  ProtoWriter writer;
  writer.integer(1, 150).text(2, "testing");
  CHECK(writer.encode() ==
        raw({0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67}));
  const ByteVector packed = raw({0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05});
  ProtoReader in(packed, "test");
  ProtoField field;
  REQUIRE(in.next(field));
  CHECK(field.number == 6);
  std::vector<int64_t> values;
  in.append(field, values);
  CHECK(values == std::vector<int64_t>{3, 270, 86942});
  CHECK_FALSE(in.next(field));
}

TEST_CASE("protobuf: reads what it writes") {
  const std::string lent = "lent bytes";
  ProtoWriter inner, writer;
  inner.integer(7, -1).bytes(3, as_bytes(lent)).number(5, -0.1f);
  writer.integer(1, std::numeric_limits<int64_t>::min()).message(9, std::move(inner)).text(4, "");
  const ByteVector bytes = writer.encode();
  CHECK(bytes.size() == writer.size());
  ProtoReader in(bytes, "test");
  ProtoField field;
  REQUIRE(in.next(field));
  CHECK(in.integer(field) == std::numeric_limits<int64_t>::min());
  REQUIRE(in.next(field));
  ProtoReader message = in.message(field);
  ProtoField part;
  REQUIRE(message.next(part));
  CHECK(message.integer(part) == -1);
  REQUIRE(message.next(part));
  CHECK(message.text(part) == lent);
  REQUIRE(message.next(part));
  CHECK(message.number(part) == -0.1f);
  std::vector<float> floats;
  message.append(part, floats);
  CHECK(floats == std::vector<float>{-0.1f});
  CHECK_FALSE(message.next(part));
  REQUIRE(in.next(field));
  CHECK(in.text(field).empty());
}

TEST_CASE("protobuf: damage throws ParseError with the position") {
  CHECK(refuses(read_all, raw({0x0b}), "got 3"));                               // a group
  CHECK(refuses(read_all, raw({0x00, 0x01}), "field number"));                  // number 0
  CHECK(refuses(read_all, raw({0x12, 0x7f, 0x01}), "expected 127 bytes"));      // beyond the end
  CHECK(refuses(read_all, raw({0x4a, 0x02, 0x0d, 0x01}), "byte 3"));            // within a message
  CHECK(refuses(read_all, raw({0x4a, 0x05, 0x0d, 0, 0, 0, 0}), "an integer"));  // of another type
  ByteVector endless(12, std::byte{0xff});
  endless[0] = std::byte{0x08};
  CHECK(refuses(read_all, endless, "more than 10 bytes"));
  ByteVector huge = raw({0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
  CHECK(refuses(read_all, huge, "bytes of field 2"));
  const ByteVector whole = ProtoWriter().integer(1, 300).text(2, "text").encode();
  ProtoReader in(whole, "test");
  CHECK(parse_error([&] { read_all(ByteView(whole).first(2)); }).find("test: byte 2") == 0);
  check_changed(read_all, whole, 2000);
}
