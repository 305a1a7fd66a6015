// SPDX-License-Identifier: MIT
#include "dist/net/remote_author.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <climits>
#include <cstdio>
#include <random>
#include <utility>

#include "dist/net/author_json.h"
#include "dist/pool/text.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "nn/io/sha256.h"

namespace kaiseki::dist {
namespace {

constexpr double kNodesSeconds = 0.5;  // how old the list of nodes may be
constexpr double kFirstWait = 0.5, kLongestWait = 5;
constexpr size_t kDiscardAtOnce = 10000;
constexpr size_t kLongestReason = 500;  // it is part of a URL

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string url_of(const CoordinatorUrl& url) {
  return (url.tls ? "https://" : "http://") + url.host + ":" + url.port;
}

std::string random_name() {
  char name[9];
  std::snprintf(name, sizeof name, "%08x", std::random_device{}());
  return name;
}

/// For a place after "?name=".
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    char code[4] = {c};
    if (!std::isalnum(static_cast<unsigned char>(c)))
      std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    out += code;
  }
  return out;
}

NodeStatus read_node(const nn::Json& json) {
  NodeStatus node;
  if (const nn::Json* value = json.find("node")) node.id = value->string;
  auto number = [&](const char* key, double& to) {
    if (const nn::Json* value = json.find(key)) to = value->number;
  };
  number("gflops", node.info.gflops);
  number("down_mbit_s", node.info.link.down_mbit_s);
  number("up_mbit_s", node.info.link.up_mbit_s);
  number("round_trip_s", node.info.link.round_trip_s);
  node.info.threads =
      static_cast<int>(std::clamp<int64_t>(integer_of(json, "threads"), 1, INT_MAX));
  if (const nn::Json* value = json.find("trusted")) node.info.trusted = value->boolean;
  if (const nn::Json* value = json.find("connected")) node.connected = value->boolean;
  if (const nn::Json* value = json.find("expelled")) node.expelled = value->string;
  node.info.functions = {kTrainingFunction};  // only such were asked for
  return node;
}

}  // namespace

RemoteAuthor::RemoteAuthor(const WireOptions& to, bool public_data,
                           std::function<void(std::function<void()>)> post,
                           std::function<void(const Finished&)> finished)
    : name_(url_of(to.url)),
      project_name_("training " + random_name()),
      public_data_(public_data),
      client_(to),
      post_(std::move(post)),
      finished_(std::move(finished)),
      follower_(to, [this](int64_t era, const Finished& one) {
        post_([this, era, one] {
          if (era != era_ || project_ == 0) return;
          if (!one.blob.empty()) loose_.push_back(one.blob);
          finished_(one);
        });
      }) {
  const HttpReply reply = client_.request("GET", "/api/role");
  const bool is_viewers =
      reply.status == 200 && nn::as_text(reply.body).find("\"viewer\"") != std::string_view::npos;
  if (reply.status == 401 || is_viewers)
    throw Error(message("pool", "expected the author's token of ", name_,
                        " (author.token in its state folder; --pool-token-file), got ",
                        is_viewers         ? "the viewer's"
                        : to.token.empty() ? "none"
                                           : "another"));
  if (reply.status != 200)
    throw Error(message("pool", "expected a coordinator (kaiseki serve) at ", name_,
                        ", got status ", reply.status));
}

bool RemoteAuthor::ready() { return wait_ == 0 || steady_seconds() >= retry_; }

void RemoteAuthor::lose(const std::string& why) {
  if (wait_ == 0)
    log_warning("training goes on alone until the pool at " + name_ + " is back: " + why);
  wait_ = std::clamp(2 * wait_, kFirstWait, kLongestWait);
  retry_ = steady_seconds() + wait_;
  follower_.leave();
  left_behind_ = true;
  asked_ = 0;
  discard_loose();
  throw AuthorLost(why);
}

nn::Json RemoteAuthor::ask(const std::string& method, const std::string& path, ByteView body) {
  HttpReply reply;
  nn::Json json;
  try {
    reply = client_.request(method, path, body);
    if (reply.body.size() > 0) json = nn::parse_json(nn::as_text(reply.body), path);
  } catch (const Error& error) {
    lose(error.what());
  }
  if (reply.status >= 200 && reply.status < 300) return json;
  const nn::Json* what = json.find("error");
  if (reply.status == 413)
    throw Error(message("pool", "expected a coordinator that takes ", body.size(),
                        " bytes at once, ", method, " ", path, " got: ", what ? what->string : "",
                        "; start kaiseki serve with a larger --limit blob_bytes=NUMBER, or of "
                        "json_bytes for tickets"));
  lose(message("pool", method, " ", path, " got status ", reply.status, ": ",
               what ? what->string : ""));
}

nn::Json RemoteAuthor::ask(const std::string& method, const std::string& path,
                           const nn::Json& body) {
  const std::string text = nn::format_json_line(body);
  return ask(method, path, nn::as_bytes(text));
}

/// The number that the answer has under `what`.
int64_t RemoteAuthor::make(const std::string& path, const nn::Json& body, const char* what) {
  const int64_t made = integer_of(ask("POST", path, body), what);
  if (made < 1) lose(message("pool", "expected a ", what, " of ", path));
  return made;
}

std::vector<NodeStatus> RemoteAuthor::nodes() {
  const double now = steady_seconds();
  if (expelled_.empty() && now - asked_ < kNodesSeconds) return nodes_;
  if (const std::string problem = follower_.problem(); !problem.empty()) lose(problem);
  if (left_behind_) come_back();
  look_at_task();
  put_out();
  const nn::Json list = ask("GET", std::string("/api/nodes?function=") + kTrainingFunction);
  nodes_.clear();
  for (const nn::Json& one : list.items) nodes_.push_back(read_node(one));
  if (!public_data_)
    std::erase_if(nodes_, [](const NodeStatus& node) { return !node.info.trusted; });
  asked_ = now;
  return nodes_;
}

/// One that the coordinator has forgotten needs no putting out.
void RemoteAuthor::put_out() {
  while (!expelled_.empty()) {
    const auto& [node, reason] = expelled_.back();
    try {
      const std::string path = "/api/nodes/" + node + "?reason=" + escaped(reason);
      const HttpReply reply = client_.request("DELETE", path);
      if (reply.status >= 500) lose(message("pool", "DELETE ", path, " got ", reply.status));
    } catch (const Error& error) {
      lose(error.what());
    }
    expelled_.pop_back();
  }
}

int64_t RemoteAuthor::make_project(const std::string& what) {
  nn::Json project = nn::Json::object();
  return make("/api/projects", project.set("name", project_name_ + what), "project");
}

void RemoteAuthor::expel(const NodeId& node, const std::string& reason) {
  expelled_.emplace_back(node, clean_text(reason, kLongestReason));
}

void RemoteAuthor::put_blob(const BlobHash& hash, ByteView bytes) {
  if (kept_ == 0) kept_ = make_project(": weights and samples");
  std::erase(discarded_, hash);
  ask("PUT", "/blobs/" + hash + "?project=" + std::to_string(kept_), bytes);
}

BlobHash RemoteAuthor::store(ByteView bytes) {
  const BlobHash hash = nn::sha256(bytes);
  std::erase(discarded_, hash);
  ask("PUT", "/blobs/" + hash, bytes);
  loose_.push_back(hash);
  return hash;
}

TicketId RemoteAuthor::add_tickets(std::span<const TicketSpec> tickets) {
  nn::Json made = nn::Json::object(), list = nn::Json::array();
  if (task_ == 0) {
    project_ = make_project("");
    made.set("name", "training").set("function", kTrainingFunction);
    task_ =
        make("/api/projects/" + std::to_string(project_) + "/tasks",
             made.set("max_attempts", kTrainingAttempts).set("public_data", public_data_), "task");
    ++era_;
    tell_curve();
  }
  for (const TicketSpec& ticket : tickets) list.items.push_back(to_json(ticket));
  nn::Json body = nn::Json::object();
  const TicketId first =
      make("/api/tasks/" + std::to_string(task_) + "/tickets", body.set("tickets", list), "first");
  follower_.follow(era_, task_);
  if (std::exchange(wait_, 0) > 0) log_info("the pool at " + name_ + " is back");
  return first;
}

/// What tickets named goes with them.
void RemoteAuthor::discard_loose() {
  discarded_.insert(discarded_.end(), loose_.begin(), loose_.end());
  loose_.clear();
}

void RemoteAuthor::forget(TicketId through) {
  through_ = through;
  discard_loose();
}

void RemoteAuthor::abandon(TicketId through) {
  through_ = 0;
  discard_loose();
  ask("DELETE",
      "/api/tasks/" + std::to_string(task_) + "/tickets?open=1&through=" + std::to_string(through));
}

void RemoteAuthor::sweep() {
  if (through_ > 0)
    ask("DELETE", "/api/tasks/" + std::to_string(task_) +
                      "/tickets?through=" + std::to_string(std::exchange(through_, 0)));
  while (!discarded_.empty() && kept_ > 0) {
    nn::Json body = nn::Json::object(), blobs = nn::Json::array();
    for (size_t i = 0; i < kDiscardAtOnce && !discarded_.empty(); ++i) {
      blobs.items.emplace_back(discarded_.back());
      discarded_.pop_back();
    }
    ask("POST", "/api/projects/" + std::to_string(kept_) + "/discard", body.set("blobs", blobs));
  }
}

}  // namespace kaiseki::dist
