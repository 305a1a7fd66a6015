// SPDX-License-Identifier: MIT
#include "dist/pool/blobs.h"

#include <fstream>

#include "base/sha256.h"
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

int files_in(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("blobs: a blob is read whole and in parts, also by another store") {
  Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  std::string content(300000, 'x');
  content[70000] = 'y';
  const BlobHash hash = blobs.put(bytes(content));
  CHECK(hash == sha256(bytes(content)));
  CHECK(blobs.put(bytes(content)) == hash);
  CHECK(files_in(blobs.folder()) == 1);
  BlobStore again(folder / "blobs", {.free_floor = 0});
  CHECK(again.contains(hash));
  CHECK(again.size(hash) == content.size());
  CHECK(text(again.read(hash)) == content);
  CHECK(text(again.read(hash, 69999, 3)) == "xyx");
  CHECK(text(again.read(hash, 299999, 10)) == "x");
  CHECK(again.read(hash, 300000, 10).empty());
  CHECK(again.read(hash, UINT64_MAX, UINT64_MAX).empty());
  const BlobHash nothing = again.put({});
  CHECK(again.read(nothing).empty());
  CHECK(again.size(nothing) == 0);
}

TEST_CASE("blobs: a blob that comes in parts needs the announced hash") {
  Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  auto writer = blobs.writer();
  writer.write(bytes("ab"));
  writer.write(bytes("c"));
  CHECK(writer.finish(sha256(bytes("abc"))) == sha256(bytes("abc")));
  auto wrong = blobs.writer();
  wrong.write(bytes("abd"));
  CHECK(has(error_of([&] { wrong.finish(sha256(bytes("abe"))); }), "send them again"));
  {
    auto given_up = blobs.writer();
    given_up.write(bytes("abf"));
  }
  { auto gone = std::move(wrong); }
  CHECK(files_in(blobs.folder()) == 1);
}

TEST_CASE("blobs: a name that is no hash opens no file") {
  Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  for (const std::string& name :
       {std::string("../../etc/passwd"), std::string(), std::string(64, 'A'), std::string(63, 'a'),
        std::string(65, 'a'), std::string(63, 'a') + "/", std::string(63, 'a') + '\0'}) {
    CHECK(!is_sha256(name));
    CHECK(has(error_of([&] { blobs.contains(name); }), "64 hexadecimal digits"));
    CHECK(has(error_of([&] { blobs.read(name); }), "64 hexadecimal digits"));
  }
  CHECK(has(error_of([&] { blobs.read(std::string(64, 'a')); }), "put it first"));
  CHECK(has(error_of([&] { blobs.size(std::string(64, 'a')); }), "put it first"));
}

TEST_CASE("blobs: a damaged blob is detected and can be put again") {
  Folder folder;
  BlobHash hash;
  {
    BlobStore blobs(folder / "blobs", {.free_floor = 0});
    hash = blobs.put(bytes("content"));
  }
  const fs::path file = folder / ("blobs/" + hash);
  for (const char* damage : {"c0ntent", "conten", "content+", ""}) {
    BlobStore blobs(folder / "blobs", {.free_floor = 0});
    CHECK(text(blobs.read(hash)) == "content");
    std::ofstream(file, std::ios::binary) << damage;
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(has(error_of([&] { blobs.read(hash, 0, 3); }), "damaged"));
    CHECK(!blobs.contains(hash));
    CHECK(blobs.put(bytes("content")) == hash);
    CHECK(text(blobs.read(hash)) == "content");
  }
}

TEST_CASE("blobs: a blob that was damaged while no store was open is put again") {
  Folder folder;
  const BlobHash hash = BlobStore(folder / "blobs", {.free_floor = 0}).put(bytes("content"));
  std::ofstream(folder / ("blobs/" + hash), std::ios::binary) << "c0ntent";
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  CHECK(!blobs.touch(hash));
  CHECK(blobs.put(bytes("content")) == hash);
  CHECK(text(blobs.read(hash)) == "content");
  CHECK(blobs.touch(hash));
}

TEST_CASE("blobs: a hash is checked in pieces, and again if the file changed") {
  Folder folder;
  const std::string content(1000, 'x');
  const BlobHash hash = BlobStore(folder / "blobs", {.free_floor = 0}).put(bytes(content));
  const fs::path file = folder / ("blobs/" + hash);
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  CHECK(!blobs.check(hash, 600));
  fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(!blobs.check(hash, 600));
  CHECK(blobs.check(hash, 600));
  CHECK(blobs.check(hash, 0));
  std::ofstream(file, std::ios::binary) << std::string(1000, 'y');
  CHECK(!blobs.check(hash, 600));
  CHECK(has(error_of([&] { blobs.check(hash, 600); }), "damaged"));
  CHECK(has(error_of([&] { blobs.check(hash, 600); }), "put it first"));
}

TEST_CASE("blobs: a blob that does not fit is a clear error and leaves no file") {
  Folder folder;
  BlobStore small(folder / "small", {.max_blob = 10, .free_floor = 0});
  small.put(bytes("0123456789"));
  CHECK(has(error_of([&] { small.put(bytes("0123456789a")); }), "has more than 10"));
  auto writer = small.writer();
  writer.write(bytes("01234567"));
  CHECK(has(error_of([&] { writer.write(bytes("890")); }), "has more than 10"));
  { auto gone = std::move(writer); }
  CHECK(files_in(small.folder()) == 1);

  BlobStore full(folder / "full", {.free_floor = uint64_t{1} << 62});
  const std::string error = error_of([&] { full.put(bytes("content")); });
  CHECK(has(error, "left over on the disk"));
  CHECK(has(error, "make room"));
  CHECK(files_in(full.folder()) == 0);
}

TEST_CASE("blobs: partial files of a crash are deleted") {
  Folder folder;
  {
    BlobStore blobs(folder / "blobs", {.free_floor = 0});
    blobs.put(bytes("content"));
  }
  std::ofstream(folder / "blobs/tmp-0123") << "half";
  std::ofstream(folder / "blobs/note") << "not ours";
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  CHECK(files_in(blobs.folder()) == 2);
}

TEST_CASE("blobs: old blobs without a reference are collected") {
  Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  const BlobHash kept = blobs.put(bytes("kept")), old = blobs.put(bytes("old"));
  const BlobHash young = blobs.put(bytes("young")), revived = blobs.put(bytes("revived"));
  std::ofstream(folder / "blobs/note") << "not ours";
  const auto hours_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const BlobHash& hash : {kept, old, revived})
    fs::last_write_time(folder / ("blobs/" + hash), hours_ago);
  fs::last_write_time(folder / "blobs/note", hours_ago);
  blobs.put(bytes("revived"));
  CHECK(blobs.collect([&](const BlobHash& hash) { return hash == kept; }, 3600) == 1);
  CHECK(blobs.contains(kept));
  CHECK(!blobs.contains(old));
  CHECK(blobs.contains(young));
  CHECK(blobs.contains(revived));
  CHECK(fs::exists(folder / "blobs/note"));
}
