// SPDX-License-Identifier: MIT
// An acknowledged change was synced to the disk before, and no change is synced twice. This program
// counts the sync calls of SQLite and of the blobs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "tests/dist/pool/support.h"

namespace {
int data_syncs = 0, syncs = 0;
int syncs_left = -1;  // that succeed; negative: all
bool folders_open = true;

int sync_or_fail(long call, int descriptor) {
  if (syncs_left != 0) return --syncs_left, static_cast<int>(::syscall(call, descriptor));
  errno = EIO;
  return -1;
}
}  // namespace

extern "C" int fdatasync(int descriptor) {
  ++data_syncs;
  return sync_or_fail(SYS_fdatasync, descriptor);
}

extern "C" int fsync(int descriptor) {
  ++syncs;
  return sync_or_fail(SYS_fsync, descriptor);
}

extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  struct stat about {};
  if (!folders_open && ::stat(path, &about) == 0 && S_ISDIR(about.st_mode))
    return errno = EMFILE, -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// Number of syncs that `calls` made.
template <typename Calls>
int syncs_of(Calls calls) {
  data_syncs = syncs = 0;
  calls();
  return data_syncs + syncs;
}

}  // namespace

TEST_CASE("durable: results and authors' changes are on the disk, leases need not be") {
  TestPool at("pool.db");
  TaskId task = 0;
  CHECK(syncs_of([&] { at.pool->create_project("p"); }) >= 1);
  task = at.task(10);
  CHECK(syncs_of([&] { at.add(task, 5); }) == 1);
  const NodeId a = at.join(10);
  std::vector<Lease> leases;
  CHECK(syncs_of([&] { leases = at.pool->lease(a, 10); }) == 0);
  REQUIRE(leases.size() == 10);
  CHECK(syncs_of([&] { at.answer(a, leases[0]); }) == 1);
  CHECK(syncs_of([&] { at.answer(a, leases[0]); }) == 0);  // a duplicate
  CHECK(syncs_of([&] { at.pool->give_back(a, leases[1].token); }) == 0);
  CHECK(syncs_of([&] {
          at.pool->batch([&] {
            for (size_t i = 2; i < 9; ++i) at.answer(a, leases[i]);
          });
        }) == 1);
  // The blob, its name in the folder, and the row.
  CHECK(syncs_of([&] { at.answer(a, leases[9], std::string(20000, 'x')); }) == 3);
}

TEST_CASE("durable: after a failed sync no result is acknowledged") {
  TestPool at("pool.db");
  const TaskId task = at.task(3);
  const NodeId a = at.join(3);
  const auto leases = at.pool->lease(a, 3);
  REQUIRE(leases.size() == 3);
  CHECK(at.answer(a, leases[0]) == Outcome::accepted);
  syncs_left = 0;
  CHECK_THROWS_AS(at.answer(a, leases[1]), StoreLost);
  syncs_left = -1;  // the system has forgotten the failure: the next sync would succeed
  CHECK_THROWS_AS(at.answer(a, leases[2]), StoreLost);
  CHECK(at.ended.size() == 1);
  at.pool.reset(), at.store.reset();
  at.store = open_sqlite_store(at.folder / "pool.db");
  at.open();
  CHECK(at.pool->progress(task).done >= 1);
  for (const Lease& lease : leases) at.answer(a, lease);
  CHECK(at.pool->progress(task) == Progress{.done = 3});
}

TEST_CASE("durable: a failed sync of a blob's name ends the pool") {
  const Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  const ByteVector content = bytes("weights");
  syncs_left = 0;
  CHECK(has(error_of([&] { blobs.put(content); }),
            "sync"));  // the file is deleted, and the blob can be put again
  syncs_left = 1;
  CHECK_THROWS_AS(blobs.put(content), StoreLost);
  syncs_left = -1;
  CHECK(text(blobs.read(blobs.put(content))) == "weights");
}

TEST_CASE("durable: a blob's name is synced even if no further file can be opened") {
  const Folder folder;
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  folders_open = false;
  const std::string error = error_of([&] { blobs.put(bytes("weights")); });
  folders_open = true;
  CHECK(error.empty());
  CHECK(syncs_of([&] { blobs.put(bytes("others")); }) == 2);
}

TEST_CASE("durable: names of blobs from before a crash are synced before a blob is used") {
  const Folder folder;
  const auto open = [&](bool durable) {
    return syncs_of([&] { BlobStore(folder / "blobs", {.free_floor = 0, .durable = durable}); });
  };
  CHECK(open(true) == 2);  // of the folder and of its parent
  CHECK(open(true) == 2);
  CHECK(open(false) == 0);
  syncs_left = 0;
  CHECK(error_of([&] { open(true); }) != "");
  syncs_left = -1;
}

TEST_CASE("durable: only the owner can read blobs, whatever their folder") {
  const Folder folder;
  fs::create_directories(folder / "blobs");
  fs::permissions(folder / "blobs", fs::perms(0755));
  BlobStore blobs(folder / "blobs", {.free_floor = 0});
  const BlobHash hash = blobs.put(bytes("private"));
  CHECK(fs::status(blobs.folder()).permissions() == fs::perms(0700));
  CHECK(fs::status(blobs.folder() / hash).permissions() == fs::perms(0600));
}

TEST_CASE("durable: only the owner of the pool's file can read its key") {
  TestPool at("pool.db");
  at.task(1);
  for (const std::string name : {"pool.db", "pool.db-wal"}) {
    INFO(name);
    const fs::perms mode = fs::status(at.folder / name).permissions();
    CHECK((mode & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  }
}

TEST_CASE("durable: blobs that are not durable do not wait for the disk") {
  const Folder folder;
  BlobStore kept(folder / "kept", {.free_floor = 0});
  BlobStore passing(folder / "passing", {.free_floor = 0, .durable = false});
  CHECK(syncs_of([&] { kept.put(bytes("weights")); }) == 2);
  CHECK(syncs_of([&] { passing.put(bytes("weights")); }) == 0);
  CHECK(text(passing.read(passing.put(bytes("weights")))) == "weights");
}
