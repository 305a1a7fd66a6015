// SPDX-License-Identifier: MIT
#include "dist/net/task.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "dist/net/author.h"
#include "dist/net/author_json.h"

namespace kaiseki::dist {
namespace {

constexpr std::chrono::milliseconds kPause(200);
constexpr size_t kBytesAtOnce = 1 << 20;  // approximate size of the tickets in one request
constexpr size_t kBytesOfTicket = 200;    // without its input and blobs
constexpr size_t kReasons = 3;            // dead tickets with reasons in one message

size_t bytes_of(const TicketSpec& ticket) {
  return kBytesOfTicket + ticket.input.size() * 4 / 3 + ticket.blobs.size() * 70;
}

Progress progress_of(const Json& status) {
  return {integer_of(status, "free"), integer_of(status, "leased"), integer_of(status, "done"),
          integer_of(status, "dead")};
}

}  // namespace

Project::Project(const WireOptions& to, const std::string& name, double weight)
    : to_(to), client_(to) {
  Json body = Json::object();
  id_ = make("/api/projects", body.set("name", name).set("weight", weight), "project");
}

Project::~Project() {
  try {
    ask("DELETE", "/api/projects/" + std::to_string(id_));
  } catch (const Error& error) {
    log_warning(std::string("a project was not deleted at the coordinator: ") + error.what());
  }
}

BlobHash Project::put_blob(ByteView bytes) {
  const BlobHash hash = sha256(bytes);
  request("PUT", "/blobs/" + hash + "?project=" + std::to_string(id_), bytes);
  return hash;
}

HttpReply Project::request(const std::string& method, const std::string& path, ByteView body) {
  const std::lock_guard lock(mutex_);
  return client_.request(method, path, body);
}

Json Project::ask(const std::string& method, const std::string& path, const Json& body) {
  const std::lock_guard lock(mutex_);
  return client_.ask(method, path, body);
}

int64_t Project::make(const std::string& path, const Json& body, const char* what) {
  const std::lock_guard lock(mutex_);
  return client_.make(path, body, what);
}

Task::Task(Project& project, const TaskSpec& spec)
    : project_(project),
      lines_(project.to_),
      id_(project.make("/api/projects/" + std::to_string(project.id_) + "/tasks", to_json(spec),
                       "task")) {}

Task::~Task() {
  if ((open_.empty() && !has_orphans_) || cancelled_) return;
  try {
    cancel();
  } catch (const Error& error) {
    log_warning(std::string("a task is still open at the coordinator: ") + error.what());
  }
}

size_t Task::calculate(std::span<const TicketSpec> inputs) {
  if (iteration_ended_) {  // deletes open tickets of a call that threw too
    project_.ask("DELETE", path() + "/tickets?open=1&through=" + std::to_string(INT64_MAX));
    iteration_ended_ = has_orphans_ = false;
    count_ = 0;
  }
  const size_t first = count_;
  try {
    while (!inputs.empty()) inputs = inputs.subspan(add(inputs));
  } catch (...) {
    std::erase_if(open_, [first](const auto& one) { return one.second >= first; });
    count_ = first;
    has_orphans_ = true;
    iteration_ended_ = first == 0;  // the next call may delete these tickets
    throw;
  }
  return first;
}

size_t Task::calculate(std::span<const std::string> inputs) {
  std::vector<TicketSpec> tickets;
  for (const std::string& text : inputs) {
    const ByteView bytes = as_bytes(text);
    tickets.push_back({.input = {bytes.begin(), bytes.end()}});
  }
  return calculate(tickets);
}

/// Adds as many inputs as fit into a request. Returns their number.
size_t Task::add(std::span<const TicketSpec> inputs) {
  Json list = Json::array(), body = Json::object();
  size_t some = 0;
  for (size_t bytes = 0; some < inputs.size() && bytes < kBytesAtOnce; ++some) {
    bytes += bytes_of(inputs[some]);
    list.items.push_back(to_json(inputs[some]));
  }
  const TicketId ticket =
      project_.make(path() + "/tickets", body.set("tickets", std::move(list)), "first");
  for (size_t i = 0; i < some; ++i) open_[ticket + static_cast<TicketId>(i)] = count_++;
  return some;
}

void Task::for_each_finished(const Take& take) {
  lost_.reset();
  at_ = At::stream;
  while (!open_.empty()) {
    try {
      const bool goes_on = is_open();
      const int64_t before = after_;
      follow(take);
      if (after_ != before) continue;
      if (!goes_on)
        throw Error(
            message("task", "expected ", open_.size(),
                    " results more, got none: the coordinator has forgotten their tickets"));
    } catch (const AuthorLost& error) {
      if (at_ == At::take) throw;
      if (cancelled_ || open_.empty()) continue;
      if (!may_retry(error.what())) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
  iteration_ended_ = true;
  expect_no_dead();
}

/// Returns false after a minute without a line. An answer alone does not restart the minute, as
/// requests may fail repeatedly.
bool Task::may_retry(const char* why) {
  if (!lost_) {
    lost_ = steady_seconds();
    log_warning(std::string("the task waits for its coordinator: ") + why);
  }
  return steady_seconds() - *lost_ < project_.to_.silence;
}

std::vector<ByteVector> Task::block() {
  std::vector<ByteVector> results(iteration_ended_ ? 0 : count_);
  for_each_finished([&](size_t input, ByteVector result) { results[input] = std::move(result); });
  return results;
}

void Task::cancel() {
  cancelled_ = true;
  lines_.cancel();  // a waiting follow() then checks the state
  Json body = Json::object();
  project_.ask("PATCH", path(), body.set("state", "cancelled"));
}

void Task::set_priority(int priority) {
  Json body = Json::object();
  project_.ask("PATCH", path(), body.set("priority", priority));
}

Progress Task::progress() { return progress_of(project_.ask("GET", path())); }

/// Whether tickets are open. Throws Error if the task is cancelled.
bool Task::is_open() {
  const Json status = cancelled_ ? Json() : project_.ask("GET", path());
  if (cancelled_ || text_of(status, "state") == "cancelled")
    throw Error(message("task", "the task was cancelled; ", open_.size(), " results are missing"));
  return progress_of(status).open() > 0;
}

/// Reads results until no ticket is open here or on the coordinator.
void Task::follow(const Take& take) {
  at_ = At::stream;
  try {
    follow_results(lines_, id_, after_,
                   [&](std::string_view line) { return take_line(line, take); });
  } catch (const Error& error) {
    if (at_ != At::stream) throw;
    throw AuthorLost(error.as_message());
  }
}

/// Returns whether to read further lines.
bool Task::take_line(std::string_view line, const Take& take) {
  if (line.empty()) {  // keeps the connection alive
    lost_.reset();
    return true;
  }
  at_ = At::line;
  Finished one = read_finished(parse_json(line, "results"));
  if (!one.blob.empty() && open_.contains(one.ticket))
    one.result = project_.request("GET", "/blobs/" + one.blob).body;
  after_ = one.sequence;
  lost_.reset();
  auto input = open_.extract(one.ticket);
  if (one.dead) {
    dead_.insert(std::move(input));
  } else if (!input.empty()) {
    at_ = At::take;
    take(input.mapped(), std::move(one.result));
  }
  at_ = At::stream;
  return !open_.empty();
}

void Task::expect_no_dead() {
  if (dead_.empty()) return;
  const Json errors = project_.ask("GET", path() + "/errors");  // the newest first
  std::string reasons;
  size_t told = 0;
  for (const auto& [ticket, input] : dead_) {
    if (++told > kReasons) break;
    reasons += "; input " + std::to_string(input);
    for (const Json& one : errors.items) {
      if (integer_of(one, "ticket") != ticket) continue;
      reasons += ": " + text_of(one, "error");
      break;
    }
  }
  const size_t dead = std::exchange(dead_, {}).size();
  throw Error(message("task", "expected nodes to do every input, got ", dead, " of ", count_,
                      " that none could", reasons));
}

}  // namespace kaiseki::dist
