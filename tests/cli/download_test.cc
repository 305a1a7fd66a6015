// SPDX-License-Identifier: MIT
#include "cli/download.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "tests/support/folder.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
namespace fs = std::filesystem;

namespace {

/// Runs tests/cli/http_server.py with one file of 100,000 bytes.
class Mirrors {
 public:
  Mirrors() : contents(100'000) {
    for (size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::byte>(i * i >> 5);
    write_file_atomic(folder.path / "set.gz", contents);
    file = {"set.gz", contents.size(), sha256(contents)};
    int to_server[2], from_server[2];
    REQUIRE(::pipe(to_server) == 0);
    REQUIRE(::pipe(from_server) == 0);
    server_ = ::fork();
    if (server_ == 0) {
      ::dup2(to_server[0], 0);
      ::dup2(from_server[1], 1);
      ::close(to_server[1]);
      ::execlp("python3", "python3", (test::source_dir() + "/tests/cli/http_server.py").c_str(),
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

  bool came() const { return fs::exists(to) && read_file(to) == contents && !fs::exists(part); }

  test::Folder folder;
  ByteVector contents;
  nn::RemoteFile file;
  fs::path to, part;

 private:
  pid_t server_;
  int stdin_;
  std::string port_;
};

}  // namespace

TEST_CASE("download: a file comes from the first mirror that has it") {
  Mirrors mirrors;
  mirrors.fetch({"none", "good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "good 0;");
}

TEST_CASE("download: an interrupted download resumes at the last byte") {
  Mirrors mirrors;
  CHECK_THROWS_AS(mirrors.fetch({"cut"}), Error);
  CHECK(!fs::exists(mirrors.to));
  CHECK(fs::file_size(mirrors.part) == 50'000);
  mirrors.fetch({"good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "cut 0;good 50000;");
}

TEST_CASE("download: restarts from the first byte if the mirror does not support ranges") {
  Mirrors mirrors;
  mirrors.fetch({"cut", "plain"});
  CHECK(mirrors.came());
}

TEST_CASE("download: a file with a wrong checksum is deleted, and the next mirror is used") {
  Mirrors mirrors;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"wrong"}), doctest::Contains("SHA-256"), Error);
  CHECK(!fs::exists(mirrors.to));
  CHECK(!fs::exists(mirrors.part));
  mirrors.fetch({"wrong", "good"});
  CHECK(mirrors.came());
  mirrors.file.bytes = 10;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"good"}), doctest::Contains("sent more than 10 bytes"),
                       Error);
}

TEST_CASE("download: recovers from a partial file that is damaged") {
  Mirrors mirrors;
  write_file_atomic(mirrors.part, ByteVector(70'000));
  mirrors.fetch({"good"});
  CHECK(mirrors.came());
  CHECK(mirrors.requests() == "good 70000;good 0;");
}

TEST_CASE("download: if all mirrors fail, the error names each of them and a remedy") {
  Mirrors mirrors;
  CHECK_THROWS_WITH_AS(mirrors.fetch({"none", "nothing"}), doctest::Contains("yourself"), Error);
}
