// SPDX-License-Identifier: MIT
#include "dist/train/local_nodes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "matrix/error.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki::dist {

LocalNodes::LocalNodes(std::vector<LocalNode> nodes, uint64_t seed) : random_(seed) {
  for (LocalNode& node : nodes) nodes_.push_back({std::move(node)});
}

std::vector<NodeRate> LocalNodes::nodes() {
  std::vector<NodeRate> rates;
  for (const Node& node : nodes_) {
    if (!here(node)) continue;
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

void LocalNodes::expel(const std::string& name, const std::string&) {
  for (Node& node : nodes_)
    if (node.of.name == name) node.alive = false;
  expelled_.push_back(name);
}

int LocalNodes::holders(uint64_t id) const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return here(node) && node.ticket == id;
  }));
}

/// Its own kind of work first, then the oldest that nobody has, then a second copy of the oldest.
uint64_t LocalNodes::choose(const Node& node) const {
  uint64_t free = 0, copy = 0;
  for (const auto& [id, open] : open_) {
    const int holding = holders(id);
    if (holding == 0 && open.prefer == node.of.name) return id;
    if (holding == 0 && !free) free = id;
    if (holding == 1 && !copy) copy = id;
  }
  return free ? free : copy;
}

void LocalNodes::assign() {
  for (Node& node : nodes_) {
    if (!here(node) || node.ticket) continue;
    node.ticket = choose(node);
    if (!node.ticket) continue;
    node.work = open_[node.ticket];
    bytes_.tickets += node.work.bytes.size();
    node.done = now_ + node.of.seconds * (0.5 + static_cast<double>(random_.uniform()));
  }
}

std::optional<TicketResult> LocalNodes::receive(double) {
  if (again_.ticket) return std::exchange(again_, {});
  for (;;) {
    assign();
    Node* next = nullptr;
    for (Node& node : nodes_)
      if (here(node) && node.ticket && (!next || node.done < next->done)) next = &node;
    if (!next) return std::nullopt;
    now_ = std::max(now_, next->done);
    const uint64_t id = std::exchange(next->ticket, 0);
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
    if (random_.below(8) == 0) again_ = answer;
    return answer;
  }
}

ByteVector LocalNodes::compute(Node& node) {
  if (!node.node) node.node = std::make_unique<TrainingNode>(Device::cpu());
  ByteVector result = node.node->run(node.work.bytes, [&](const std::string& hash) {
    const Blob& blob = blobs_.at(hash);
    uint64_t& count = blob.kind == BlobKind::network   ? bytes_.network
                      : blob.kind == BlobKind::weights ? bytes_.weights
                                                       : bytes_.samples;
    count += blob.bytes->size();
    return *blob.bytes;
  });
  const ByteVector honest = result;
  if (node.of.lie != Lie::none && node.answered >= node.of.honest_until)
    result = lie(node, std::move(result));
  node.last = honest;
  return result;
}

ByteVector LocalNodes::lie(Node& node, ByteVector result) {
  if (node.of.lie == Lie::replayed) return node.last.empty() ? result : node.last;
  if (node.of.lie == Lie::oversized) {
    result.resize(result.size() * 4 + 4096);
    return result;
  }
  if (node.of.lie == Lie::not_finite) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(&result[result.size() - 8], &nan, 4);
    return result;
  }
  TensorMessage message = decode_tensors(result, "result");
  const std::vector<WireType> types = wire_types(result);
  std::vector<WireTensor> tensors;
  for (size_t i = 0; i < message.tensors.size(); ++i) {
    const auto& [name, value] = message.tensors[i];
    Tensor& given = tensors.emplace_back(WireTensor{name, value, types[i]}).value;
    if (node.of.lie == Lie::sign_flipped) update("g = 0 - g", {{"g", given}});
    if (node.of.lie == Lie::wrong_shape) given = Tensor::zeros({1}, DType::f32, Device::cpu());
    if (node.of.lie == Lie::wrong_type)
      tensors.back().type = types[i] == WireType::f32 ? WireType::f16 : WireType::f32;
    if (node.of.lie == Lie::noise) {
      Random noise(7, static_cast<uint64_t>(node.answered));
      float* values = given.mutable_data<float>();
      for (int64_t k = 0; k < given.size(); ++k) values[k] *= 1 + 0.5f * noise.normal();
    }
  }
  return encode_tensors(tensors, message.texts);
}

}  // namespace kaiseki::dist
