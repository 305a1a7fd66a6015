// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using test::bytes_from;
namespace fs = std::filesystem;

namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

size_t files_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("file: is replaced in one step, also through a link, without leftovers") {
  test::Folder folder;
  fs::path path = folder.path / "w.bin", link = folder.path / "link";
  write_file_atomic(path, as_bytes("old"));
  fs::create_symlink(path, link);
  ByteView parts[] = {as_bytes("new "), {}, as_bytes("contents")};
  write_file_atomic(link, parts);
  CHECK(read_file(path) == bytes_from("new contents"));
  CHECK(fs::is_symlink(link));
  CHECK(files_in(folder.path) == 2);
  write_file_atomic("/dev/null", as_bytes("gone"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("file: temporary files that a killed process left do not matter") {
  test::Folder folder;
  const fs::path path = folder.path / "w.bin";
  for (int i = 0; i < 1000; ++i)
    std::ofstream(path.string() + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i));
  write_file_atomic(path, as_bytes("new"));
  CHECK(read_file(path) == bytes_from("new"));
  CHECK(files_in(folder.path) == 1001);
}

TEST_CASE("file: read and write errors have the file's name and the reason") {
  test::Folder folder;
  CHECK(error_of([&] { read_file(folder.path / "none"); }).find("none: No such file") !=
        std::string::npos);
  CHECK(error_of([&] { read_file(folder.path); }).find("Is a directory") != std::string::npos);
  CHECK(error_of([&] {
          write_file_atomic(folder.path / "no/file", as_bytes("x"));
        }).find("no/file: No such file") != std::string::npos);
  write_file_atomic(folder.path / "big", ByteVector(1000));
  CHECK(error_of([&] { read_file(folder.path / "big", 999); }).find("more than 999 bytes") !=
        std::string::npos);
}

TEST_CASE("file: a full disk throws Error, keeps the old file and deletes the temporary file") {
  test::Folder folder;
  fs::path path = folder.path / "w.bin";
  write_file_atomic(path, as_bytes("old"));
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string text = error_of([&] { write_file_atomic(path, ByteVector(100'000)); });
    ::_exit(text.find("w.bin: File too large") == std::string::npos);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(read_file(path) == bytes_from("old"));
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("file: expect_writable() throws if no file can be created") {
  test::Folder folder;
  const fs::path& in = folder.path;
  expect_writable(in / "new");
  CHECK(files_in(in) == 0);
  write_file_atomic(in / "old", bytes_from("old"));
  expect_writable(in / "old");
  CHECK(read_file(in / "old") == bytes_from("old"));
  fs::create_symlink("old", in / "link");
  expect_writable(in / "link");
  expect_writable("/dev/null");
  REQUIRE(::mkfifo((in / "pipe").c_str(), 0600) == 0);
  expect_writable(in / "pipe");  // does not wait for a reader
  fs::remove(in / "pipe");
  CHECK(error_of([&] { expect_writable(in / "none" / "f"); }).find("No such file") !=
        std::string::npos);
  CHECK(error_of([&] { expect_writable(in); }).find("directory") != std::string::npos);
  CHECK(error_of([&] { expect_writable(in / ""); }).find("directory") != std::string::npos);
  CHECK(error_of([&] { expect_writable(in / "old" / "f"); }).find("ot a directory") !=
        std::string::npos);
  CHECK(files_in(in) == 2);
}

TEST_CASE("byte source: a pipe without a writer is empty, and does not hang") {
  test::Folder folder;
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  CHECK(read_file(folder.path / "pipe").empty());
}

TEST_CASE("byte source: skips, counts and stops at the end") {
  test::Folder folder;
  ByteVector bytes(200'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 >> 3);
  write_file_atomic(folder.path / "f", bytes);
  FileSource source(folder.path / "f");
  source.skip(150'001, "it");
  CHECK(source.position() == 150'001);
  CHECK(source.read_bytes(9, "it") == ByteVector(bytes.begin() + 150'001, bytes.begin() + 150'010));
  CHECK(*source.remaining() == 49'990);
  CHECK(test::parse_error([&] { source.skip(49'991, "it"); }).find("byte") != std::string::npos);
  std::byte numbers[] = {std::byte{1}, std::byte{2}, std::byte{0xff}, std::byte{4}};
  CHECK(load_le<uint32_t>(numbers) == 0x04ff0201);
  CHECK(load_be<uint32_t>(numbers) == 0x0102ff04);
  CHECK(load_be<uint16_t>(numbers + 1) == 0x02ff);
}
