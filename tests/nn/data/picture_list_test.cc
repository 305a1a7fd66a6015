// SPDX-License-Identifier: MIT
// Lists of pictures with labels.
#include "base/error.h"
#include "tests/nn/data/pictures.h"
#include "tests/support/devices.h"
#include "tests/support/encode_picture.h"
#include "tests/support/folder.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Dataset> opened(const fs::path& spec, bool train = true) {
  return open_dataset({.spec = spec.string(), .train = train});
}

/// Picture i has the seed i.
void save_pictures(const fs::path& folder, int count) {
  fs::create_directories(folder);
  for (int i = 0; i < count; ++i)
    write_file_atomic(folder / (std::to_string(i) + ".png"),
                      test::encode_png(test::pattern(6, 6, 3, i)));
}

void write(const fs::path& file, std::string_view text) { write_file_atomic(file, as_bytes(text)); }

int32_t label_of(const Dataset& data, int64_t index) {
  int32_t label = -1;
  test::sample_of(data, index, &label);
  return label;
}

std::string error_of(const fs::path& list) {
  try {
    opened(list);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("picture list: labels are names or the numbers of the classes") {
  test::Folder folder;
  save_pictures(folder.path / "my photos", 4);
  write(folder.path / "names.txt",
        "my photos/2.png dog\r\n\n  \nmy photos/0.png\tcat\nmy photos/1.png  dog\nmy photos/3.png "
        "cat");
  const auto names = opened(folder.path / "names.txt");
  CHECK(names->class_names() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(names->size() == 2);  // the last picture of each class is for testing
  CHECK(label_of(*names, 0) == 1);
  CHECK(label_of(*names, 1) == 0);
  const auto held_out = opened(folder.path / "names.txt", false);
  REQUIRE(held_out->size() == 2);
  CHECK(label_of(*held_out, 0) == 1);
  CHECK(label_of(*held_out, 1) == 0);
  CHECK(test::sample_of(*names, 0)[0] == test::pattern(6, 6, 3, 2).pixels[0]);
  CHECK(test::sample_of(*names, 1)[0] == test::pattern(6, 6, 3, 0).pixels[0]);
  CHECK(test::sample_of(*held_out, 0)[0] == test::pattern(6, 6, 3, 1).pixels[0]);
  CHECK(test::sample_of(*held_out, 1)[0] == test::pattern(6, 6, 3, 3).pixels[0]);

  write(folder.path / "numbers.txt", "my photos/0.png 3\nmy photos/1.png 0\n");
  const auto numbers = opened(folder.path / "numbers.txt");
  CHECK(numbers->class_names() == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(label_of(*numbers, 0) == 3);
  CHECK(label_of(*numbers, 1) == 0);
}

TEST_CASE("picture list: a folder with two lists has two parts and the classes of both") {
  for (const std::string held_out : {"test.txt", "val.txt"}) {
    test::Folder folder;
    save_pictures(folder.path / "all", 4);
    write(folder.path / "train.txt", "all/0.png b\nall/1.png b\nall/2.png a\n");
    write(folder.path / held_out, "all/3.png c\n");
    const auto train = opened(folder.path), test = opened(folder.path, false);
    CHECK(train->size() == 3);
    CHECK(test->size() == 1);
    CHECK(train->class_names() == std::vector<std::string>{"a", "b", "c"});
    CHECK(test->class_names() == train->class_names());
    CHECK(label_of(*train, 0) == 1);
    CHECK(label_of(*train, 2) == 0);
    CHECK(label_of(*test, 0) == 2);
    const Picture third = test::pattern(6, 6, 3, 3);
    CHECK(test::sample_of(*test, 0)[0] == third.pixels[0]);
  }
}

TEST_CASE("picture list: an error names the line") {
  test::Folder folder;
  save_pictures(folder.path, 1);
  const fs::path list = folder.path / "list.txt";
  write(list, "0.png 1\n0.png\n");
  CHECK(error_of(list) == list.string() + ": line 2: expected PATH LABEL, got '0.png'");
  write(list, "0.png 1\n\n9.png 1\n");
  CHECK(error_of(list) == list.string() + ": line 3: expected a picture file, got none at 9.png");
  write(list, "");
  CHECK_THROWS_WITH_AS(opened(list), doctest::Contains("expected pictures in"), Error);
  for (const std::string label : {"-1", "1000000", "99999999999999999999"}) {
    write(list, "0.png " + label + "\n");
    CHECK(error_of(list) ==
          list.string() + ": line 1: expected a number from 0 to 999999 or a name, got " + label);
  }
}

}  // namespace kaiseki::nn
