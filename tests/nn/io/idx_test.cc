// SPDX-License-Identifier: MIT
#include "nn/io/idx.h"

#include "base/file.h"
#include "nn/io/gzip.h"
#include "tests/nn/io/damage.h"
#include "tests/support/encode_idx.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::encode_idx;
using test::refuses;

namespace {

void parse(ByteView bytes) {
  MemorySource source(bytes, "x.idx");
  read_idx(source);
}

ByteVector idx(std::initializer_list<int> values) {
  ByteVector bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

TEST_CASE("IDX: is read plain and compressed") {
  ByteVector file = idx({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});
  test::Folder folder;
  write_file_atomic(folder.path / "a", file);
  write_file_atomic(folder.path / "b", gzip(file));
  for (const char* name : {"a", "b"}) {
    IdxArray array = read_idx(folder.path / name);
    CHECK(array.shape == Shape{2, 3});
    CHECK(array.bytes == ByteVector(file.begin() + 12, file.end()));
    CHECK(encode_idx(array) == file);
  }
}

TEST_CASE("IDX: a wrong header or length throws ParseError and allocates little memory") {
  ByteVector file = idx({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});
  test::check_truncated(parse, file);
  test::check_changed(parse, file, 3000);
  CHECK(refuses(parse, idx({0, 1, 8, 1, 0, 0, 0, 0}), "magic number"));
  CHECK(refuses(parse, idx({0, 0, 13, 1, 0, 0, 0, 0}), "got type 13"));
  CHECK(refuses(parse, idx({0, 0, 8, 0}), "1 to 8 dimensions, got 0"));
  CHECK(refuses(parse, idx({0, 0, 8, 9}), "got 9"));
  CHECK(refuses(parse, idx({0, 0, 8, 1, 0x7f, 255, 255, 255, 1}), "x.idx: byte 8"));
  CHECK(refuses(parse, idx({0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255}), "2 GiB"));
  CHECK(refuses(parse, idx({0, 0, 8, 1, 0, 0, 0, 1, 7, 7}), "bytes follow"));
  ByteVector packed = gzip(idx({0, 0, 8, 1, 0x7f, 255, 255, 255, 1}));
  CHECK(refuses(
      [](ByteView bytes) { read_idx(*maybe_gzip(std::make_unique<MemorySource>(bytes), 1 << 20)); },
      packed, "got the end of the file"));
}
