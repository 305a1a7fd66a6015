// SPDX-License-Identifier: MIT
#include "dist/train/local_nodes.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiseki::dist {

LocalNodes::LocalNodes(std::vector<LocalNode> nodes, uint64_t seed) : random_(seed) {
  for (LocalNode& node : nodes) nodes_.push_back({std::move(node)});
}

std::vector<NodeRate> LocalNodes::nodes() {
  std::vector<NodeRate> rates;
  for (const RunningNode& node : nodes_) {
    if (!is_present(node)) continue;
    rates.emplace_back();
    rates.back().name = node.of.name;
  }
  return rates;
}

void LocalNodes::put_blob(BlobKind kind, const std::string& hash,
                          std::shared_ptr<const ByteVector> bytes) {
  blobs_[hash] = {kind, std::move(bytes)};
}

void LocalNodes::drop_blob(const std::string& hash) { blobs_.erase(hash); }

void LocalNodes::submit(uint64_t id, const Submission& given) {
  open_[id] = {given.ticket, given.prefer};
  ++submitted_;
}

void LocalNodes::close(uint64_t id) { open_.erase(id); }

void LocalNodes::expel(const std::string& name, const ExpulsionReason&) {
  for (RunningNode& node : nodes_)
    if (node.of.name == name) node.alive = false;
  expelled_.push_back(name);
}

void LocalNodes::set_answer(const std::string& name, const LocalAnswer& answer) {
  for (RunningNode& node : nodes_)
    if (node.of.name == name) node.of.answer = answer;
}

int LocalNodes::holders(uint64_t id) const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [&](const RunningNode& node) {
    return is_present(node) && node.ticket == id;
  }));
}

/// Selects a ticket that prefers the node, else the oldest idle one, else a second copy of the
/// oldest.
std::optional<uint64_t> LocalNodes::choose(const RunningNode& node) const {
  std::optional<uint64_t> free, copy;
  for (const auto& [id, open] : open_) {
    const int holding = holders(id);
    if (holding == 0 && open.prefer == node.of.name) return id;
    if (holding == 0 && !free) free = id;
    if (holding == 1 && !copy) copy = id;
  }
  return free ? free : copy;
}

void LocalNodes::assign() {
  for (RunningNode& node : nodes_) {
    if (!is_present(node) || node.ticket) continue;
    node.ticket = choose(node);
    if (!node.ticket) continue;
    node.work = open_[*node.ticket];
    bytes_.tickets += node.work.bytes.size();
    node.done = now_ + node.of.seconds * (0.5 + static_cast<double>(random_.uniform()));
  }
}

std::optional<TicketResult> LocalNodes::receive(double) {
  if (duplicate_) return std::exchange(duplicate_, std::nullopt);
  for (;;) {
    assign();
    RunningNode* next = nullptr;
    for (RunningNode& node : nodes_)
      if (is_present(node) && node.ticket && (!next || node.done < next->done)) next = &node;
    if (!next) return std::nullopt;
    now_ = std::max(now_, next->done);
    const uint64_t id = *std::exchange(next->ticket, std::nullopt);
    if (next->answered == next->of.dies_after) {
      next->alive = false;
      continue;
    }
    // The blobs of a ticket that is closed may be gone.
    if (!open_.contains(id)) continue;
    TicketResult answer{.ticket = id, .node = next->of.name};
    try {
      answer.bytes = compute(*next);
    } catch (const Error&) {
      answer.dead = true;
    }
    bytes_.results += answer.bytes.size();
    ++next->answered;
    if (random_.below(8) == 0) duplicate_ = answer;
    return answer;
  }
}

ByteVector LocalNodes::compute(RunningNode& node) {
  if (!node.node) node.node = std::make_unique<TrainingNode>(Device::cpu());
  const LocalCompute right = [&](ByteView ticket) {
    return node.node->run(ticket, [&](const std::string& hash) {
      const LocalBlob& blob = blobs_.at(hash);
      uint64_t& count = blob.kind == BlobKind::network   ? bytes_.network
                        : blob.kind == BlobKind::weights ? bytes_.weights
                                                         : bytes_.samples;
      count += blob.bytes->size();
      return *blob.bytes;
    });
  };
  return node.of.answer ? node.of.answer(node.work.bytes, right) : right(node.work.bytes);
}

}  // namespace kaiseki::dist
