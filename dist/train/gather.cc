// SPDX-License-Identifier: MIT
#include "dist/train/gather.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dist/wire/elements.h"
#include "matrix/error.h"
#include "nn/io/sha256.h"

namespace kaiseki::dist {
namespace {

constexpr double kMostPatience = 300;  // seconds, whatever nodes say of themselves

}  // namespace

TensorMessage check_result(const Piece& piece, ByteView bytes) {
  if (bytes.size() > piece.max_bytes)
    throw ParseError("result", "size",
                     "expected at most " + std::to_string(piece.max_bytes) + " bytes, got " +
                         std::to_string(bytes.size()));
  TensorMessage message = decode_tensors(bytes, "result");
  const auto ticket = message.texts.find("ticket");
  if (message.texts.size() != 1 || ticket == message.texts.end() ||
      ticket->second != nn::sha256(piece.ticket))
    throw ParseError("result", "ticket", "expected a result of this ticket, got another");
  const std::vector<WireType> types = wire_types(bytes);
  bool fits = message.tensors.size() == piece.wanted.size();
  for (size_t i = 0; fits && i < piece.wanted.size(); ++i) {
    const auto& [name, value] = message.tensors[i];
    fits = name == piece.wanted[i].name && value.shape() == piece.wanted[i].shape &&
           types[i] == piece.wanted[i].type;
  }
  if (!fits)
    throw ParseError("result", "tensors",
                     "expected " + std::to_string(piece.wanted.size()) +
                         " tensors with the names, shapes and types of the ticket, got others");
  return message;
}

namespace {

/// The norm of what differs, but for `steps`, each that of a block of values.
double difference(const Tensor& given, const Tensor& own, std::span<const double> steps) {
  const float *x = given.data<float>(), *y = own.data<float>();
  double sum = 0;
  for (int64_t i = 0; i < own.size(); ++i) {
    const double step = steps.empty() ? 0 : steps[static_cast<size_t>(i) / kBlock];
    const double d = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])) - step;
    if (!(d <= 0)) sum += d * d;
  }
  return std::sqrt(sum);
}

/// The scales of i8, by the largest value of each block.
std::vector<double> steps_of(const Tensor& values) {
  std::vector<double> steps;
  for (int64_t first = 0; first < values.size(); first += kBlock) {
    double most = 0;
    const int64_t end = std::min<int64_t>(first + kBlock, values.size());
    for (int64_t i = first; i < end; ++i)
      most = std::max(most, std::abs(static_cast<double>(values.data<float>()[i])));
    steps.push_back(1.001 * most / 127);  // the two scales are not quite the same
  }
  return steps;
}

}  // namespace

bool agree(const Piece& piece, const TensorMessage& given, const TensorMessage& own) {
  constexpr double kShare = 0.01, kFloor = 1e-4, kSmall = 1e-6;
  std::vector<double> norms, differences;
  double largest = 0;
  for (size_t i = 0; i < own.tensors.size(); ++i) {
    const Tensor& b = own.tensors[i].value;
    double norm = 0;
    for (int64_t k = 0; k < b.size(); ++k) {
      const double value = b.data<float>()[k];
      norm += value * value;
    }
    const bool in_steps = piece.wanted[i].type == WireType::i8;
    norms.push_back(std::sqrt(norm));
    differences.push_back(
        difference(given.tensors[i].value, b, in_steps ? steps_of(b) : std::vector<double>{}));
    if (piece.wanted[i].gradient) largest = std::max(largest, norms.back());
  }
  for (size_t i = 0; i < norms.size(); ++i) {
    const double floor = piece.wanted[i].gradient ? kFloor * largest : kSmall;
    if (!(differences[i] <= kShare * norms[i] + floor)) return false;
  }
  return true;
}

Gather::Gather(Channel& channel, Device device, const TrustOptions& trust, double patience,
               std::function<bool()> stop)
    : channel_(channel), own_(device), trust_(trust), patience_(patience), stop_(std::move(stop)) {}

Gather::~Gather() {
  try {
    for (const auto& [id, piece] : open_) channel_.close(id);
    for (const auto& [hash, bytes] : blobs_) channel_.drop_blob(hash);
  } catch (...) {  // The channel is going too.
  }
}

std::string Gather::put(BlobKind kind, ByteVector bytes) {
  std::string hash = nn::sha256(bytes);
  const auto blob = std::make_shared<const ByteVector>(std::move(bytes));
  blobs_[hash] = blob;
  channel_.put_blob(kind, hash, blob);
  return hash;
}

void Gather::drop(const std::string& hash) {
  if (blobs_.erase(hash)) channel_.drop_blob(hash);
}

void Gather::submit(std::span<Piece> pieces, size_t index) {
  open_[next_id_] = index;
  const Piece& piece = pieces[index];
  channel_.submit(next_id_++, {piece.ticket, piece.max_bytes, piece.work, piece.prefer});
}

void Gather::close(uint64_t id) {
  open_.erase(id);
  channel_.close(id);
}

void Gather::send(std::span<Piece> pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].result && !trust_.expelled(pieces[i].node)) continue;
    pieces[i].result.reset();
    submit(pieces, i);
  }
}

bool Gather::any_expelled(std::span<const Piece> pieces) const {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return trust_.expelled(piece.node); });
}

void Gather::collect(std::span<Piece> pieces) {
  using Clock = std::chrono::steady_clock;
  double wait = patience(), slowest = 0;
  const int64_t accepted = counts_.accepted;
  bool waited_enough = false;
  auto since = Clock::now();
  while (!open_.empty()) {
    std::optional<TicketResult> result = channel_.receive(wait);
    const auto now = Clock::now();
    if (!result && is_held()) {
      since = now;
    } else if (result) {
      if (!result->dead && open_.contains(result->ticket))
        slowest = std::max(slowest, std::chrono::duration<double>(now - since).count());
      slowest_ = std::max(slowest_, slowest);
      take(pieces, std::move(*result));
      since = Clock::now();
      wait = patience();
    } else {
      // Nodes began with the first ones, and are the most likely to be about to finish those.
      do_here(pieces, open_.rbegin()->first);
      if (wait > 0) waited_enough = !channel_.nodes().empty();
      wait = planned_ = 0;  // nodes are not what they said
    }
  }
  slowest_ = std::max(slowest, slowest_ / 2);  // one hiccup is forgotten
  if (waited_enough && counts_.accepted == accepted) hope_ /= 2;
}

double Gather::patience() const {
  const double slow = std::min(3 * std::max(planned_, slowest_), kMostPatience);
  return hope_ * std::max(patience_, slow);
}

bool Gather::is_held() { return channel_.held() && !(stop_ && stop_()); }

void Gather::do_here(std::span<Piece> pieces, uint64_t id) {
  Piece& piece = pieces[open_.at(id)];
  close(id);
  piece.result = compute(piece);
  piece.node.clear();
  ++counts_.alone;
}

TensorMessage Gather::compute(const Piece& piece) {
  return check_result(
      piece, own_.run(piece.ticket, [&](const std::string& hash) { return *blobs_.at(hash); }));
}

void Gather::take(std::span<Piece> pieces, TicketResult result) {
  const auto at = open_.find(result.ticket);
  if (at == open_.end()) {
    ++counts_.late;
    return;
  }
  if (result.dead) {
    if (!is_held()) do_here(pieces, result.ticket);
    return;
  }
  if (trust_.expelled(result.node)) return;
  const size_t index = at->second;
  Piece& piece = pieces[index];
  TensorMessage message;
  try {
    message = check_result(piece, result.bytes);
  } catch (const Error& error) {
    ++counts_.refused;
    const bool not_finite = dynamic_cast<const NotFinite*>(&error);
    const std::string what(not_finite ? kNotFinite : kWrongForm);
    return expel(pieces, result.node, what + ": " + error.what());
  }
  if (trust_.checks(result.node)) {
    ++counts_.checked;
    if (!agree(piece, message, compute(piece)))
      return expel(pieces, result.node,
                   std::string(kWrongValue) + ": its result is not what the server computes");
    trust_.agreed(result.node);
  }
  close(result.ticket);
  piece.result = std::move(message);
  piece.node = std::move(result.node);
  ++counts_.accepted;
  hope_ = 1;
}

/// Tickets that the node holds go to others; what it gave to this step is done again.
void Gather::expel(std::span<Piece> pieces, const std::string& node, const std::string& reason) {
  trust_.expel(node);
  ++counts_.expelled;
  channel_.expel(node, reason);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].result || pieces[i].node != node) continue;
    pieces[i].result.reset();
    submit(pieces, i);
  }
}

}  // namespace kaiseki::dist
