// SPDX-License-Identifier: MIT
#include "dist/wire/blob_cache.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/sha256.h"

namespace kaiseki::dist {
namespace {

ByteVector blob(size_t bytes, int value) { return ByteVector(bytes, std::byte(value)); }

std::string add(BlobCache& cache, size_t bytes, int value) {
  const std::string hash = sha256(blob(bytes, value));
  cache.add(hash, blob(bytes, value));
  return hash;
}

TEST_CASE("blob cache: evicts the least recently used blobs") {
  BlobCache cache(100);
  const std::string a = add(cache, 40, 1), b = add(cache, 40, 2);
  REQUIRE(cache.find(a) != nullptr);
  CHECK(*cache.find(a) == blob(40, 1));
  const std::string c = add(cache, 40, 3);
  CHECK(cache.contains(a));
  CHECK(!cache.contains(b));
  CHECK(cache.contains(c));
  CHECK(cache.find(b) == nullptr);
}

TEST_CASE("blob cache: a blob counts once, and no more after it was removed") {
  BlobCache cache(100);
  const std::string a = add(cache, 60, 1);
  add(cache, 60, 1);
  CHECK(cache.contains(a));
  cache.remove(a);
  cache.remove(a);
  CHECK(!cache.contains(a));
  const std::string b = add(cache, 50, 2), c = add(cache, 50, 3);
  CHECK(cache.contains(b));
  CHECK(cache.contains(c));
}

TEST_CASE("blob cache: keeps the last blobs whatever their size") {
  BlobCache large(10, 2), none(10);
  const std::string a = add(large, 40, 1), b = add(large, 40, 2), c = add(large, 40, 3);
  CHECK(!large.contains(a));
  CHECK(large.contains(b));
  CHECK(large.contains(c));
  CHECK(!none.contains(add(none, 11, 1)));
  CHECK(none.contains(add(none, 10, 1)));
  CHECK(none.contains(add(none, 0, 0)));
}

TEST_CASE("blob cache: bytes with another hash are refused") {
  const std::string hash = sha256(blob(3, 1));
  CHECK_NOTHROW(expect_blob("test", hash, blob(3, 1)));
  CHECK_THROWS_WITH_AS(expect_blob("test", hash, blob(3, 2)),
                       doctest::Contains("[test] expected a blob with the SHA-256"), Error);
}

}  // namespace
}  // namespace kaiseki::dist
