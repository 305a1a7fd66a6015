// SPDX-License-Identifier: MIT
#include "dist/train/gather.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/text.h"
#include "dist/wire/elements.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"

namespace kaiseki::dist {
namespace {

constexpr double kMostPatience = 300;  // seconds; limits the effect of speeds that nodes report

}  // namespace

TensorMessage check_result(const MinibatchPart& part, ByteView bytes) {
  if (bytes.size() > part.max_bytes)
    throw ParseError("result", "size",
                     "expected at most " + std::to_string(part.max_bytes) + " bytes, got " +
                         std::to_string(bytes.size()));
  TensorMessage message = decode_tensors(bytes, "result");
  const auto ticket = message.texts.find("ticket");
  if (message.texts.size() != 1 || ticket == message.texts.end() ||
      ticket->second != sha256(part.ticket))
    throw ParseError("result", "ticket", "the result belongs to another ticket");
  const std::vector<WireType> types = wire_types(bytes);
  if (message.tensors.size() != part.expected.size())
    throw ParseError(
        "result", "tensors",
        text_from("expected ", part.expected.size(), " tensors, got ", message.tensors.size()));
  for (size_t i = 0; i < part.expected.size(); ++i) {
    const auto& [name, value] = message.tensors[i];
    const MinibatchPart::Expected& expected = part.expected[i];
    if (name != expected.name || value.shape() != expected.shape || types[i] != expected.type)
      throw ParseError("result", text_from("tensor ", i),
                       text_from("expected ", expected.name, ' ', expected.shape.str(), " as ",
                                 wire_type_name(expected.type), ", got ", name.substr(0, 60), ' ',
                                 value.shape().str(), " as ", wire_type_name(types[i])));
  }
  return message;
}

namespace {

float norm(const Tensor& x) { return std::sqrt(reduce(Reduction::sum_of_squares, x).item()); }

/// `message` must be a well-formed result of the part.
std::vector<ResultNorm> norms_of(const MinibatchPart& part, const TensorMessage& message) {
  std::vector<ResultNorm> norms;
  for (size_t i = 0; i < part.expected.size(); ++i) {
    const MinibatchPart::Expected& expected = part.expected[i];
    const Tensor& value = message.tensors[i].value;
    const double size = expected.before.defined()
                            ? norm(elementwise("x - y", {{"x", value}, {"y", expected.before}}))
                            : norm(value);
    norms.push_back({expected.name, size, expected.gradient});
  }
  return norms;
}

/// The norm without overflow.
double exact_norm(const Tensor& x) {
  const float* values = x.data<float>();
  double squares = 0;
  for (int64_t i = 0; i < x.size(); ++i) squares += double{values[i]} * double{values[i]};
  return std::sqrt(squares);
}

/// The norm of the difference. Each block of values may differ by its entry of `steps`.
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

/// The step of each i8 block, from its largest value.
std::vector<double> steps_of(const Tensor& values) {
  std::vector<double> steps;
  for (int64_t first = 0; first < values.size(); first += kBlock) {
    double most = 0;
    const int64_t end = std::min<int64_t>(first + kBlock, values.size());
    for (int64_t i = first; i < end; ++i)
      most = std::max(most, std::abs(static_cast<double>(values.data<float>()[i])));
    steps.push_back(1.001 * most / 127);  // the scales of the two results differ slightly
  }
  return steps;
}

}  // namespace

Comparison compare(const MinibatchPart& part, const TensorMessage& given, const TensorMessage& own,
                   const NormGate& gate) {
  constexpr double kFloor = 0.01, kSmall = 1e-4;
  std::vector<double> norms;
  double largest = 0;
  for (size_t i = 0; i < own.tensors.size(); ++i) {
    const MinibatchPart::Expected& expected = part.expected[i];
    const double norm = exact_norm(own.tensors[i].value);
    norms.push_back(std::max(norm, gate.usual(expected.name).value_or(norm)));
    if (expected.gradient) largest = std::max(largest, norms.back());
  }
  Comparison result;
  for (size_t i = 0; i < norms.size(); ++i) {
    const Tensor& expected = own.tensors[i].value;
    const bool in_steps = part.expected[i].type == WireType::i8;
    const double distance = difference(given.tensors[i].value, expected,
                                       in_steps ? steps_of(expected) : std::vector<double>{});
    const double scale = norms[i] + (part.expected[i].gradient ? kFloor * largest : kSmall);
    result.agree &= distance <= kTolerance * scale;
    result.deviation = std::max(result.deviation, distance / scale);
  }
  return result;
}

ResultGather::ResultGather(Channel& channel, Device device, const TrustOptions& trust,
                           double patience, std::function<bool()> stop)
    : channel_(channel), own_(device), trust_(trust), patience_(patience), stop_(std::move(stop)) {}

ResultGather::~ResultGather() {
  try {
    for (const auto& [id, part] : open_) channel_.close(id);
    for (const auto& [hash, bytes] : blobs_) channel_.drop_blob(hash);
  } catch (...) {  // The channel may be broken.
  }
}

std::string ResultGather::put(BlobKind kind, ByteVector bytes) {
  std::string hash = sha256(bytes);
  const auto blob = std::make_shared<const ByteVector>(std::move(bytes));
  blobs_[hash] = blob;
  channel_.put_blob(kind, hash, blob);
  return hash;
}

void ResultGather::drop(const std::string& hash) {
  if (blobs_.erase(hash)) channel_.drop_blob(hash);
}

void ResultGather::submit(std::span<MinibatchPart> parts, size_t index) {
  open_[next_id_] = index;
  const MinibatchPart& part = parts[index];
  channel_.submit(next_id_++,
                  {part.ticket, part.max_bytes, part.work, part.prefer, part.memory_bytes});
}

void ResultGather::close(uint64_t id) {
  open_.erase(id);
  channel_.close(id);
}

void ResultGather::send(std::span<MinibatchPart> parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].result && !trust_.expelled(parts[i].node)) continue;
    replace(parts, i);
  }
}

void ResultGather::replace(std::span<MinibatchPart> parts, size_t index) {
  MinibatchPart& part = parts[index];
  part.result = std::exchange(part.own, std::nullopt);
  if (!part.result) return submit(parts, index);
  part.node.clear();
  ++counts_.by_server;
}

bool ResultGather::any_expelled(std::span<const MinibatchPart> parts) const {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const MinibatchPart& part) { return trust_.expelled(part.node); });
}

void ResultGather::abandon() {
  while (!open_.empty()) close(open_.begin()->first);
}

void ResultGather::undo(int64_t first, int64_t last) {
  gate_.clear();  // it may contain norms of wrong results
  trust_.undo(first, last);
  counts_.undone += last - first;
}

void ResultGather::collect(std::span<MinibatchPart> parts) {
  double wait = patience(), slowest = 0;
  const int64_t accepted = counts_.accepted;
  bool waited_enough = false;
  double since = steady_seconds();
  while (!open_.empty()) {
    std::optional<TicketResult> result = channel_.receive(wait);
    const double now = steady_seconds();
    if (!result && is_paused()) {
      since = now;
    } else if (result) {
      if (!result->dead && open_.contains(result->ticket)) slowest = std::max(slowest, now - since);
      slowest_ = std::max(slowest_, slowest);
      take(parts, std::move(*result));
      since = steady_seconds();
      wait = patience();
    } else {
      // Nodes began with the first tickets, so they are likely to finish those first.
      compute_here(parts, open_.rbegin()->first);
      if (wait > 0) waited_enough = !channel_.nodes().empty();
      wait = planned_ = 0;  // the nodes are slower than planned
    }
  }
  slowest_ = std::max(slowest, slowest_ / 2);  // so that a single delay has no lasting effect
  if (waited_enough && counts_.accepted == accepted) patience_factor_ /= 2;
}

double ResultGather::patience() const {
  const double slow = std::min(3 * std::max(planned_, slowest_), kMostPatience);
  return patience_factor_ * std::max(patience_, slow);
}

bool ResultGather::is_paused() { return channel_.is_paused() && !(stop_ && stop_()); }

void ResultGather::compute_here(std::span<MinibatchPart> parts, uint64_t id) {
  MinibatchPart& part = parts[open_.at(id)];
  finish(part, id, compute(part));
}

/// Ends a part with a result of this process.
void ResultGather::finish(MinibatchPart& part, uint64_t id, TensorMessage own) {
  close(id);
  gate_.add(norms_of(part, own));
  part.result = std::move(own);
  part.node.clear();
  ++counts_.by_server;
}

TensorMessage ResultGather::compute(const MinibatchPart& part) {
  return check_result(
      part, own_.run(part.ticket, [&](const std::string& hash) { return *blobs_.at(hash); }));
}

void ResultGather::take(std::span<MinibatchPart> parts, TicketResult result) {
  const auto at = open_.find(result.ticket);
  if (at == open_.end()) {
    ++counts_.late;
    return;
  }
  if (result.dead) {
    if (!is_paused()) compute_here(parts, result.ticket);
    return;
  }
  if (trust_.expelled(result.node)) return;
  const size_t index = at->second;
  MinibatchPart& part = parts[index];
  TensorMessage message;
  try {
    message = check_result(part, result.bytes);
  } catch (const Error& error) {
    ++counts_.refused;
    const bool not_finite = dynamic_cast<const NotFinite*>(&error);
    return expel(
        parts, result.node,
        {error.what(), not_finite ? ExpulsionKind::not_finite : ExpulsionKind::wrong_form});
  }
  const std::vector<ResultNorm> norms = norms_of(part, message);
  if (trust_.draws_check(result.node, gate_.ratio(norms))) {
    ++counts_.checked;
    TensorMessage own = compute(part);
    const Comparison compared = compare(part, message, own, gate_);
    if (compared.agree) trust_.agreed(result.node, compared.deviation);
    if (!compared.agree || trust_.drifts(result.node)) {
      finish(part, result.ticket, std::move(own));
      const char* why =
          compared.agree
              ? "its results deviate too much on average from those that the server computes"
              : "its result is not what the server computes";
      return expel(parts, result.node, {why, ExpulsionKind::wrong_value});
    }
    part.own = std::move(own);
  } else {
    trust_.counted(result.node, step_);
  }
  gate_.add(norms);
  close(result.ticket);
  part.result = std::move(message);
  part.node = std::move(result.node);
  ++counts_.accepted;
  patience_factor_ = 1;
}

/// Its tickets go to other nodes. Its results of this step are replaced.
void ResultGather::expel(std::span<MinibatchPart> parts, const std::string& node,
                         const ExpulsionReason& reason) {
  trust_.expel(node, step_);
  last_expelled_ = node;
  log_warning(message("pool", "node ", node, " is expelled: ", reason.text()));
  ++counts_.expelled;
  channel_.expel(node, reason);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].result || parts[i].node != node) continue;
    replace(parts, i);
  }
}

}  // namespace kaiseki::dist
