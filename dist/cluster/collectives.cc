// SPDX-License-Identifier: MIT
#include "dist/cluster/collectives.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "dist/wire/half.h"
#include "matrix/ceil_div.h"

namespace kaiseki::dist {
namespace {

/// Below this number of values, the time of a message counts more than its bytes.
constexpr int64_t kSmall = 4096;
/// The next segment travels while the last one is added.
constexpr int64_t kSegment = 1 << 16;

/// An infinite value becomes NaN as a half, so that training stops.
constexpr uint16_t kNotFinite = 0x7e00;
uint16_t to_wire(float value) { return std::isfinite(value) ? to_half(value) : kNotFinite; }
float from_wire(uint16_t half) { return half == kNotFinite ? NAN : from_half(half); }

int64_t wire_size(ClusterWire wire) { return wire == ClusterWire::f32 ? 4 : 2; }

void add(std::span<float> to, const float* values) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += values[i];
}

/// Values in the type of messages. f32 needs no copy.
class Outgoing {
 public:
  Outgoing(std::span<const float> values, ClusterWire wire) {
    if (wire == ClusterWire::f32) {
      bytes_ = std::as_bytes(values);
      return;
    }
    halves_.reserve(values.size());
    for (const float value : values) halves_.push_back(to_wire(value));
    bytes_ = std::as_bytes(std::span(halves_));
  }
  ByteView bytes() const { return bytes_; }

 private:
  std::vector<uint16_t> halves_;
  ByteView bytes_;
};

/// A segment that this rank receives.
class Incoming {
 public:
  /// The segment arrives at `to` if possible, else at `memory`.
  Incoming(Communicator& ranks, int from, std::span<float> to, ClusterWire wire, bool adds,
           ByteVector& memory)
      : to_(to), wire_(wire), adds_(adds), memory_(memory) {
    const size_t bytes = to.size() * static_cast<size_t>(wire_size(wire));
    const bool in_place = !adds && wire == ClusterWire::f32;
    if (!in_place && memory.size() < bytes) memory.resize(bytes);
    transfer_ = ranks.receive(
        from, in_place ? std::as_writable_bytes(to) : std::span(memory.data(), bytes));
  }
  void take() {
    transfer_->wait();
    if (wire_ == ClusterWire::f32) {
      if (adds_) add(to_, reinterpret_cast<const float*>(memory_.data()));
      return;
    }
    const auto* halves = reinterpret_cast<const uint16_t*>(memory_.data());
    for (size_t i = 0; i < to_.size(); ++i) to_[i] = (adds_ ? to_[i] : 0) + from_wire(halves[i]);
  }

 private:
  std::span<float> to_;
  ClusterWire wire_;
  bool adds_;
  ByteVector& memory_;
  std::unique_ptr<Transfer> transfer_;
};

/// One step around the ring. It sends a part to the next rank, and receives another part from the
/// rank before. Parts are sent in segments.
class RingStep {
 public:
  /// `parts` has one part for each rank.
  RingStep(Communicator& ranks, std::span<float> values, std::span<const RankPart> parts,
           ClusterWire wire)
      : ranks_(ranks), values_(values), parts_(parts), wire_(wire) {}

  void run(int sent, int received, bool adds) {
    thread_local ByteVector memory[2];  // new memory for each step would cost more than the step
    const RankPart out = part(sent), in = part(received);
    const int64_t sends = segments_of(out), takes = segments_of(in);
    std::unique_ptr<Incoming> arriving[2];
    const auto start = [&](int64_t i) {
      if (i < takes)
        arriving[i % 2] = std::make_unique<Incoming>(ranks_, before(),
                                                     values_.subspan(begin(in, i), length(in, i)),
                                                     wire_, adds, memory[i % 2]);
    };
    start(0);
    for (int64_t i = 0; i < std::max(sends, takes); ++i) {
      const Outgoing outgoing(values_.subspan(begin(out, i), length(out, i)), wire_);
      const auto transfer = i < sends ? ranks_.send(next(), outgoing.bytes()) : nullptr;
      start(i + 1);
      if (i < takes) arriving[i % 2]->take();
      if (transfer) transfer->wait();
    }
  }

 private:
  int next() const { return (ranks_.rank() + 1) % ranks_.size(); }
  int before() const { return (ranks_.rank() + ranks_.size() - 1) % ranks_.size(); }
  const RankPart& part(int rank) const {
    return parts_[static_cast<size_t>((rank + ranks_.size()) % ranks_.size())];
  }
  static int64_t segments_of(const RankPart& part) { return ceil_div(part.count, kSegment); }
  static size_t length(const RankPart& part, int64_t segment) {
    return static_cast<size_t>(std::clamp<int64_t>(part.count - segment * kSegment, 0, kSegment));
  }
  static size_t begin(const RankPart& part, int64_t segment) {
    return static_cast<size_t>(part.first + std::min(part.count, segment * kSegment));
  }

  Communicator& ranks_;
  std::span<float> values_;
  std::span<const RankPart> parts_;
  ClusterWire wire_;
};

std::vector<RankPart> even_parts(std::span<const float> values, const Communicator& ranks) {
  std::vector<RankPart> parts;
  for (int rank = 0; rank < ranks.size(); ++rank)
    parts.push_back(part_of_rank(std::ssize(values), rank, ranks.size()));
  return parts;
}

void round_to_wire(std::span<float> values, ClusterWire wire) {
  if (wire == ClusterWire::f32) return;
  for (float& value : values) value = from_wire(to_wire(value));
}

/// The ranks beyond a power of two give their values to another rank, and get the sums from it. The
/// sum of two ranks has the same bits on both, because a + b = b + a.
void double_recursively(Communicator& ranks, std::span<float> values) {
  const int rank = ranks.rank(), size = ranks.size();
  int power = 1;
  while (power * 2 <= size) power *= 2;
  std::vector<float> other(values.size());
  const auto exchange = [&](int with) {
    const auto in = ranks.receive(with, std::as_writable_bytes(std::span(other)));
    const auto out = ranks.send(with, std::as_bytes(values));
    in->wait();
    out->wait();
    add(values, other.data());
  };
  if (rank >= power) {
    ranks.send(rank - power, std::as_bytes(values))->wait();
    ranks.receive(rank - power, std::as_writable_bytes(values))->wait();
    return;
  }
  const bool has_guest = rank + power < size;
  if (has_guest) {
    ranks.receive(rank + power, std::as_writable_bytes(std::span(other)))->wait();
    add(values, other.data());
  }
  for (int distance = 1; distance < power; distance *= 2) exchange(rank ^ distance);
  if (has_guest) ranks.send(rank + power, std::as_bytes(values))->wait();
}

}  // namespace

RankPart part_of_rank(int64_t count, int rank, int ranks) {
  const int64_t first = count * rank / ranks;
  return {first, count * (rank + 1) / ranks - first};
}

void reduce_scatter(Communicator& ranks, std::span<float> values, std::span<const RankPart> parts,
                    ClusterWire wire) {
  const int rank = ranks.rank();
  RingStep step(ranks, values, parts, wire);
  for (int i = 1; i < ranks.size(); ++i) step.run(rank - i, rank - i - 1, true);
}

void reduce_scatter(Communicator& ranks, std::span<float> values, ClusterWire wire) {
  reduce_scatter(ranks, values, even_parts(values, ranks), wire);
}

void all_gather(Communicator& ranks, std::span<float> values, ClusterWire wire) {
  if (ranks.size() == 1) return;
  const int rank = ranks.rank();
  const RankPart own = part_of_rank(std::ssize(values), rank, ranks.size());
  round_to_wire(values.subspan(static_cast<size_t>(own.first), static_cast<size_t>(own.count)),
                wire);
  const std::vector<RankPart> parts = even_parts(values, ranks);
  RingStep step(ranks, values, parts, wire);
  for (int i = 0; i + 1 < ranks.size(); ++i) step.run(rank - i, rank - i - 1, false);
}

void all_reduce(Communicator& ranks, std::span<float> values, ClusterWire wire) {
  if (ranks.size() == 1 || values.empty()) return;
  if (std::ssize(values) <= kSmall) return double_recursively(ranks, values);
  reduce_scatter(ranks, values, wire);
  all_gather(ranks, values, wire);
}

void all_gather(Communicator& ranks, std::span<std::byte> bytes, std::span<const RankPart> parts) {
  const int rank = ranks.rank(), size = ranks.size();
  const auto part = [&](int index) {
    const RankPart& one = parts[static_cast<size_t>((index + 2 * size) % size)];
    return bytes.subspan(static_cast<size_t>(one.first), static_cast<size_t>(one.count));
  };
  for (int i = 0; i + 1 < size; ++i) {
    const auto in = ranks.receive((rank + size - 1) % size, part(rank - i - 1));
    const auto out = ranks.send((rank + 1) % size, part(rank - i));
    in->wait();
    out->wait();
  }
}

void broadcast(Communicator& ranks, std::span<std::byte> bytes, int root) {
  const int size = ranks.size(), place = (ranks.rank() - root + size) % size;
  const auto rank_at = [&](int at) { return (at + root) % size; };
  int reach = 1;  // places below it have the bytes
  for (; reach <= place; reach *= 2)
    if (place < 2 * reach) ranks.receive(rank_at(place - reach), bytes)->wait();
  for (; place + reach < size; reach *= 2) ranks.send(rank_at(place + reach), bytes)->wait();
}

void barrier(Communicator& ranks) {
  float nothing = 0;
  all_reduce(ranks, {&nothing, 1});
}

}  // namespace kaiseki::dist
