// SPDX-License-Identifier: MIT
#include "nn/data/dataset.h"

#include <stdlib.h>

#include <algorithm>

#include "base/error.h"
#include "nn/data/class_split.h"
#include "nn/data/iterator.h"
#include "nn/data/source.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"
#include "tests/nn/data/pictures.h"
#include "tests/nn/io/damage.h"
#include "tests/support/devices.h"
#include "tests/support/encode_idx.h"
#include "tests/support/encode_picture.h"
#include "tests/support/folder.h"
#include "tests/support/read_batch.h"
#include "tests/support/tar.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::encode_idx;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Dataset> opened(const fs::path& spec, bool train, Preprocessing how = {}) {
  DataOptions options;
  options.spec = spec.string();
  options.train = train;
  options.preprocessing = how;
  return open_dataset(options);
}

ByteVector png(int seed) { return test::encode_png(test::pattern(6, 6, 3, seed)); }

void save(const fs::path& path, ByteView bytes) {
  fs::create_directories(path.parent_path());
  write_file_atomic(path, bytes);
}

/// Two records of classes 3 and 9. The pixels of channel c are 10 c + record.
ByteVector cifar_batch() {
  ByteVector file;
  for (int record = 0; record < 2; ++record) {
    file.push_back(static_cast<std::byte>(record ? 9 : 3));
    for (int c = 0; c < 3; ++c)
      file.insert(file.end(), 1024, static_cast<std::byte>(10 * c + record));
  }
  return file;
}

void check_cifar(const fs::path& path) {
  auto train = opened(path, true), test = opened(path, false);
  CHECK(train->size() == 4);
  CHECK(test->size() == 2);
  CHECK(train->sample_shape() == Shape{3, 32, 32});
  CHECK(train->class_names()[3] == "cat");
  int32_t label = 0;
  auto sample = test::sample_of(*train, 3, &label);
  CHECK(label == 9);
  CHECK(sample[0] == 1);
  CHECK(sample[3 * 1024 - 1] == 21);
}

}  // namespace

TEST_CASE("data set: reads a folder of IDX files") {
  test::Folder folder;
  ByteVector pixels(2 * 3 * 4);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(i);
  save(folder.path / "train-images-idx3-ubyte.gz", gzip(encode_idx({{2, 3, 4}, pixels})));
  ByteVector labels = {std::byte{5}, std::byte{7}};
  save(folder.path / "train-labels-idx1-ubyte", encode_idx({{2}, labels}));
  auto data = opened(folder.path, true);
  CHECK(data->size() == 2);
  CHECK(data->sample_shape() == Shape{1, 3, 4});
  CHECK(data->classes() == 8);
  int32_t label = 0;
  CHECK(test::sample_of(*data, 1, &label)[11] == 23);
  CHECK(label == 7);
  CHECK_THROWS_WITH_AS(opened(folder.path, false), doctest::Contains("t10k-images"), Error);
  labels.pop_back();
  save(folder.path / "train-labels-idx1-ubyte", encode_idx({{1}, labels}));
  CHECK_THROWS_WITH_AS(opened(folder.path, true), doctest::Contains("expected 2 labels"),
                       ParseError);
}

TEST_CASE("data set: an IDX folder has the classes of both splits") {
  test::Folder folder;
  for (const char* split : {"train", "t10k"}) {
    const std::string name = split;
    const std::byte most{name == "train" ? uint8_t{2} : uint8_t{3}};
    save(folder.path / (name + "-images-idx3-ubyte"), encode_idx({{2, 3, 4}, ByteVector(24)}));
    save(folder.path / (name + "-labels-idx1-ubyte"), encode_idx({{2}, {std::byte{0}, most}}));
  }
  CHECK(opened(folder.path, true)->classes() == 4);
  CHECK(opened(folder.path, false)->classes() == 4);
}

TEST_CASE("data set: reads CIFAR-10's binary batches from folders and archives") {
  test::Folder folder;
  fs::path batches = folder.path / "a" / "cifar-10-batches-bin";
  ByteVector archive;
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"}) {
    save(batches / name, cifar_batch());
    append_tar_file(archive, std::string("cifar-10-batches-bin/") + name, cifar_batch());
  }
  test::finish_tar(archive);
  save(folder.path / "b" / "cifar-10-binary.tar.gz", gzip(archive));
  check_cifar(batches);
  check_cifar(folder.path / "a");
  check_cifar(folder.path / "b");
  check_cifar(folder.path / "b" / "cifar-10-binary.tar.gz");
}

TEST_CASE("data set: damaged CIFAR-10 batches throw ParseError") {
  auto parse = [](ByteView file) {
    CifarBatch batch;
    append_cifar_batch(file, "data_batch_1.bin", batch);
  };
  ByteVector file = cifar_batch();
  CHECK(test::refuses(parse, ByteView(file).first(3072), "records of 3073 bytes"));
  CHECK(test::refuses(parse, {}, "got 0 bytes"));
  file[3073] = std::byte{10};
  CHECK(test::refuses(parse, file, "byte 3073: expected a class from 0 to 9"));
}

TEST_CASE("data set: a batch is bytes, and its inputs are (byte / 255 - mean) / std, bit for bit") {
  test::Folder folder;
  for (const char* path : {"train/cat/1.png", "train/cat/2.png", "train/dog/1.png"})
    save(folder.path / path, png(path[10]));
  const std::vector<float> mean = {0.485f, 0.456f, 0.406f}, std = {0.229f, 0.224f, 0.225f};
  for (const Normalization& how : {Normalization{}, Normalization{mean, std}}) {
    DataOptions options;
    options.spec = folder.path.string();
    options.preprocessing = {.height = 9, .width = 7, .padding = 2, .flip = true};
    options.normalization = how;
    const int64_t indices[] = {0, 1};
    const Batch batch = test::read_batch(*open_dataset(options), indices);
    CHECK(batch.normalization == how);
    CHECK(batch.images.dtype() == DType::u8);
    const std::vector<uint8_t> bytes = batch.images.to_vector<uint8_t>();
    std::vector<float> expected;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t c = i / 63 % 3;
      const float x = static_cast<float>(bytes[i]) / 255.0f;
      expected.push_back(how.mean.empty() ? x : (x - mean[c]) / std[c]);
    }
    test::for_each_device([&](Device device) {
      CHECK(batch.inputs(device).device() == device);
      CHECK(batch.inputs(device).to_vector() == expected);
    });
  }
}

TEST_CASE("data set: a mean image is subtracted after crop and flip") {
  test::Folder folder;
  for (const char* path : {"train/cat/1.png", "train/dog/1.png"})
    save(folder.path / path, png(path[10]));
  DataOptions options;
  options.spec = folder.path.string();
  options.preprocessing = {.height = 9, .width = 7, .padding = 2, .flip = true};
  for (int i = 0; i < 3 * 9 * 7; ++i)
    options.normalization.mean.push_back(static_cast<float>(i) / 200);
  const int64_t indices[] = {0, 1};
  const Batch batch = test::read_batch(*open_dataset(options), indices);
  const std::vector<uint8_t> bytes = batch.images.to_vector<uint8_t>();
  std::vector<float> expected;
  for (size_t i = 0; i < bytes.size(); ++i)
    expected.push_back(static_cast<float>(bytes[i]) / 255.0f - static_cast<float>(i % 189) / 200);
  test::for_each_device(
      [&](Device device) { CHECK(batch.inputs(device).to_vector() == expected); });
  options.normalization.mean.pop_back();
  CHECK_THROWS_WITH_AS(open_dataset(options),
                       doctest::Contains("a mean image of shape [3, 9, 7], got 188"), ShapeError);
}

TEST_CASE("data set: a mean or std that does not fit the channels is refused when it is opened") {
  DataOptions options;
  options.spec = "digits:10";
  options.normalization.mean = {0.1f, 0.2f};
  CHECK_THROWS_WITH_AS(open_dataset(options), doctest::Contains("for each of 1 channels"),
                       ShapeError);
  options.normalization = {{}, {0}};
  CHECK_THROWS_WITH_AS(open_dataset(options), doctest::Contains("a std above 0"), ShapeError);
}

TEST_CASE("data set: the file of a sample and its place give the bytes of the sample") {
  test::Folder folder;
  ByteVector archive;
  for (const char* path : {"train/cat/1.png", "train/cat/2.png", "train/dog/1.png"}) {
    save(folder.path / "tree" / path, png(path[10]));
    append_tar_file(archive, path, png(path[10]));
  }
  test::finish_tar(archive);
  save(folder.path / "a.tar", archive);
  save(folder.path / "a.tar.gz", gzip(archive));
  const Preprocessing how{
      .channels = 3, .height = 5, .width = 7, .resize = 9, .padding = 2, .flip = true};
  for (const char* name : {"tree", "a.tar", "a.tar.gz"})
    for (const uint64_t cache : {0, 1 << 20}) {
      DataOptions options;
      options.spec = (folder.path / name).string();
      options.preprocessing = how;
      options.cache_bytes = cache;
      const std::shared_ptr<const Dataset> data = open_dataset(options);
      Iterator iterator(data, {.batch_size = 3, .seed = 4, .files = true});
      for (int epoch = 0; epoch < 4; ++epoch) {
        Batch batch;
        iterator.next(batch);
        REQUIRE(int64_t(batch.files.size()) == batch.images.dim(0));
        std::vector<uint8_t> cut(105 * batch.files.size());
        for (size_t i = 0; i < batch.files.size(); ++i) {
          const SampleFile& file = batch.files[i];
          cut_sample(decode_picture_portable(file.bytes, "x", 3, file.as_stored), file.place, 5, 7,
                     cut.data() + 105 * i);
        }
        CHECK(cut == batch.images.to_vector<uint8_t>());
      }
    }
  Iterator digits(open_dataset({.spec = "digits:10"}), {.batch_size = 3, .files = true});
  Batch batch;
  digits.next(batch);
  CHECK(batch.files.empty());
}

TEST_CASE("data set: a folder of classes and a tar of it give the same samples") {
  test::Folder folder;
  ByteVector archive;
  int seed = 0;
  for (const char* path : {"train/cat/1.png", "train/cat/2.PNG", "train/dog/1.png",
                           "test/cat/9.png", "test/dog/9.png", "test/emu/9.png"}) {
    save(folder.path / "tree" / path, png(++seed));
    append_tar_file(archive, std::string("./top/") + path, png(seed));
  }
  save(folder.path / "tree/train/readme.txt", {});
  append_tar_file(archive, "top/train/cat/._1.png", as_bytes("junk"));
  test::finish_tar(archive);
  save(folder.path / "a.tar", archive);
  save(folder.path / "a.tar.gz", gzip(archive));
  auto expected = opened(folder.path / "tree", true);
  CHECK(expected->size() == 3);
  CHECK(expected->class_names() == std::vector<std::string>{"cat", "dog", "emu"});
  for (const char* name : {"tree", "a.tar", "a.tar.gz"}) {
    auto train = opened(folder.path / name, true), test = opened(folder.path / name, false);
    CHECK(train->class_names() == expected->class_names());
    CHECK(train->size() == 3);
    CHECK(test->size() == 3);
    for (int round = 0; round < 2; ++round)  // decoded, then from memory
      for (int i = 0; i < 3; ++i) {
        int32_t label = -1, wanted = -1;
        CHECK(test::sample_of(*train, i, &label) == test::sample_of(*expected, i, &wanted));
        CHECK(label == wanted);
        test::sample_of(*test, i, &label);
        CHECK(label == i);
      }
  }
}

TEST_CASE("data set: without train and test folders, a tenth of each class is for testing") {
  std::vector<std::string> paths;
  for (int i = 0; i < 25; ++i) paths.push_back("d/b/" + std::to_string(100 + i) + ".jpg");
  for (int i = 0; i < 3; ++i) paths.push_back("d/a/" + std::to_string(i) + ".jpg");
  paths.push_back("d/c/only.jpg");
  std::reverse(paths.begin(), paths.end());
  auto train = split_by_class(paths, true, "d"), test = split_by_class(paths, false, "d");
  CHECK(train.class_names == std::vector<std::string>{"a", "b", "c"});
  std::vector<std::string> held_out;
  for (auto item : test.items) held_out.push_back(paths[item.path]);
  CHECK(held_out ==
        std::vector<std::string>{"d/a/2.jpg", "d/b/109.jpg", "d/b/119.jpg", "d/c/only.jpg"});
  CHECK(train.items.size() == 26);
  CHECK(train.items.back().label == 2);
  CHECK_THROWS_AS(split_by_class({}, true, "d"), Error);
  CHECK_THROWS_WITH_AS(split_by_class({"x.jpg"}, true, "d"), doctest::Contains("one folder"),
                       Error);
  CHECK(is_picture_name("a/b.JPEG"));
  CHECK(!is_picture_name("a.png/b"));
  CHECK(!is_picture_name("png"));
}

TEST_CASE("data set: reading a damaged picture throws ParseError with its name") {
  test::Folder folder;
  save(folder.path / "cat/1.png", png(1));
  ByteVector broken = png(2);
  broken.resize(broken.size() / 2);
  save(folder.path / "cat/2.png", broken);
  for (int i = 3; i < 12; ++i) save(folder.path / "cat" / (std::to_string(i) + ".png"), png(i));
  auto data = opened(folder.path, true);
  std::string found;
  for (int i = 0; i < data->size(); ++i)
    found += test::parse_error([&] { test::sample_of(*data, i); });
  CHECK(found.find("cat/2.png: byte ") != std::string::npos);
}

TEST_CASE("data set: a name is looked up in KAISEKI_DATA and the cache, then downloaded") {
  test::Folder folder;
  std::string before = getenv("KAISEKI_DATA") ? getenv("KAISEKI_DATA") : "";
  ::setenv("KAISEKI_DATA", (folder.path / "data").c_str(), 1);
  ::setenv("KAISEKI_CACHE_DIR", (folder.path / "cache").c_str(), 1);
  const RemoteSet* mnist = find_remote_set("mnist");
  REQUIRE(mnist);
  CHECK(!find_remote_set("mnist2"));
  CHECK_THROWS_WITH_AS(locate_set(*mnist, {}), doctest::Contains("KAISEKI_DATA"), Error);
  std::vector<std::string> asked;
  Fetch fetch = [&](const RemoteFile& file, std::span<const std::string> urls, const fs::path& to) {
    CHECK(urls.size() >= 2);
    CHECK(urls[0].ends_with("/" + file.name));
    CHECK(file.sha256.size() == 64);
    asked.push_back(file.name);
    save(to, as_bytes("x"));
  };
  CHECK(locate_set(*mnist, fetch) == folder.path / "cache/data/mnist");
  CHECK(asked.size() == 4);
  CHECK(locate_set(*mnist, {}) == folder.path / "cache/data/mnist");
  for (const RemoteFile& file : mnist->files)
    save(folder.path / "data" / file.name.substr(0, file.name.size() - 3), as_bytes("x"));
  CHECK(locate_set(*mnist, {}) == folder.path / "data");
  for (const RemoteFile& file : mnist->files) save(folder.path / "data/mnist" / file.name, {});
  CHECK(locate_set(*mnist, {}) == folder.path / "data/mnist");
  ::unsetenv("KAISEKI_CACHE_DIR");
  before.empty() ? ::unsetenv("KAISEKI_DATA") : ::setenv("KAISEKI_DATA", before.c_str(), 1);
}

TEST_CASE("data set: a path that does not exist throws an error with the accepted values") {
  CHECK_THROWS_WITH_AS(opened("no-such-thing", true),
                       doctest::Contains("digits or an existing path"), Error);
}
