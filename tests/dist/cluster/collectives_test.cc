// SPDX-License-Identifier: MIT
#include "dist/cluster/collectives.h"

#include <doctest/doctest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "dist/cluster/local_ranks.h"
#include "matrix/random.h"

namespace kaiseki::dist {
namespace {

/// Below and above the limit of small arrays, and of one segment of the ring.
constexpr int64_t kCounts[] = {0, 1, 2, 3, 7, 4095, 4096, 4097, 5003, 300007};
constexpr int kRanks[] = {1, 2, 3, 4, 5, 7, 9};

std::vector<float> values_of(int rank, int64_t count) {
  Random random(5, static_cast<uint64_t>(rank));
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = 2 * random.uniform() - 1;
  return values;
}

/// The values of every rank after `run`.
template <class Run>
std::vector<std::vector<float>> after(int ranks, int64_t count, const Run& run) {
  std::vector<std::vector<float>> all(static_cast<size_t>(ranks));
  run_local_ranks(ranks, [&](Communicator& rank) {
    std::vector<float>& own = all[static_cast<size_t>(rank.rank())];
    own = values_of(rank.rank(), count);
    run(rank, std::span(own));
  });
  return all;
}

/// The largest difference to the sums in double precision.
double error_of(std::span<const float> sums, int ranks, int64_t first) {
  std::vector<double> exact(sums.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<float> values = values_of(rank, first + std::ssize(sums));
    for (size_t i = 0; i < sums.size(); ++i) exact[i] += values[static_cast<size_t>(first) + i];
  }
  double error = 0;
  for (size_t i = 0; i < sums.size(); ++i) error = std::max(error, std::abs(sums[i] - exact[i]));
  return error;
}

}  // namespace

TEST_CASE("collectives: all-reduce gives the sums, with the same bits on every rank") {
  for (const int ranks : kRanks)
    for (const int64_t count : kCounts) {
      CAPTURE(ranks);
      CAPTURE(count);
      const auto reduce = [](Communicator& rank, std::span<float> own) { all_reduce(rank, own); };
      const auto sums = after(ranks, count, reduce);
      for (const auto& one : sums) CHECK(one == sums[0]);
      CHECK(error_of(sums[0], ranks, 0) <= ranks * 1e-6);  // roundings of sums below `ranks`
      CHECK(after(ranks, count, reduce) == sums);
    }
}

TEST_CASE("collectives: all-reduce with halves rounds each sum on its way") {
  for (const int ranks : kRanks) {
    CAPTURE(ranks);
    const auto sums = after(ranks, 5003, [](Communicator& rank, std::span<float> own) {
      all_reduce(rank, own, ClusterWire::f16);
    });
    for (const auto& one : sums) CHECK(one == sums[0]);
    // Each of the ring's steps rounds a sum below `ranks` to 11 bits.
    CHECK(error_of(sums[0], ranks, 0) <= ranks * ranks * 0x1p-11);
  }
}

TEST_CASE("collectives: reduce-scatter and all-gather are the halves of all-reduce") {
  for (const int ranks : kRanks)
    for (const int64_t count : kCounts) {
      CAPTURE(ranks);
      CAPTURE(count);
      const auto all = after(ranks, count, [&](Communicator& rank, std::span<float> own) {
        reduce_scatter(rank, own);
        const RankPart part = part_of_rank(count, rank.rank(), ranks);
        const double error =
            error_of(own.subspan(static_cast<size_t>(part.first), static_cast<size_t>(part.count)),
                     ranks, part.first);
        if (error > ranks * 1e-6) throw Error("wrong sums");
        all_gather(rank, own);
      });
      for (const auto& one : all) CHECK(one == all[0]);
      CHECK(error_of(all[0], ranks, 0) <= ranks * 1e-6);
    }
}

TEST_CASE("collectives: parts of a rank follow each other") {
  for (const int64_t count : {0, 1, 2, 5, 6, 7, 1000})
    for (const int ranks : kRanks) {
      int64_t end = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const RankPart part = part_of_rank(count, rank, ranks);
        CHECK(part.first == end);
        CHECK(part.count >= count / ranks);
        CHECK(part.count <= count / ranks + 1);
        end += part.count;
      }
      CHECK(end == count);
    }
}

TEST_CASE("collectives: all-gather of parts of any sizes") {
  for (const int ranks : kRanks) {
    CAPTURE(ranks);
    std::vector<RankPart> parts;
    int64_t bytes = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      parts.push_back({bytes, rank * 100 % 300});  // some are empty
      bytes += parts.back().count;
    }
    std::vector<ByteVector> all(static_cast<size_t>(ranks));
    run_local_ranks(ranks, [&](Communicator& rank) {
      ByteVector& own = all[static_cast<size_t>(rank.rank())];
      own.resize(static_cast<size_t>(bytes));
      const RankPart& part = parts[static_cast<size_t>(rank.rank())];
      for (int64_t i = part.first; i < part.first + part.count; ++i)
        own[static_cast<size_t>(i)] = static_cast<std::byte>(i * 7 + rank.rank());
      all_gather(rank, own, parts);
    });
    for (int rank = 0; rank < ranks; ++rank)
      for (int64_t i = parts[static_cast<size_t>(rank)].first,
                   end = i + parts[static_cast<size_t>(rank)].count;
           i < end; ++i)
        for (const ByteVector& one : all)
          REQUIRE(one[static_cast<size_t>(i)] == static_cast<std::byte>(i * 7 + rank));
  }
}

TEST_CASE("collectives: broadcast from every root") {
  for (const int ranks : kRanks)
    for (int root = 0; root < ranks; ++root) {
      CAPTURE(ranks);
      CAPTURE(root);
      const auto all = after(ranks, 1000, [&](Communicator& rank, std::span<float> own) {
        broadcast(rank, std::as_writable_bytes(own), root);
      });
      for (const auto& one : all) CHECK(one == values_of(root, 1000));
    }
}

TEST_CASE("collectives: a part of the ranks has a communicator of its own") {
  // Sets of three ranks, and shards: the same place of all sets.
  std::mutex mutex;
  std::vector<std::pair<float, float>> sums(9);
  run_local_ranks(9, [&](Communicator& world) {
    const int rank = world.rank();
    const auto set = world.split(rank / 3, rank), shard = world.split(rank % 3, -rank);
    CHECK(set->size() == 3);
    CHECK(set->rank() == rank % 3);
    CHECK(shard->rank() == 2 - rank / 3);  // the order is given
    auto in_set = static_cast<float>(rank), in_shard = in_set;
    all_reduce(*set, {&in_set, 1});
    all_reduce(*shard, {&in_shard, 1});
    std::lock_guard lock(mutex);
    sums[static_cast<size_t>(rank)] = {in_set, in_shard};
  });
  for (int rank = 0; rank < 9; ++rank) {
    const auto set = static_cast<float>(rank / 3), shard = static_cast<float>(rank % 3);
    CHECK(sums[static_cast<size_t>(rank)] == std::pair{9 * set + 3, 3 * shard + 9});
  }
}

TEST_CASE("collectives: a rank that fails ends the others, whatever they do") {
  for (int failing = 0; failing < 3; ++failing) {
    CAPTURE(failing);
    CHECK_THROWS_WITH_AS(run_local_ranks(3,
                                         [&](Communicator& rank) {
                                           if (rank.rank() == failing) throw Error("no more disk");
                                           std::vector<float> values(100000);
                                           for (;;) all_reduce(rank, values);
                                         }),
                         "no more disk", Error);
  }
}

TEST_CASE("collectives: ranks that disagree on the size end") {
  CHECK_THROWS_WITH_AS(run_local_ranks(2,
                                       [](Communicator& rank) {
                                         std::vector<float> values(rank.rank() == 0 ? 10 : 11);
                                         all_reduce(rank, values);
                                       }),
                       doctest::Contains("bytes from rank"), RankFailed);
}

}  // namespace kaiseki::dist
