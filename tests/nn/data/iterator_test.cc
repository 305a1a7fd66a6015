// SPDX-License-Identifier: MIT
#include "nn/data/iterator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "tests/nn/data/pictures.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

/// Sample i is {i, a random number}. Its class is i % 7.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t count, int64_t broken = -1) : count_(count), broken_(broken) {}
  int64_t size() const override { return count_; }
  Shape sample_shape() const override { return {1, 1, 2}; }
  int classes() const override { return 7; }
  std::vector<std::string> class_names() const override { return std::vector<std::string>(7); }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    ++reads;
    if (index == broken_) throw ParseError("7.jpg", "byte 3", "expected better");
    out[0] = static_cast<uint8_t>(index);
    out[1] = static_cast<uint8_t>(augmentation.below(256));
    label = static_cast<int32_t>(index % 7);
  }
  mutable std::atomic<int64_t> reads = 0;

 private:
  int64_t count_, broken_;
};

using Bytes = std::vector<uint8_t>;

Bytes take(Iterator& iterator, int batches) {
  Bytes all;
  Batch batch;
  for (int i = 0; i < batches; ++i) {
    REQUIRE(iterator.next(batch));
    auto values = batch.images.to_vector<uint8_t>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::shared_ptr<Numbers> numbers(int64_t count, int64_t broken = -1) {
  return std::make_shared<Numbers>(count, broken);
}

}  // namespace

TEST_CASE("iterator: an epoch has every sample once; the last batch may be smaller") {
  Iterator iterator(numbers(23), {.batch_size = 5, .repeat = false});
  CHECK(iterator.batches_per_epoch() == 5);
  std::vector<int> seen;
  Batch batch;
  for (int i = 0; iterator.next(batch); ++i) {
    CHECK(batch.images.shape() == Shape{i < 4 ? 5 : 3, 1, 1, 2});
    CHECK(iterator.is_new_epoch() == (i == 4));
    for (int64_t k = 0; k < batch.labels.size(); ++k) {
      int index = batch.images.data<uint8_t>()[2 * k];
      CHECK(batch.labels.data<int32_t>()[k] == index % 7);
      seen.push_back(index);
    }
  }
  CHECK(iterator.epoch() == 1);
  CHECK(iterator.position() == 0);
  CHECK(!std::is_sorted(seen.begin(), seen.end()));
  std::sort(seen.begin(), seen.end());
  std::vector<int> all(23);
  std::iota(all.begin(), all.end(), 0);
  CHECK(seen == all);
  CHECK(!iterator.next(batch));
}

TEST_CASE("iterator: order and augmentation depend on the seed, not on the number of threads") {
  Bytes one, first_epoch, second_epoch;
  for (int workers : {1, 2, 3, 8}) {
    Iterator iterator(numbers(101),
                      {.batch_size = 7, .seed = 9, .workers = workers, .prefetch = 5});
    auto all = take(iterator, 40);
    if (one.empty()) one = all;
    CHECK(all == one);
  }
  Iterator other(numbers(101), {.batch_size = 7, .seed = 10});
  CHECK(take(other, 40) != one);
  first_epoch.assign(one.begin(), one.begin() + 202);
  second_epoch.assign(one.begin() + 202, one.begin() + 404);
  CHECK(first_epoch != second_epoch);
}

TEST_CASE("iterator: without shuffling, samples are in the order of the data set") {
  Iterator iterator(numbers(10), {.batch_size = 4, .shuffle = false});
  auto all = take(iterator, 3);
  for (size_t i = 0; i < 10; ++i) CHECK(all[2 * i] == i);
}

TEST_CASE("iterator: another batch size in an epoch loses and repeats no sample") {
  Iterator whole(numbers(101), {.batch_size = 101, .seed = 9});
  const Bytes all = take(whole, 2);
  Iterator iterator(numbers(101), {.batch_size = 7, .seed = 9, .workers = 2});
  Bytes found = take(iterator, 3);  // 21 samples
  for (const auto& [size, batches] : {std::pair{20, 3}, {1, 2}, {9, 2}, {101, 1}}) {
    iterator.set_batch_size(size);
    const Bytes more = take(iterator, batches);
    found.insert(found.end(), more.begin(), more.end());
  }
  CHECK(iterator.epoch() == 2);  // 21 + 60 + 2 + 18, then a whole epoch
  CHECK(found == all);
  CHECK_THROWS_AS(iterator.set_batch_size(0), Error);
}

TEST_CASE("iterator: machines share each batch, in its order") {
  const auto data = numbers(23);
  for (const int machines : {1, 2, 3, 7}) {
    CAPTURE(machines);
    Iterator whole(data, {.batch_size = 5, .seed = 3});
    const Bytes all = take(whole, 10);
    std::vector<std::unique_ptr<Iterator>> shares;
    for (int i = 0; i < machines; ++i)
      shares.push_back(std::make_unique<Iterator>(
          data, IteratorOptions{.batch_size = 5, .seed = 3, .share = {i, machines}}));
    Bytes together;
    for (int batch = 0; batch < 10; ++batch)
      for (const auto& one : shares) {
        const Bytes part = take(*one, 1);  // may be empty
        together.insert(together.end(), part.begin(), part.end());
      }
    CHECK(together == all);
    for (const auto& one : shares) CHECK(one->state() == whole.state());
  }
  for (const BatchShare& wrong : {BatchShare{-1, 2}, BatchShare{2, 2}, BatchShare{0, 0}})
    CHECK_THROWS_WITH_AS(Iterator(data, {.share = wrong}), doctest::Contains("share"), Error);
}

TEST_CASE("iterator: a restored iterator continues with the next batch") {
  for (int before : {0, 1, 3, 5, 12}) {
    Iterator whole(numbers(23), {.batch_size = 5, .seed = 4});
    take(whole, before);
    IteratorState state = whole.state();
    Iterator resumed(numbers(23), {.batch_size = 5, .seed = 99, .workers = 3});
    take(resumed, 2);
    resumed.restore(state);
    CHECK(resumed.state() == state);
    CHECK(take(resumed, 8) == take(whole, 8));
    CHECK(resumed.state() == whole.state());
  }
  Iterator iterator(numbers(23), {});
  CHECK_THROWS_AS(iterator.restore({0, 0, 23}), Error);
  CHECK_THROWS_AS(iterator.restore({0, -1, 0}), Error);
}

TEST_CASE("iterator: next() rethrows a worker's exception for its batch, each time") {
  Iterator iterator(numbers(20, 13), {.batch_size = 5, .shuffle = false, .workers = 2});
  Batch batch;
  CHECK(iterator.next(batch));
  CHECK(iterator.next(batch));
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(iterator.next(batch), doctest::Contains("7.jpg"), ParseError);
}

TEST_CASE("iterator: wait_seconds() counts waiting, except for the first batch") {
  class Slow : public Numbers {
   public:
    Slow() : Numbers(100) {}
    void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // simulates work
      Numbers::read(index, out, label, augmentation);
    }
  };
  Iterator iterator(std::make_shared<Slow>(), {.batch_size = 1, .workers = 1});
  CHECK(iterator.wait_seconds() == 0);
  take(iterator, 1);
  CHECK(iterator.wait_seconds() == 0);
  take(iterator, 10);
  const double waited = iterator.wait_seconds();
  CHECK(waited > 0);
  iterator.restore(iterator.state());
  take(iterator, 1);
  CHECK(iterator.wait_seconds() == waited);
}

TEST_CASE("iterator: prepares at most the given number of batches, and stops at once") {
  struct Ahead {
    int workers, prefetch, batches;
  };
  for (const Ahead& how : {Ahead{2, 3, 3}, Ahead{4, 2, 5}}) {
    auto data = numbers(1'000'000);
    {
      Iterator iterator(data, {.batch_size = 10, .workers = how.workers, .prefetch = how.prefetch});
      take(iterator, 1);
    }
    CHECK(data->reads <= 10 * (1 + how.batches));
    const Iterator iterator(data,
                            {.batch_size = 10, .workers = how.workers, .prefetch = how.prefetch});
    CHECK(iterator.most_bytes() == 10 * (2 + 4) * (1 + static_cast<uint64_t>(how.batches)));
  }
  auto data = numbers(1'000'000);
  Iterator unused(data, {});
  CHECK_THROWS_AS(Iterator(numbers(0), {}), Error);
  CHECK_THROWS_AS(Iterator(numbers(1), {.batch_size = 0}), Error);
}

TEST_CASE("iterator: throws Error if the order of samples does not fit in memory") {
  constexpr int64_t kSize = std::numeric_limits<int64_t>::max();
  Iterator iterator(numbers(kSize), {.batch_size = 2, .workers = 3});
  Batch batch;
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(
        iterator.next(batch),
        doctest::Contains("not enough memory for the order of 9223372036854775807"), Error);
}
