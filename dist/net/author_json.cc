// SPDX-License-Identifier: MIT
#include "dist/net/author_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/base64.h"
#include "base/utf8.h"

namespace kaiseki::dist {
namespace {

constexpr int kMostBlobs = 500;  // per ticket: they fit into a frame's control part

/// Writes `bytes` as text if they are UTF-8, else as Base64.
void set_bytes(Json& line, ByteView bytes) {
  const std::string_view text = as_text(bytes);
  if (is_utf8(text))
    line.set("result", std::string(text));
  else
    line.set("result_base64", encode_base64(bytes));
}

constexpr std::array<std::string_view, 3> kVerifications = {"none", "quorum", "adaptive"};

std::string name_of(Verification verification) {
  return std::string(kVerifications[static_cast<size_t>(verification)]);
}

}  // namespace

Json to_json(const ProjectStatus& project) {
  Json json = Json::object();
  json.set("project", project.id).set("name", project.name).set("weight", project.weight);
  if (project.lapse) json.set("lapse", *project.lapse);
  return json;
}

Json to_json(const CurvePoint& point) {
  Json json = Json::object();
  json.set("step", point.step);
  if (point.loss) json.set("loss", *point.loss);
  if (point.accuracy) json.set("accuracy", *point.accuracy);
  if (point.steps) json.set("steps", *point.steps);
  if (point.epoch) json.set("epoch", *point.epoch);
  if (point.epochs) json.set("epochs", *point.epochs);
  return json;
}

Json to_json(const TaskStatus& task) {
  static constexpr const char* kStates[] = {"running", "paused", "cancelled"};
  Json json = Json::object();
  json.set("task", task.id).set("project", task.project).set("name", task.spec.name);
  json.set("state", kStates[static_cast<int>(task.state)]);
  json.set("function", task.spec.function).set("module", task.spec.module);
  json.set("priority", task.spec.priority);
  json.set("verification", name_of(task.spec.verification));
  return json;
}

Json to_json(const TaskStatus& task, const Progress& progress, const std::string& waits) {
  Json json = to_json(task);
  json.set("free", progress.free).set("leased", progress.leased).set("waits", waits);
  return json.set("done", progress.done).set("dead", progress.dead);
}

Json to_json(const NodeStatus& node) {
  Json json = Json::object();
  json.set("node", node.id).set("name", node.info.name).set("device", node.info.device);
  json.set("threads", node.info.threads).set("gflops", node.info.gflops.value_or(0));
  json.set("memory_bytes", static_cast<int64_t>(node.info.memory_bytes.value_or(0)));
  const LinkSpeed link = node.info.link.value_or(LinkSpeed());
  json.set("down_mbit_s", link.down_mbit_s).set("up_mbit_s", link.up_mbit_s);
  json.set("round_trip_s", link.round_trip_s);
  json.set("trusted", node.info.trusted).set("connected", node.connected);
  json.set("leases", node.leases).set("accepted", node.accepted).set("failed", node.failed);
  json.set("consecutive_valid", node.consecutive_valid).set("last_seen", node.last_seen);
  json.set("expelled", node.expelled).set("resting", node.resting);
  const char* here = node.connected ? "connected" : "away";
  return json.set("state", node.expelled.empty() ? here : "expelled").set("reason", node.expelled);
}

Json to_json(const TicketError& error) {
  Json json = Json::object();
  json.set("ticket", error.ticket).set("node", error.node).set("time", error.time);
  return json.set("error", error.text);
}

Json to_json(const Finished& one) {
  Json line = Json::object();
  line.set("sequence", one.sequence).set("ticket", one.ticket);
  if (one.dead) return line.set("dead", true);
  line.set("node", one.node).set("checked", one.checked);
  if (!one.blob.empty()) return line.set("blob", one.blob);
  set_bytes(line, one.result);
  return line;
}

Json to_json(const TaskSpec& task) {
  Json json = Json::object();
  json.set("name", task.name).set("function", task.function).set("module", task.module);
  json.set("priority", task.priority).set("verification", name_of(task.verification));
  json.set("quorum", task.quorum).set("max_attempts", task.max_attempts);
  json.set("memory_bytes", static_cast<int64_t>(task.memory_bytes));
  return json.set("public_data", task.public_data);
}

Json to_json(const TicketSpec& ticket) {
  Json json = Json::object(), blobs = Json::array();
  for (const BlobHash& hash : ticket.blobs) blobs.items.emplace_back(hash);
  json.set("input_base64", encode_base64(ticket.input)).set("blobs", std::move(blobs));
  json.set("work", ticket.work).set("prefer", ticket.prefer);
  return json.set("max_result_bytes", static_cast<int64_t>(ticket.max_result_bytes));
}

Finished read_finished(const Json& line) {
  Finished one;
  one.sequence = integer_of(line, "sequence");
  one.ticket = integer_of(line, "ticket");
  one.dead = line.find("dead") != nullptr;
  one.node = text_of(line, "node");
  one.blob = text_of(line, "blob");
  if (line.find("result_base64")) {
    one.result = decode_base64(text_of(line, "result_base64"), "results");
  } else {
    const std::string text = text_of(line, "result");
    const ByteView bytes = as_bytes(text);
    one.result.assign(bytes.begin(), bytes.end());
  }
  return one;
}

CurvePoint read_point(const Fields& fields) {
  constexpr int64_t kMost = int64_t{1} << 53;
  CurvePoint point{fields.integer("step", 0, 0, kMost)};
  if (fields.has("loss")) point.loss = fields.number("loss", 0, -1e30, 1e30);
  if (fields.has("accuracy")) point.accuracy = fields.number("accuracy", 0, 0, 1);
  if (fields.has("steps")) point.steps = fields.integer("steps", 0, 0, kMost);
  if (fields.has("epoch")) point.epoch = fields.integer("epoch", 0, 0, kMost);
  if (fields.has("epochs")) point.epochs = fields.integer("epochs", 0, 0, kMost);
  return point;
}

TaskSpec read_task(const Fields& fields) {
  TaskSpec spec;
  spec.name = fields.text("name", "");
  spec.function = fields.text("function", "");
  spec.module = fields.text("module", "");
  spec.priority = static_cast<int>(fields.integer("priority", 0, -1000, 1000));
  const std::string verification = fields.text("verification", name_of(spec.verification));
  const auto known = std::ranges::find(kVerifications, verification);
  if (known == kVerifications.end())
    fields.fail("verification", "expected none, quorum or adaptive, got " + verification);
  spec.verification = static_cast<Verification>(known - kVerifications.begin());
  spec.quorum = static_cast<int>(fields.integer("quorum", spec.quorum, 2, 100));
  spec.max_attempts = static_cast<int>(fields.integer("max_attempts", spec.max_attempts, 1, 1000));
  spec.public_data = fields.boolean("public_data", true);
  spec.memory_bytes =
      static_cast<uint64_t>(fields.integer("memory_bytes", kDefaultMemory, 1, int64_t{1} << 40));
  return spec;
}

TicketSpec read_ticket(const Fields& fields) {
  TicketSpec ticket;
  const std::string text = fields.text("input", "");
  const ByteView bytes = as_bytes(text);
  ticket.input.assign(bytes.begin(), bytes.end());
  if (fields.has("input_base64"))
    ticket.input = decode_base64(fields.text("input_base64", ""), "input_base64");
  ticket.blobs = fields.texts("blobs", kMostBlobs);
  ticket.max_result_bytes = static_cast<uint64_t>(fields.integer(
      "max_result_bytes", static_cast<int64_t>(ticket.max_result_bytes), 0, int64_t{1} << 40));
  ticket.work = fields.number("work", 1, 1e-9, 1e12);
  ticket.prefer = fields.text("prefer", "");
  return ticket;
}

}  // namespace kaiseki::dist
