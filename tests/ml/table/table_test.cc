// SPDX-License-Identifier: MIT
#include "ml/table/table.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"

using namespace kaiseki;
using namespace kaiseki::ml;

namespace {

std::string error_of(std::string_view text) {
  try {
    parse_table(text, "t.csv");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Table: a line of names, numbers and texts") {
  const DataTable t = parse_table("age,color,size\n1,red,2.5\n-2,blue,1e3\n", "t.csv");
  REQUIRE(t.columns.size() == 3);
  CHECK(t.has_names);
  CHECK(t.rows() == 2);
  CHECK(t.columns[0].name == "age");
  CHECK(t.columns[0].numbers == std::vector<float>{1, -2});
  CHECK(t.columns[1].texts == std::vector<std::string>{"red", "blue"});
  CHECK(t.columns[2].numbers == std::vector<float>{2.5f, 1000});
  CHECK(t.find("size") == 2);
  CHECK_FALSE(t.find("weight"));
  CHECK(t.place(1, 2) == "line 3, column 3 (size)");
}

TEST_CASE("Table: without names, columns have numbers") {
  const DataTable t = parse_table("1;2\n3;4", "t.csv");
  CHECK_FALSE(t.has_names);
  CHECK(t.rows() == 2);
  CHECK(t.columns[1].name == "2");
  CHECK(t.columns[1].numbers == std::vector<float>{2, 4});
  CHECK(t.place(0, 1) == "line 1, column 2");
  // Only texts: nothing shows that the first line has names.
  CHECK_FALSE(parse_table("a,b\nc,d\n", "t.csv").has_names);
  CHECK_FALSE(parse_table("a,1\nb,2\n", "t.csv").has_names);
  CHECK_FALSE(parse_table("7\n", "t.csv").has_names);
  // A caller may know more.
  CHECK(parse_table("a,b\nc,d\n", "t.csv", {.has_names = true}).columns[1].texts ==
        std::vector<std::string>{"d"});
  CHECK(parse_table("a,b\n1,d\n", "t.csv", {.has_names = false}).rows() == 2);
}

TEST_CASE("Table: only texts, and a name that the reader looks for") {
  const std::string text = "color,kind\nred,a\nblue,b\n";
  for (const TableForm& form : {TableForm{.names = {"kind"}}, TableForm{.texts = {"x", "color"}}}) {
    const DataTable t = parse_table(text, "t.csv", form);
    CHECK(t.has_names);
    CHECK(t.rows() == 2);
    CHECK(t.find("kind") == 1);
  }
  CHECK_FALSE(parse_table(text, "t.csv", {.names = {"2", "size"}}).has_names);
  // A number in the first line: 2 is the column's number.
  CHECK_FALSE(parse_table("red,2\nblue,3\n", "t.csv", {.names = {"2"}}).has_names);
}

TEST_CASE("Table: some of its rows") {
  const DataTable t = parse_table("age,color\n1,red\n2,\n3,blue\n", "t.csv");
  const std::vector<int32_t> rows{2, 0};
  const DataTable part = take_rows(t, rows);
  CHECK(part.rows() == 2);
  CHECK(part.columns[0].numbers == std::vector<float>{3, 1});
  CHECK(part.columns[1].texts == std::vector<std::string>{"blue", "red"});
  CHECK(part.place(0, 1) == "line 4, column 2 (color)");
}

TEST_CASE("Table: quotes, line ends, empty lines and a byte order mark") {
  const DataTable t =
      parse_table("\xef\xbb\xbfname\tn\r\n\"a\t\"\"b\"\"\nc\"\t1\r\n\r\n x \t2", "t.csv");
  REQUIRE(t.rows() == 2);
  CHECK(t.columns[0].name == "name");
  CHECK(t.columns[0].texts == std::vector<std::string>{"a\t\"b\"\nc", "x"});
  CHECK(t.lines == std::vector<int64_t>{2, 5});
}

TEST_CASE("Table: cells without a value") {
  const DataTable t = parse_table("a,b\n1,x\nNA,?\n,y\nnan,null\n", "t.csv");
  for (const int64_t row : {1, 2, 3}) CHECK_FALSE(t.columns[0].has_value(row));
  CHECK(t.columns[0].has_value(0));
  CHECK(std::isnan(*t.columns[0].number(1)));
  CHECK(t.columns[1].texts == std::vector<std::string>{"x", "", "y", ""});
  CHECK_FALSE(t.columns[1].number(0).has_value());
}

TEST_CASE("Table: one bad cell does not make numbers texts") {
  for (const std::string cell : {"1.2x", "0x10", "1 000", "nan(1)", "x"})
    CHECK(error_of("a;b\n1;2\n" + cell + ";3\n") ==
          "t.csv: line 3, column 1: expected a number, as above in the column, got '" + cell + "'");
  CHECK(error_of("a\n1\n1e400\n") ==
        "t.csv: line 3, column 1: expected a finite number of 32 bits, got '1e400'");
  CHECK(parse_table("a\n1\n-1e-400\n", "t.csv").columns[0].numbers == std::vector<float>{1, 0});
}

TEST_CASE("Table: columns that are known to be texts keep their cells") {
  const DataTable t = parse_table("zip,n\n01234,1\n1.0,2\n", "t.csv", {.texts = {"zip"}});
  CHECK(t.columns[0].texts == std::vector<std::string>{"01234", "1.0"});
  CHECK(t.columns[1].numbers == std::vector<float>{1, 2});
  CHECK(parse_table("c\nx\n7\n", "t.csv").columns[0].texts == std::vector<std::string>{"x", "7"});
}

TEST_CASE("Table: separators in quotes do not count, and other encodings are refused") {
  CHECK(parse_table("\"a,x,z,w\";b;y\n1;2;3\n", "t.csv").columns.size() == 3);
  CHECK(error_of("a,b\n1,2\n\xe9,3\n") == "t.csv: line 3: expected text in UTF-8");
  CHECK(error_of(std::string("\xff\xfe"
                             "a\0,\0b\0",
                             8)) == "t.csv: line 1: expected text in UTF-8");
}

TEST_CASE("Table: errors name line and column") {
  CHECK(error_of("") == "t.csv: line 1: expected a row, got none");
  CHECK_THROWS_WITH_AS(parse_table("a\n", "t.csv", {.has_names = true}),
                       "t.csv: line 2: expected a row, got none", ParseError);
  CHECK(error_of("\n\n") == "t.csv: line 1: expected a row, got none");
  CHECK(error_of("a,b\n1,2\n3\n") == "t.csv: line 3: expected 2 cells as in line 1, got 1");
  CHECK(
      error_of("a,b\n1,\"2\n") ==
      "t.csv: line 2, column 2: expected a quote at the end of the cell, got the end of the file");
  CHECK(error_of("a,b\n\"1\"x,2\n") ==
        "t.csv: line 2, column 1: expected the end of the cell after its quote, got 'x'");
  CHECK(error_of("a,a\n1,2\n") ==
        "t.csv: line 1, column 2: expected each name once, got 'a' again");
}
