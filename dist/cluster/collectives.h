// SPDX-License-Identifier: MIT
// Operations of all ranks of a communicator. Every rank must call them in the same order, with the
// same sizes. The results have the same bits on every rank and in every run.
#pragma once

#include <cstdint>
#include <span>

#include "dist/cluster/communicator.h"

namespace kaiseki::dist {

/// The type of values in messages. Sums are always added in f32.
enum class ClusterWire : uint8_t { f32, f16 };

/// The part of `count` values that belongs to a rank. The values are divided evenly, in order.
struct RankPart {
  int64_t first = 0, count = 0;
};
RankPart part_of_rank(int64_t count, int rank, int ranks);

/// Replaces the values by the sums over all ranks. Large arrays go around a ring (Patarasuk and
/// Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"). Small arrays
/// are summed by recursive doubling, always as f32. With f16, values beyond 65504 become 65504.
/// Infinity and NaN become NaN.
void all_reduce(Communicator& ranks, std::span<float> values, ClusterWire wire = ClusterWire::f32);

/// The first half of all_reduce(): afterwards, a rank's own part has the sums, and the rest of
/// `values` is undefined.
void reduce_scatter(Communicator& ranks, std::span<float> values,
                    ClusterWire wire = ClusterWire::f32);
/// The same for parts of any sizes. `parts` has one for each rank, in order, without gaps.
void reduce_scatter(Communicator& ranks, std::span<float> values, std::span<const RankPart> parts,
                    ClusterWire wire = ClusterWire::f32);
/// The second half of all_reduce(): every rank gives its own part of `values`, and gets the
/// others'.
void all_gather(Communicator& ranks, std::span<float> values, ClusterWire wire = ClusterWire::f32);
/// The same for parts of any sizes. `parts` has one for each rank, in order, without gaps.
void all_gather(Communicator& ranks, std::span<std::byte> bytes, std::span<const RankPart> parts);

/// Every rank gets the bytes of rank `root`.
void broadcast(Communicator& ranks, std::span<std::byte> bytes, int root = 0);

/// Returns when all ranks have called it.
void barrier(Communicator& ranks);

}  // namespace kaiseki::dist
