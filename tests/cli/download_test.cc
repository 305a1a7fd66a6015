// SPDX-License-Identifier: MIT
#include "cli/download.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "matrix/error.h"
#include "nn/io/file.h"
#include "nn/io/sha256.h"
#include "tests/nn/io/folder.h"

using namespace kaiseki;
namespace fs = std::filesystem;

namespace {

/// tests/cli/http_server.py with one file of 100,000 bytes.
class Mirrors {
 public:
  Mirrors() : contents(100'000) {
    for (size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::byte>(i * i >> 5);
    nn::write_file_atomic(folder.path / "set.gz", contents);
    file = {"set.gz", contents.size(), nn::sha256(contents)};
    int to_server[2], from_server[2];
    REQUIRE(::pipe(to_server) == 0);
    REQUIRE(::pipe(from_server) == 0);
    server_ = ::fork();
    if (server_ == 0) {
      ::dup2(to_server[0], 0);
      ::dup2(from_server[1], 1);
      ::close(to_server[1]);
      ::execlp("python3", "python3", KAISEKI_SOURCE_DIR "/tests/cli/http_server.py",
               folder.path.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to_server[0]);
    ::close(from_server[1]);
    stdin_ = to_server[1];
    char c;
    while (::read(from_server[0], &c, 1) == 1 && c != '\n') port_ += c;
    ::close(from_server[0]);
    REQUIRE(!port_.empty());
    to = folder.path / "out.gz";
    part = folder.path / "out.gz.part";
  }

  ~Mirrors() {
    ::close(stdin_);
    ::waitpid(server_, nullptr, 0);
  }

  void fetch(std::initializer_list<const char*> habits) {
    std::vector<std::string> urls;
    for (std::string habit : habits)
      urls.push_back("http://127.0.0.1:" + port_ + "/" + habit + "/set.gz");
    cli::download_file(file, urls, to, {});
  }

  /// "HABIT FIRST_BYTE" for each request, in one line.
  std::string requests() const {
    std::ifstream log(folder.path / "requests.log");
    std::string all((std::istreambuf_iterator<char>(log)), {});
    for (char& c : all)
      if (c == '\n') c = ';';
    return all;
  }

  bool came() const { return fs::exists(to) && nn::read_file(to) == contents && !fs::exists(part); }

  test::Folder folder;
  nn::ByteVector contents;
  nn::RemoteFile file;
  fs::path to, part;

 private:
  pid_t server_;
  int stdin_;
  std::string port_;
};

}  // namespace

TEST_CASE("a file comes from the first mirror that has it") {
  Mirrors mirrors;
  mirrors.fetch({"none", "good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "good 0;");
}

TEST_CASE("what was cut off continues where it stopped") {
  Mirrors mirrors;
  CHECK_THROWS_AS(mirrors.fetch({"cut"}), Error);
  CHECK(!fs::exists(mirrors.to));
  CHECK(fs::file_size(mirrors.part) == 50'000);
  mirrors.fetch({"good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "cut 0;good 50000;");
}

TEST_CASE("a mirror that does not resume is read from the start") {
  Mirrors mirrors;
  mirrors.fetch({"cut", "plain"});
  CHECK(mirrors.came());
}

TEST_CASE("a wrong file is thrown away, and the next mirror asked") {
  Mirrors mirrors;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"wrong"}), doctest::Contains("SHA-256"), Error);
  CHECK(!fs::exists(mirrors.to));
  CHECK(!fs::exists(mirrors.part));
  mirrors.fetch({"wrong", "good"});
  CHECK(mirrors.came());
  mirrors.file.bytes = 10;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"good"}), doctest::Contains("expected 10 bytes, got more"),
                       Error);
}

TEST_CASE("a damaged beginning does not spoil the rest") {
  Mirrors mirrors;
  nn::write_file_atomic(mirrors.part, nn::ByteVector(70'000));
  mirrors.fetch({"good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "good 70000;good 0;");
}

TEST_CASE("without any mirror the error names each, and what to do") {
  Mirrors mirrors;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"none", "nothing"}), doctest::Contains("by hand"), Error);
}
