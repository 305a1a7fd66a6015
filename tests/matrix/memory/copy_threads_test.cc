// SPDX-License-Identifier: MIT
// Copies between memory and a store that run beside the program.
#include "matrix/memory/copy_threads.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/spill.h"
#include "matrix/ops/reduce.h"
#include "tests/support/reference.h"
#include "tests/support/simulated_link.h"

namespace kaiseki {
namespace {

constexpr uint64_t kBytes = uint64_t{4} << 20;
constexpr RowsOfPlace kAll;

/// A place whose copies wait, or fail.
struct TestStore {
  std::latch opened{1};
  std::atomic<bool> fails_to_write = false, fails_to_read = false;
};

class TestPlace : public SpillPlace {
 public:
  TestPlace(TestStore& store, uint64_t bytes) : store_(store), bytes_(bytes) {}
  void write(const void* from, const CopyRegion& region) override {
    store_.opened.wait();
    if (store_.fails_to_write) throw Error("[memory] the disk is broken");
    region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
      std::memcpy(bytes_.data() + on_host, static_cast<const char*>(from) + in_block, region.row);
    });
  }
  void read(void* to, const CopyRegion& region) const override {
    if (store_.fails_to_read) throw Error("[memory] the disk cannot be read");
    region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
      std::memcpy(static_cast<char*>(to) + in_block, bytes_.data() + on_host, region.row);
    });
  }

 private:
  TestStore& store_;
  std::vector<char> bytes_;
};

struct WithStore {
  explicit WithStore(TestStore& store) {
    set_spill_store([&store](uint64_t bytes) { return std::make_unique<TestPlace>(store, bytes); });
  }
  ~WithStore() {
    Device::cpu().memory().backing()->trim();
    set_spill_store(nullptr);
  }
};

Tensor numbers() { return test::random_tensor({int64_t{kBytes / sizeof(float)}}, 1); }

}  // namespace

TEST_CASE("copy threads: copies with the same place run in the order of their calls") {
  std::array<char, 8> memory{}, other{};
  const char place = 0;
  std::string order;
  CopyThreads threads;
  for (int i = 0; i < 50; ++i) {
    threads.start({CopyWay::to_store, memory.data(), 8, &place, kAll, [&] { order += 'w'; }});
    threads.start({CopyWay::to_memory, other.data(), 8, &place, kAll, [&] { order += 'r'; }});
  }
  threads.finish_all();
  CHECK(order.size() == 100);
  CHECK(order.find("ww") == order.npos);
  CHECK(order.find("rr") == order.npos);
}

TEST_CASE("copy threads: copies in both directions run at the same time") {
  std::array<char, 16> memory{};
  const std::array<char, 2> places{};
  std::latch both(2);  // each copy waits for the other
  CopyThreads threads;
  const auto meet = [&] { both.arrive_and_wait(); };
  threads.start({CopyWay::to_store, memory.data(), 8, &places[0], kAll, meet});
  threads.start({CopyWay::to_memory, memory.data() + 8, 8, &places[1], kAll, meet});
  threads.finish(memory.data(), 16);
  CHECK(both.try_wait());
}

TEST_CASE("copy threads: copies with other bytes of a place run at the same time") {
  // Three rows of 8 bytes begin at 8, 40 and 72.
  const RowsOfPlace rows{.first = 8, .row = 8, .pitch = 32, .end = 80};
  const auto check = [&](const RowsOfPlace& others, bool together) {
    std::array<char, 16> memory{};
    const char place = 0;
    std::latch opened(1);
    std::atomic<bool> ran = false;
    CopyThreads threads;
    threads.start({CopyWay::to_store, memory.data(), 8, &place, rows, [&] { opened.wait(); }});
    threads.start({CopyWay::to_memory, memory.data() + 8, 8, &place, others, [&] { ran = true; }});
    if (together) threads.finish(memory.data() + 8, 8);
    CHECK(ran == together);
    opened.count_down();
    threads.finish_all();
    CHECK(ran);
  };
  check({.first = 16, .row = 8, .pitch = 32, .end = 88}, true);
  check({.first = 32, .row = 8, .pitch = 32, .end = 72}, true);
  check({.first = 80, .row = 8, .end = 88}, true);
  check({.first = 0, .row = 8, .end = 8}, true);
  check({.first = 40, .row = 8, .pitch = 32, .end = 80}, false);
  check({.first = 15, .row = 2, .pitch = 32, .end = 81}, false);
  check({.first = 16, .row = 8, .pitch = 16, .end = 72}, false);
  check({.first = 28, .row = 16, .pitch = 32, .end = 76}, false);  // goes on in the next row
}

TEST_CASE("copy threads: finish() waits for the copies of the memory, and only for these") {
  std::array<char, 16> memory{};
  const std::array<char, 2> places{};
  std::latch opened(1);
  std::atomic<bool> read = false;
  CopyThreads threads;
  threads.start({CopyWay::to_store, memory.data(), 8, &places[0], kAll, [&] { opened.wait(); }});
  threads.start({CopyWay::to_memory, memory.data() + 8, 8, &places[1], kAll, [&] { read = true; }});
  threads.finish(memory.data() + 8, 8);
  CHECK(read);
  CHECK(threads.uses(memory.data() + 7, 1));
  CHECK_FALSE(threads.uses(memory.data() + 8, 8));
  opened.count_down();
  threads.finish(memory.data(), 8);
  CHECK_FALSE(threads.uses(memory.data(), 16));
}

TEST_CASE("copy threads: an error stays until the memory or the place has other contents") {
  std::array<char, 16> memory{};
  const char place = 0;
  CopyThreads threads;
  const auto fail = [] { throw Error("[memory] broken"); };
  threads.start({CopyWay::to_store, memory.data(), 8, &place, kAll, fail});
  threads.finish(memory.data(), 8);  // the memory is as it was
  bool read = false;
  const auto start_read = [&] {
    threads.start({CopyWay::to_memory, memory.data() + 8, 8, &place, kAll, [&] { read = true; }});
  };
  start_read();
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(threads.finish(memory.data() + 8, 8), "[memory] broken", Error);
  CHECK_FALSE(read);
  threads.forget(memory.data() + 8, 8);
  threads.finish(memory.data() + 8, 8);
  threads.forget_place(&place);
  start_read();
  threads.finish(memory.data() + 8, 8);
  CHECK(read);
}

TEST_CASE("copy threads: a copy that replaces the bytes of a failed one counts") {
  std::array<char, 16> memory{};
  const char place = 0;
  const auto fail = [] { throw Error("[memory] broken"); };
  const RowsOfPlace all{.first = 0, .row = 8, .end = 8}, part{.first = 0, .row = 4, .end = 4};
  const auto check = [&](const RowsOfPlace& again, bool good) {
    CopyThreads threads;
    bool read = false;
    threads.start({CopyWay::to_store, memory.data(), 8, &place, all, fail});
    threads.start({CopyWay::to_store, memory.data(), 8, &place, again, [] {}});
    threads.start({CopyWay::to_memory, memory.data() + 8, 8, &place, all, [&] { read = true; }});
    if (good)
      threads.finish(memory.data() + 8, 8);
    else
      CHECK_THROWS_AS(threads.finish(memory.data() + 8, 8), Error);
    CHECK(read == good);
  };
  check(all, true);
  check(part, false);
}

TEST_CASE("copy threads: threads read a tensor of the CPU at the same time") {
  const test::SimulatedLink link(1e12);
  const Tensor tensor = numbers();
  std::atomic<int64_t> sum = 0;  // ThreadSanitizer would find a write
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      for (int k = 0; k < 100; ++k) sum += tensor.data<float>() != nullptr;
    });
  for (std::thread& reader : readers) reader.join();
  CHECK(sum == 400);
}

TEST_CASE("copy threads: a tensor outside the CPU whose store is gone gives an error") {
  Tensor tensor, full;
  Allocator& memory = Device::cpu().memory();
  {
    const test::SimulatedLink link(1e12);
    memory.trim();
    memory.set_budget(memory.account().in_use + kBytes + (kBytes >> 1));
    full = numbers();
    tensor = Tensor({int64_t{kBytes / sizeof(float)}}, DType::f32, Device::cpu());
    CHECK(tensor.buffer().left_device());
  }
  CHECK_THROWS_AS(tensor.buffer().receive_from(full.buffer(), {.row = 4, .block = {}, .host = {}}),
                  Error);
  memory.set_budget({});
}

TEST_CASE("copy threads: a mean of all elements has no pieces") {
  const test::SimulatedLink link(1e12);
  const Tensor tensor = numbers();
  const float expected = mean(tensor).item();
  set_out_of_core(OutOfCore::always);
  tensor.buffer().leave_device();
  CHECK(mean(tensor).item() == expected);
  set_out_of_core(OutOfCore::automatic);
}

TEST_CASE("copy threads: a tensor leaves the CPU and comes back over a link") {
  const test::SimulatedLink link(1e12);
  const Tensor tensor = numbers();
  const std::vector<float> expected = tensor.to_vector();
  for (int i = 0; i < 3; ++i) {
    tensor.buffer().leave_device();
    CHECK(tensor.buffer().left_device());
    if (i == 1) tensor.buffer().return_to_device();
    CHECK(tensor.to_vector() == expected);
  }
}

TEST_CASE("copy threads: the allocator prefers memory that is not copied") {
  TestStore store;
  const WithStore with(store);
  const Tensor tensor = numbers();
  const std::vector<float> expected = tensor.to_vector();
  tensor.buffer().leave_device();
  const Tensor other = numbers();  // with the memory of the first, it would wait forever
  store.opened.count_down();
  CHECK(tensor.to_vector() == expected);
}

TEST_CASE("copy threads: a use of a tensor that was lost tells the reason") {
  TestStore store;
  store.opened.count_down();
  const WithStore with(store);
  Tensor tensor = numbers();
  SUBCASE("writing fails") { store.fails_to_write = true; }
  SUBCASE("reading fails") { store.fails_to_read = true; }
  tensor.buffer().leave_device();
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(tensor.to_vector(), Error);
  store.fails_to_write = store.fails_to_read = false;
  tensor = numbers();
  const std::vector<float> expected = tensor.to_vector();
  tensor.buffer().leave_device();
  CHECK(tensor.to_vector() == expected);
}

}  // namespace kaiseki
