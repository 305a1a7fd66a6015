// SPDX-License-Identifier: MIT
#include "ml/table/encoder.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "ml/archive.h"

using namespace kaiseki;
using namespace kaiseki::ml;

namespace {

DataTable table(std::string_view text) { return parse_table(text, "t.csv"); }

template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("TableEncoder: numbers and categories, without the target") {
  TableEncoder encoder;
  encoder.fit(table("age,y,color\n1,5,red\n2,6,blue\n3,7,red\n"), "y");
  CHECK(encoder.feature_names() == std::vector<std::string>{"age", "color=blue", "color=red"});
  // Columns are found by name. Others are ignored.
  const Tensor x = encoder.encode(table("color,more,age\nblue,0,9\nred,0,8\n"));
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector() == std::vector<float>{9, 1, 0, 8, 0, 1});
}

TEST_CASE("TableEncoder: without names, columns are found by position") {
  TableEncoder encoder;
  encoder.fit(table("1,2\n3,4\n"), "2");
  CHECK(encoder.encode(table("5,6\n")).to_vector() == std::vector<float>{5});
  CHECK(encoder.encode(table("a,b\n5,6\n")).to_vector() == std::vector<float>{5});
  CHECK_FALSE(encoder.has_names());
}

TEST_CASE("TableEncoder: a text that looks like a number stays a text") {
  TableEncoder encoder;
  encoder.fit(table("code\n1\nb\n"));
  CHECK(encoder.encode(table("code\n1\n")).to_vector() == std::vector<float>{1, 0});
}

TEST_CASE("TableEncoder: cells without a value are refused, or filled") {
  const DataTable gaps = table("a,b\n1,x\n,y\n4,\n");
  CHECK(error_of([&] { TableEncoder().fit(gaps); }) ==
        "t.csv: line 3, column 1 (a): expected a value, got none");
  TableEncoder encoder(Missing::mean);
  encoder.fit(gaps);
  CHECK(encoder.feature_names() == std::vector<std::string>{"a", "b=", "b=x", "b=y"});
  CHECK(encoder.encode(gaps).to_vector() ==
        std::vector<float>{1, 0, 1, 0, 2.5, 0, 0, 1, 4, 1, 0, 0});
  CHECK(error_of([&] { TableEncoder(Missing::mean).fit(table("a,b\n1,\n2,\n")); }) ==
        "t.csv: column b: expected a value, got none");
}

TEST_CASE("TableEncoder: errors name line and column") {
  TableEncoder encoder;
  encoder.fit(table("a,b\n1,x\n2,y\n"));
  CHECK(error_of([&] { encoder.encode(table("a,c\n1,x\n")); }) ==
        "t.csv: line 1: expected the column b, got none");
  CHECK(error_of([&] { encoder.encode(table("a,b\n1,z\n")); }) ==
        "t.csv: line 2, column 2 (b): expected a text of the training data, got 'z'");
  CHECK(error_of([&] { encoder.encode(table("a,b\n1,x\nq,x\n")); }) ==
        "t.csv: line 3, column 1 (a): expected a number, got 'q'");
  CHECK(error_of([&] { encoder.encode(parse_table("a,b\n,x\n", "t.csv", true)); }) ==
        "t.csv: line 2, column 1 (a): expected a value, got none");
  CHECK(error_of([&] { encoder.fit(table("a\n1e50\n")); }) ==
        "t.csv: line 2, column 1 (a): expected a finite number of 32 bits, got inf");
  CHECK(error_of([&] { encoder.fit(table("a\n1\n"), "a"); }) ==
        "t.csv: line 1: expected a column besides the target");
}

TEST_CASE("TableEncoder: a column of names is no feature") {
  std::string text = "name\n";
  for (int i = 0; i < 1001; ++i) text += "n" + std::to_string(i) + "\n";
  CHECK(
      error_of([&] { TableEncoder().fit(parse_table(text, "t.csv", true)); }) ==
      "t.csv: column name: expected at most 1000 different texts, got 1001. Remove the column, or "
      "group its texts");
}

TEST_CASE("TableEncoder: an archive keeps everything") {
  TableEncoder encoder(Missing::mean);
  encoder.fit(table("a,b\n1,x\n3,y\n"));
  Archive written;
  encoder.archive(written);
  TableEncoder read;
  Archive reader(written.values(), written.tensors(), "file", true);
  read.archive(reader);
  reader.expect_all_read();
  CHECK(read.feature_names() == encoder.feature_names());
  CHECK(read.encode(parse_table("b,a\ny,\n", "t.csv", true)).to_vector() ==
        std::vector<float>{2, 0, 1});
}
