// SPDX-License-Identifier: MIT
// Tests with real data sets, if KAISEKI_DATA names a folder that has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/environment.h"
#include "base/sha256.h"
#include "nn/data/iterator.h"
#include "nn/io/gzip.h"
#include "tests/nn/data/pictures.h"

using namespace kaiseki;
using namespace kaiseki::nn;
namespace fs = std::filesystem;

namespace {

bool have(const fs::path& file) {
  fs::path folder = environment().data_dir;
  if (!folder.empty() && fs::exists(folder / file)) return true;
  std::printf("SKIPPED: %s is not in KAISEKI_DATA\n", file.c_str());
  return false;
}

std::shared_ptr<const Dataset> open(const std::string& spec, bool train, Preprocessing how = {}) {
  DataOptions options;
  options.spec = spec;
  options.train = train;
  options.preprocessing = std::move(how);
  return open_dataset(options);
}

}  // namespace

TEST_CASE("real data: MNIST is complete") {
  if (!have("mnist")) return;
  auto packed =
      open_maybe_gzip(environment().data_dir / "mnist/train-images-idx3-ubyte.gz", 1 << 27);
  CHECK(sha256(packed->read_all(1 << 27)) ==
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db");
  for (bool train : {true, false}) {
    auto data = open("mnist", train);
    CHECK(data->size() == (train ? 60000 : 10000));
    double sum = 0, squares = 0;
    std::vector<int> classes(10);
    for (int64_t i = 0; i < data->size(); i += 10) {
      int32_t label = -1;
      for (float v : test::sample_of(*data, i, &label)) sum += v, squares += double{v} * v;
      ++classes[static_cast<size_t>(label)];
    }
    double n = static_cast<double>(data->size()) / 10 * 784, mean = sum / n;
    CHECK(mean == doctest::Approx(0.1307).epsilon(0.02));  // the usual published value
    CHECK(std::sqrt(squares / n - mean * mean) == doctest::Approx(0.3081).epsilon(0.02));
    for (int count : classes) CHECK(count > data->size() / 10 / 15);
  }
  int32_t label = -1;
  test::sample_of(*open("mnist", true), 0, &label);
  CHECK(label == 5);
}

TEST_CASE("real data: CIFAR-10 is read from a compressed tar of JPEG") {
  if (!have("cifar10")) return;
  auto test = open("cifar10", false);
  CHECK(test->size() == 10000);
  CHECK(test->class_names()[9] == "truck");
  auto train = open("cifar10", true, {.padding = 4, .flip = true});
  CHECK(train->size() == 50000);
  CHECK(train->sample_shape() == Shape{3, 32, 32});
  std::vector<double> sums;
  for (int workers : {1, 3}) {
    Iterator iterator(train, {.batch_size = 50, .seed = 2, .workers = workers});
    Batch batch;
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
      REQUIRE(iterator.next(batch));
      for (float v : batch.images.to_vector()) sum += v;
    }
    sums.push_back(sum);
  }
  CHECK(sums[0] == sums[1]);
  CHECK(sums[0] / (1000 * 3072) == doctest::Approx(0.44).epsilon(0.1));
}

TEST_CASE("real data: a sample of ImageNet is resized and cropped") {
  fs::path file = "imagenet-sample/imagenet-sample-256.tar.gz";
  if (!have(file)) return;
  auto data = open((environment().data_dir / file).string(), true,
                   {.height = 224, .width = 224, .resize = 256, .random_crop = true, .flip = true});
  CHECK(data->size() == 1000);
  CHECK(data->classes() == 1000);
  for (int i = 0; i < 1000; ++i) {
    auto sample = test::sample_of(*data, i, nullptr, static_cast<uint64_t>(i));
    CHECK(*std::min_element(sample.begin(), sample.end()) >= 0);
    CHECK(*std::max_element(sample.begin(), sample.end()) <= 1);
  }
}
