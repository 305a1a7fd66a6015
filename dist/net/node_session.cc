// SPDX-License-Identifier: MIT
#include "dist/net/node_session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "dist/net/json_fields.h"

namespace kaiseki::dist {
namespace {

constexpr uint64_t kEchoBytes = 64 << 10;
constexpr uint64_t kHeadRoom = 64;
constexpr int kMostSlots = 1024;
constexpr size_t kMostFunctions = 1000, kLongestText = 200;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw ParseError("frame", place, what);
}

std::string bounded_text(const Json& control, std::string_view key, size_t limit = kLongestText) {
  const Json* value = control.find(key);
  if (!value) return {};
  if (!value->is(Json::Kind::string))
    refuse(std::string(key), "expected a text, got " + value->describe());
  std::string text = value->string.substr(0, limit);
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  return text;
}

double number_of(const Json& control, std::string_view key, double least, double most) {
  const Json* value = control.find(key);
  if (!value) return least;
  if (!value->is(Json::Kind::number))
    refuse(std::string(key), "expected a number, got " + value->describe());
  return std::clamp(value->number, least, most);
}

NodeInfo read_info(const Json& control) {
  NodeInfo info;
  info.name = bounded_text(control, "name");
  info.device = bounded_text(control, "device");
  info.threads = static_cast<int>(number_of(control, "threads", 1, kMostSlots));
  info.gflops = measurement(number_of(control, "gflops", 0, 1e9));
  info.memory_bytes =
      measurement(static_cast<uint64_t>(number_of(control, "memory_bytes", 0, 1e15)));
  const LinkSpeed link{.down_mbit_s = number_of(control, "down_mbit_s", 0, 1e6),
                       .up_mbit_s = number_of(control, "up_mbit_s", 0, 1e6),
                       .round_trip_s = number_of(control, "round_trip_s", 0, 100)};
  if (link != LinkSpeed()) info.link = link;
  if (const Json* modules = control.find("modules")) info.runs_modules = modules->boolean;
  if (const Json* functions = control.find("functions")) {
    if (!functions->is(Json::Kind::array) || functions->items.size() > kMostFunctions)
      refuse("functions", "expected a list of at most 1000 names");
    for (const Json& name : functions->items) {
      if (!name.is(Json::Kind::string)) refuse("functions", "expected a list of names");
      info.functions.push_back(name.string.substr(0, kLongestText));
    }
  }
  return info;
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::accepted:
      return "accepted";
    case Outcome::pending:
      return "pending";
    case Outcome::duplicate:
      return "duplicate";
    case Outcome::stale:
      return "stale";
    default:
      return "refused";
  }
}

}  // namespace

NodeSession::NodeSession(SessionHost& host, NodeLink& link, uint64_t serial, bool trusted,
                         double now)
    : host_(host), link_(link), serial_(serial), trusted_(trusted), since_(now) {}

NodeSession::~NodeSession() {
  for (const auto& [ticket, held] : held_) host_.ticket_released(*this, ticket);
  host_.closed(*this);
}

uint64_t NodeSession::largest_payload() const {
  uint64_t most = kEchoBytes;
  if (node_.empty()) return most;
  most = std::max(most, static_cast<uint64_t>(host_.limits().result_bytes));
  for (const auto& [ticket, held] : held_) most = std::max(most, held.most + kHeadRoom);
  return most;
}

uint64_t NodeSession::payload_limit(const FrameHeader& header) const {
  if (header.type == FrameType::echo) return kEchoBytes;
  if (header.type != FrameType::result || node_.empty()) return 0;
  const auto found = held_.find(static_cast<TicketId>(header.ticket));
  return found != held_.end() ? found->second.most + kHeadRoom
                              : static_cast<uint64_t>(host_.limits().result_bytes);
}

/// A large result is allowed for a ticket that the node holds, or once held.
uint64_t NodeSession::payload_limit(const Frame& head) const {
  const auto ticket = static_cast<TicketId>(head.ticket);
  const bool had = held_.contains(ticket) ||
                   host_.issued(node_, ticket, bounded_text(head.control, "token", 1000));
  return had ? payload_limit(FrameHeader{head.type, head.ticket}) : kEchoBytes;
}

bool NodeSession::spend(uint64_t bytes) { return !budget_ || budget_->spend(bytes, host_.now()); }

void NodeSession::receive(const Frame& frame, ByteView message) {
  const auto ticket = static_cast<TicketId>(frame.ticket);
  switch (frame.type) {
    case FrameType::hello:
      return hello(frame);
    case FrameType::ready:
      expect_known();
      slots_ = static_cast<int>(number_of(frame.control, "slots", 0, kMostSlots));
      return host_.has_free_slots(*this);
    case FrameType::result:
    case FrameType::give_back: {
      expect_known();
      const bool wanted = is_wanted(frame);
      if (wanted) budget_->refund(message.size());
      return host_.queue_message({.session = serial_,
                                  .type = frame.type,
                                  .node = node_,
                                  .ticket = ticket,
                                  .token = bounded_text(frame.control, "token", 1000),
                                  .error = bounded_text(frame.control, "error", 4000),
                                  .result = {frame.payload.begin(), frame.payload.end()},
                                  .paid = wanted ? 0 : message.size()});
    }
    case FrameType::echo:
      expect_known();
      return link_.send({message.begin(), message.end()});
    default:
      refuse("byte 5", "expected a frame that nodes send");
  }
}

bool NodeSession::is_wanted(const Frame& frame) {
  const auto held = held_.find(static_cast<TicketId>(frame.ticket));
  return frame.type == FrameType::result && held != held_.end() &&
         held->second.token == bounded_text(frame.control, "token", 1000) &&
         !std::exchange(held->second.has_result, true);
}

void NodeSession::hello(const Frame& frame) {
  if (std::exchange(greeted_, true)) refuse("byte 5", "expected one hello");
  NodeMessage message{.session = serial_, .type = FrameType::hello};
  message.info = read_info(frame.control);
  message.info.trusted = trusted_;
  if (!trusted_) message.info.source = link_.address();
  message.identity = {bounded_text(frame.control, "node"),
                      bounded_text(frame.control, "key", 1000)};
  host_.queue_message(std::move(message));
}

/// Counts a failed attempt of the ticket, else the ticket would be given out without end. If the
/// ticket is unknown, all tickets of the node count.
void NodeSession::oversized(const FrameHeader* header) {
  slots_ = 0;
  std::vector<FailedAttempt> failed;
  for (const auto& [ticket, held] : held_) {
    if (header &&
        (header->type != FrameType::result || static_cast<TicketId>(header->ticket) != ticket))
      continue;
    const std::string got = header ? std::to_string(header->payload_bytes) : "far more";
    failed.push_back({ticket, held.token,
                      "expected a result of at most " + std::to_string(held.most) +
                          " bytes (max_result_bytes), got " + got});
  }
  if (!failed.empty()) host_.failed(*this, failed);
}

void NodeSession::expect_known() const {
  if (node_.empty()) refuse("byte 5", "expected a hello, and its welcome, first");
}

void NodeSession::tick(double now) {
  if (greeted_ || now - since_ < host_.limits().handshake_seconds) return;
  host_.metrics().refuse(Refusal::hello);
  link_.close(CloseCode::policy, "expected a hello");
}

Standing NodeSession::standing() {
  if (trusted_) return Standing::trusted;
  if (may_have_contributed_ && !has_contributed_) has_contributed_ = host_.has_contributed(node_);
  return has_contributed_ ? Standing::contributor : Standing::newcomer;
}

int NodeSession::wanted() const {
  return replaced || node_.empty() ? 0 : slots_ - static_cast<int>(held_.size());
}

void NodeSession::welcome(const NodeIdentity& identity, std::shared_ptr<ByteBudget> budget) {
  node_ = identity.id;
  has_contributed_ = host_.has_contributed(node_);
  budget_ = std::move(budget);
  Json control = Json::object();
  control.set("node", identity.id).set("key", identity.key);
  send(FrameType::welcome, 0, control);
}

void NodeSession::give(const Lease& lease, const TaskSpec& task, double seconds) {
  worked_ = true;
  held_[lease.ticket] = {lease.max_result_bytes, lease.token};
  host_.ticket_held(*this, lease.ticket);
  Json control = Json::object();
  control.set("task", lease.task).set("token", lease.token).set("seconds", seconds);
  control.set("max_result_bytes", static_cast<int64_t>(lease.max_result_bytes));
  control.set("memory_bytes", static_cast<int64_t>(task.memory_bytes));
  if (!task.function.empty()) control.set("function", task.function);
  if (!task.module.empty()) control.set("module", task.module);
  Json blobs = Json::array();
  for (const BlobHash& blob : lease.blobs) blobs.items.emplace_back(blob);
  control.set("blobs", blobs);
  send(FrameType::ticket, lease.ticket, control, lease.input);
}

void NodeSession::settle(TicketId ticket) {
  held_.erase(ticket);
  host_.ticket_released(*this, ticket);
}

void NodeSession::cancel(TicketId ticket) { send(FrameType::cancel, ticket, Json::object()); }

void NodeSession::answer(TicketId ticket, const Answer& answer) {
  may_have_contributed_ |=
      answer.outcome == Outcome::accepted || answer.outcome == Outcome::pending;
  Json control = Json::object();
  control.set("verdict", name_of(answer.outcome));
  if (!answer.reason.empty()) control.set("reason", answer.reason);
  send(FrameType::verdict, ticket, control);
}

void NodeSession::drain(double seconds) {
  Json control = Json::object();
  send(FrameType::drain, 0, control.set("seconds", seconds));
}

void NodeSession::send(FrameType type, TicketId ticket, const Json& control, ByteView payload) {
  link_.send(encode_frame({type, static_cast<uint64_t>(ticket), control, payload}));
}

}  // namespace kaiseki::dist
