// SPDX-License-Identifier: MIT
#include "dist/net/task.h"

#include <cstdint>
#include <thread>
#include <utility>

#include "dist/net/author.h"
#include "dist/net/author_json.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "nn/io/base64.h"
#include "nn/io/sha256.h"

namespace kaiseki::dist {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause(200);
constexpr size_t kBytesAtOnce = 1 << 20;  // of tickets in one request, about
constexpr size_t kBytesOfTicket = 200;    // besides its input and blobs
constexpr size_t kReasons = 3;            // of dead tickets in one message

size_t bytes_of(const TicketSpec& ticket) {
  return kBytesOfTicket + ticket.input.size() * 4 / 3 + ticket.blobs.size() * 70;
}

Progress progress_of(const nn::Json& status) {
  return {integer_of(status, "free"), integer_of(status, "leased"), integer_of(status, "done"),
          integer_of(status, "dead")};
}

}  // namespace

Project::Project(const WireOptions& to, const std::string& name, double weight)
    : to_(to), client_(to) {
  nn::Json body = nn::Json::object();
  id_ = make("/api/projects", body.set("name", name).set("weight", weight), "project");
}

Project::~Project() {
  try {
    ask("DELETE", "/api/projects/" + std::to_string(id_));
  } catch (const Error& error) {
    log_warning(std::string("a project stays at the coordinator: ") + error.what());
  }
}

BlobHash Project::put_blob(ByteView bytes) {
  const BlobHash hash = nn::sha256(bytes);
  request("PUT", "/blobs/" + hash + "?project=" + std::to_string(id_), bytes);
  return hash;
}

/// Throws AuthorLost where the same request may do better later.
HttpReply Project::request(const std::string& method, const std::string& path, ByteView body) {
  HttpReply reply;
  std::string what;
  try {
    const std::lock_guard lock(mutex_);
    reply = client_.request(method, path, body);
    if (reply.status >= 200 && reply.status < 300) return reply;
    what = text_of(nn::parse_json(nn::as_text(reply.body), path), "error");
  } catch (const ParseError&) {  // of a proxy
  } catch (const Error& error) {
    throw AuthorLost(error.what());
  }
  what = message("pool", method, " ", path, " got status ", reply.status, ": ", what);
  if (reply.status == 429 || reply.status >= 500) throw AuthorLost(what);
  throw Error(what);
}

nn::Json Project::ask(const std::string& method, const std::string& path, const nn::Json& body) {
  const std::string text =
      body.is(nn::Json::Kind::null) ? std::string() : nn::format_json_line(body);
  const HttpReply reply = request(method, path, nn::as_bytes(text));
  return reply.body.empty() ? nn::Json() : nn::parse_json(nn::as_text(reply.body), path);
}

/// The number that the answer has under `what`.
int64_t Project::make(const std::string& path, const nn::Json& body, const char* what) {
  const int64_t made = integer_of(ask("POST", path, body), what);
  if (made < 1) throw Error(message("pool", "expected a ", what, " of ", path, ", got none"));
  return made;
}

Task::Task(Project& project, const TaskSpec& spec)
    : project_(project),
      lines_(project.to_),
      id_(project.make("/api/projects/" + std::to_string(project.id_) + "/tasks", to_json(spec),
                       "task")) {}

Task::~Task() {
  if ((open_.empty() && !strays_) || cancelled_) return;
  try {
    cancel();
  } catch (const Error& error) {
    log_warning(std::string("a task goes on at the coordinator: ") + error.what());
  }
}

size_t Task::calculate(std::span<const TicketSpec> inputs) {
  if (through_) {  // open ones there are those that an exception left to nobody
    project_.ask("DELETE", path() + "/tickets?open=1&through=" + std::to_string(INT64_MAX));
    through_ = strays_ = false;
    count_ = 0;
  }
  const size_t first = count_;
  try {
    while (!inputs.empty()) inputs = inputs.subspan(add(inputs));
  } catch (...) {
    std::erase_if(open_, [first](const auto& one) { return one.second >= first; });
    count_ = first;
    strays_ = true;
    through_ = first == 0;  // nobody waits for what is there
    throw;
  }
  return first;
}

size_t Task::calculate(std::span<const std::string> inputs) {
  std::vector<TicketSpec> tickets;
  for (const std::string& text : inputs) {
    const ByteView bytes = nn::as_bytes(text);
    tickets.push_back({.input = {bytes.begin(), bytes.end()}});
  }
  return calculate(tickets);
}

/// As many as fit into a request.
size_t Task::add(std::span<const TicketSpec> inputs) {
  nn::Json list = nn::Json::array(), body = nn::Json::object();
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
      if (!has_patience(error.what())) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
  through_ = true;
  expect_no_dead();
}

/// That it answers is not enough: what it is asked for may fail again and again.
bool Task::has_patience(const char* why) {
  if (!lost_) {
    lost_ = Clock::now();
    log_warning(std::string("the task waits for its coordinator: ") + why);
  }
  return Clock::now() - *lost_ < std::chrono::duration<double>(project_.to_.silence);
}

std::vector<ByteVector> Task::block() {
  std::vector<ByteVector> results(through_ ? 0 : count_);
  for_each_finished([&](size_t input, ByteVector result) { results[input] = std::move(result); });
  return results;
}

void Task::cancel() {
  cancelled_ = true;
  lines_.cancel();  // whoever waits there looks again
  nn::Json body = nn::Json::object();
  project_.ask("PATCH", path(), body.set("state", "cancelled"));
}

void Task::set_priority(int priority) {
  nn::Json body = nn::Json::object();
  project_.ask("PATCH", path(), body.set("priority", priority));
}

Progress Task::progress() { return progress_of(project_.ask("GET", path())); }

/// Throws when it is cancelled.
bool Task::is_open() {
  const nn::Json status = cancelled_ ? nn::Json() : project_.ask("GET", path());
  if (cancelled_ || text_of(status, "state") == "cancelled")
    throw Error(message("task", "expected it to go on, got it cancelled with ", open_.size(),
                        " results to come"));
  return progress_of(status).open() > 0;
}

/// Until nothing is open, here or there.
void Task::follow(const Take& take) {
  int status = 0;
  at_ = At::stream;
  try {
    status = lines_.follow(path() + "/results?follow=1&after=" + std::to_string(after_),
                           [&](std::string_view line) { return take_line(line, take); });
  } catch (const Error& error) {
    if (at_ != At::stream) throw;
    throw AuthorLost(error.what());
  }
  if (status != 200) throw AuthorLost(message("task", "expected results, got status ", status));
}

/// Whether others are wanted.
bool Task::take_line(std::string_view line, const Take& take) {
  if (line.empty()) {  // a sign of life
    lost_.reset();
    return true;
  }
  at_ = At::line;
  Finished one = read_finished(nn::parse_json(line, "results"));
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
  const nn::Json errors = project_.ask("GET", path() + "/errors");  // the newest first
  std::string reasons;
  size_t told = 0;
  for (const auto& [ticket, input] : dead_) {
    if (++told > kReasons) break;
    reasons += "; input " + std::to_string(input);
    for (const nn::Json& one : errors.items) {
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
