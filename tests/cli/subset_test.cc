// SPDX-License-Identifier: MIT
#include "cli/subset.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

using namespace kaiseki;

namespace {

/// Sample i is the four bytes of i. Its class is i / run % classes.
class Numbers : public nn::Dataset {
 public:
  Numbers(int64_t size, int classes, int64_t run) : size_(size), run_(run), classes_(classes) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return {1, 1, 4}; }
  int classes() const override { return classes_; }
  std::vector<std::string> class_names() const override {
    return std::vector<std::string>(static_cast<size_t>(classes_));
  }
  void read(int64_t index, uint8_t* out, int32_t& label, Random&) const override {
    const auto value = static_cast<int32_t>(index);
    std::memcpy(out, &value, sizeof(value));
    label = static_cast<int32_t>(index / run_ % classes_);
  }

 private:
  int64_t size_, run_;
  int classes_;
};

std::vector<int> labels_in(int64_t size, int64_t whole, int64_t run,
                           std::vector<int32_t>* all = {}) {
  const cli::Subset subset(std::make_shared<Numbers>(whole, 10, run), size);
  CHECK(subset.size() == size);
  std::vector<int> counts(10);
  for (int64_t i = 0; i < size; ++i) {
    uint8_t bytes[4] = {};
    int32_t label = 0;
    Random unused(0);
    subset.read(i, bytes, label, unused);
    ++counts[static_cast<size_t>(label)];
    int32_t value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    if (all) all->push_back(value);
  }
  return counts;
}

}  // namespace

TEST_CASE("--limit takes the same number of each class from a set sorted by class") {
  for (int count : labels_in(500, 50000, 5000)) CHECK(count == 50);
  CHECK(labels_in(10, 1000, 100) == std::vector<int>(10, 1));
}

TEST_CASE("--limit takes all classes from a set with alternating classes") {
  for (int64_t size : {200, 1000, 6000})
    for (int count : labels_in(size, 60000, 1)) {
      CHECK(count > 0.5 * static_cast<double>(size) / 10);
      CHECK(count < 1.5 * static_cast<double>(size) / 10);
    }
}

TEST_CASE("--limit takes distinct samples from the whole set, in ascending order, reproducibly") {
  for (int64_t size : {1, 7, 99, 100}) {
    std::vector<int32_t> samples, again;
    labels_in(size, 100, 1, &samples);
    labels_in(size, 100, 1, &again);
    CHECK(samples == again);
    CHECK(std::is_sorted(samples.begin(), samples.end()));
    CHECK(std::set<int32_t>(samples.begin(), samples.end()).size() == samples.size());
    CHECK(samples.back() >= 100 - 100 / size - 1);
    CHECK(samples.back() < 100);
  }
}
