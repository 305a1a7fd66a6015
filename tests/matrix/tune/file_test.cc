// SPDX-License-Identifier: MIT
// Measurements on disk are found again, replaced, and shared by processes. A damaged file only
// loses measurements.
#include "matrix/tune/file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/cache_file.h"
#include "tests/support/cache_folder.h"

namespace kaiseki {
namespace {

TuningKey key(const std::string& which) {
  return {"a \"chip\"\t", "1.2\\3", 2, "convolution", which};
}

const std::vector<TuningResult> kResults = {{"fast", 0.25, 1024}, {"slow", 1e3, 0}};

std::string contents() {
  std::ifstream in(tuning_file());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("tuning file: results are found by their whole key") {
  test::CacheFolder folder("tuning");
  CHECK(recall_tuning(key("one")).empty());
  remember_tuning(key("one"), kResults);
  remember_tuning(key("two"), {{"other", 3, 7}});
  CHECK(recall_tuning(key("one")) == kResults);
  CHECK(recall_tuning(key("two")).size() == 1);
  for (int i = 0; i < 4; ++i) {
    TuningKey other = key("one");
    if (i == 0) other.device.pop_back();
    if (i == 1) other.driver = "";
    if (i == 2) other.threads = 1;
    if (i == 3) other.operation = "gemm";
    CHECK(recall_tuning(other).empty());
  }
  remember_tuning(key("one"), {{"slow", 0.5, 0}});
  CHECK(recall_tuning(key("one")).size() == kResults.size());  // the other candidates stay
  CHECK(recall_tuning(key("one")).back() == TuningResult{"slow", 0.5, 0});
  CHECK(recall_tuning(key("two")).size() == 1);
}

TEST_CASE("tuning file: a line is JSON without spaces") {
  test::CacheFolder folder("tuning_line");
  remember_tuning(key("one"), {{"fast \"1\"", 0.25, 1024}, {"bad", 0, 7, TuningOutcome::wrong}});
  const std::string start = R"({"device":"a \"chip\"\t","driver":"1.2\\3","version":")" +
                            library_version() +
                            R"(","threads":2,"operation":"convolution","case":"one",)";
  CHECK(contents() == start + R"("candidate":"fast \"1\"","milliseconds":0.25,"workspace":1024})" +
                          '\n' + start + R"("candidate":"bad","outcome":"wrong","workspace":7})" +
                          '\n');
  CHECK(recall_tuning(key("one")).size() == 2);
}

TEST_CASE("tuning file: truncated, of another version, or not a tuning file") {
  test::CacheFolder folder("tuning_damaged");
  remember_tuning(key("one"), kResults);
  const std::string whole = contents();
  for (size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(tuning_file(), std::ios::trunc) << whole.substr(0, length);
    const auto results = recall_tuning(key("one"));
    CHECK(results.size() <= 2);
    for (const TuningResult& result : results)
      CHECK((result == kResults[0] || result == kResults[1]));
  }
  std::string other = whole;
  other.replace(other.find("\"version\":\"") + 11, 1, "x");
  for (std::string bad :
       {other, std::string("\0\xff{}", 4), std::string(100000, '{'),
        whole.substr(0, whole.find("0.25")) + "nan,\"workspace\":1}\n",
        whole.substr(0, whole.find("0.25")) + "-1,\"workspace\":1}\n",
        whole.substr(0, whole.find("0.25")) + "1,\"workspace\":99999999999999999999}\n"}) {
    std::ofstream(tuning_file(), std::ios::trunc) << bad;
    const auto results = recall_tuning(key("one"));
    for (const TuningResult& result : results) CHECK(result == kResults[1]);
    remember_tuning(key("one"), kResults);
    CHECK(recall_tuning(key("one")) == kResults);
  }
}

#ifndef __EMSCRIPTEN__  // it cannot set a file's time
TEST_CASE("tuning file: leftovers of a killed process are removed once, and no other files") {
  test::CacheFolder folder("tuning_left");
  std::filesystem::create_directories(folder.path());
  const auto old = folder.path() / "tuning.jsonl.tmp-77-1", fresh = folder.path() / "a.tmp-78-2";
  const auto age = [](const std::filesystem::path& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  };
  std::ofstream(old) << "half a li";
  age(old);
  std::ofstream(fresh) << "being written";
  const char* const others[] = {"notes.tmp", "page.tmpl",     "a.tmp-7",     "a.tmp7-1",
                                "a.tmp-7-",  "a.tmp-7-1.txt", "a.tmp-7-1-2", "atmp-7-1"};
  for (const char* other : others) {
    std::ofstream(folder.path() / other) << "another program's";
    age(folder.path() / other);
  }
  std::filesystem::create_directory(folder.path() / "folder.tmp-7-1");
  age(folder.path() / "folder.tmp-7-1");
  remember_tuning(key("one"), kResults);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(fresh));
  for (const char* other : others) CHECK(std::filesystem::exists(folder.path() / other));
  CHECK(std::filesystem::exists(folder.path() / "folder.tmp-7-1"));
  age(fresh);
  remember_tuning(key("two"), kResults);
  CHECK(std::filesystem::exists(fresh));
}
#endif

TEST_CASE("tuning file: a folder that cannot be written is not an error") {
  test::CacheFolder folder("tuning_file_as_folder");
  std::ofstream(folder.path()) << "a file where the folder should be";
  remember_tuning(key("one"), kResults);
  CHECK(recall_tuning(key("one")).empty());
}

TEST_CASE("tuning file: after two processes write at once, it has the last results of both") {
  test::CacheFolder folder("tuning_processes");
  remember_tuning(key("before"), kResults);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 200; ++i) remember_tuning(key("child"), {{"c", static_cast<double>(i), 0}});
    _exit(0);
  }
  bool whole = true;
  for (int i = 0; i < 200; ++i) {
    remember_tuning(key("parent"), {{"p", static_cast<double>(i), 0}});
    whole = whole && recall_tuning(key("before")) == kResults;
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(whole);
  const auto parent = recall_tuning(key("parent")), other = recall_tuning(key("child"));
  CHECK(parent == std::vector<TuningResult>{{"p", 199, 0}});
  CHECK(other == std::vector<TuningResult>{{"c", 199, 0}});
}

}  // namespace kaiseki
