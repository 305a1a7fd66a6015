// SPDX-License-Identifier: MIT
#include "dist/net/remote_author.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdio>
#include <random>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/sha256.h"
#include "dist/net/author_json.h"
#include "dist/pool/text.h"

namespace kaiseki::dist {
namespace {

constexpr double kNodesSeconds = 0.5;  // maximum age of the list of nodes
constexpr double kRenewSeconds = 2;
/// The coordinator deletes the project of a killed training after this time. Uploads may take
/// minutes.
constexpr double kLapseSeconds = 600;
constexpr double kFirstWait = 0.5, kLongestWait = 5;
constexpr size_t kDiscardAtOnce = 10000;
constexpr size_t kLongestReason = 500;  // bytes, as it is part of a URL

std::string url_of(const CoordinatorUrl& url) {
  return (url.tls ? "https://" : "http://") + url.host + ":" + url.port;
}

std::string random_name() {
  const unsigned number = std::random_device{}();
  return to_hex(std::as_bytes(std::span(&number, 1)));
}

/// Escapes a query parameter.
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

NodeStatus read_node(const Json& json) {
  NodeStatus node;
  if (const Json* value = json.find("node")) node.id = value->string;
  auto number = [&](const char* key, double& to) {
    if (const Json* value = json.find(key)) to = value->number;
  };
  double gflops = 0;
  number("gflops", gflops);
  node.info.gflops = measurement(gflops);
  LinkSpeed link;
  number("down_mbit_s", link.down_mbit_s);
  number("up_mbit_s", link.up_mbit_s);
  number("round_trip_s", link.round_trip_s);
  if (link != LinkSpeed()) node.info.link = link;
  node.info.memory_bytes =
      measurement(static_cast<uint64_t>(std::max<int64_t>(0, integer_of(json, "memory_bytes"))));
  node.info.threads =
      static_cast<int>(std::clamp<int64_t>(integer_of(json, "threads"), 1, INT_MAX));
  if (const Json* value = json.find("trusted")) node.info.trusted = value->boolean;
  if (const Json* value = json.find("connected")) node.connected = value->boolean;
  if (const Json* value = json.find("expelled")) node.expelled = value->string;
  number("resting", node.resting);
  return node;
}

}  // namespace

RemoteAuthor::RemoteAuthor(const WireOptions& to, AuthorWork work,
                           std::function<void(std::function<void()>)> post,
                           std::function<void(const Finished&)> finished)
    : name_(url_of(to.url)),
      work_(std::move(work)),
      project_name_(work_.name + " " + random_name()),
      client_(to),
      post_(std::move(post)),
      finished_(std::move(finished)),
      follower_(to, [this](int64_t era, const Finished& one) {
        post_([this, era, one] {
          if (era != era_ || !project_) return;
          if (!one.blob.empty()) ticket_blobs_.push_back(one.blob);
          finished_(one);
        });
      }) {
  std::string role = to.token.empty() ? "none" : "one that it does not know";
  try {
    role = text_of(client_.ask("GET", "/api/role"), "role");
  } catch (const ApiRefused& error) {
    if (error.status != 401)
      throw Error(message("pool", "expected a coordinator (kaiseki serve) at ", name_,
                          ", got status ", error.status));
  }
  if (role != "author")
    throw WrongToken(message("pool", "expected the author's token of ", name_,
                             " (author.token in its state folder), got ",
                             role == "viewer" ? "the viewer's" : role));
}

bool RemoteAuthor::ready() { return !wait_ || steady_seconds() >= retry_; }

void RemoteAuthor::lose(const Message& why) {
  if (!wait_)
    log_warning(work_.name + " continues alone until the pool at " + name_ +
                " is back: " + why.text);
  wait_ = wait_ ? std::min(2 * *wait_, kLongestWait) : kFirstWait;
  retry_ = steady_seconds() + *wait_;
  follower_.leave();
  must_reconnect_ = true;
  asked_.reset();
  discard_ticket_blobs();
  throw AuthorLost(why);
}

/// If the coordinator refuses a request, the caller continues alone. Status 413 (too large) is an
/// error instead.
template <class Call>
auto RemoteAuthor::call(Call call) {
  try {
    return call();
  } catch (const ApiRefused& error) {
    if (error.status == 413)
      throw Error(error.as_message() +
                  "; the coordinator's limit blob_bytes is too small, or json_bytes for tickets");
    lose(error.as_message());
  } catch (const AuthorLost& error) {
    lose(error.as_message());
  }
}

Json RemoteAuthor::ask(const std::string& method, const std::string& path, const Json& body) {
  return call([&] { return client_.ask(method, path, body); });
}

int64_t RemoteAuthor::make(const std::string& path, const Json& body, const char* what) {
  return call([&] { return client_.make(path, body, what); });
}

void RemoteAuthor::upload(const std::string& path, ByteView bytes) {
  call([&] { return client_.request("PUT", path, bytes); });
}

std::vector<NodeStatus> RemoteAuthor::nodes() {
  const double now = steady_seconds();
  if (expelled_.empty() && asked_ && now - *asked_ < kNodesSeconds) return nodes_;
  if (const std::string problem = follower_.problem(); !problem.empty()) lose({problem});
  if (must_reconnect_) reconnect();
  update_state();
  if (!renewed_ || now - *renewed_ >= kRenewSeconds) {
    renew();
    renewed_ = now;
  }
  send_expulsions();
  const Json list = ask("GET", "/api/nodes?function=" + work_.function);
  nodes_.clear();
  for (const Json& one : list.items) nodes_.push_back(read_node(one));
  if (!work_.public_data)
    std::erase_if(nodes_, [](const NodeStatus& node) { return !node.info.trusted; });
  asked_ = now;
  return nodes_;
}

/// Ignores refusals: the coordinator has already forgotten such a node.
void RemoteAuthor::send_expulsions() {
  while (!expelled_.empty()) {
    const auto& [node, reason] = expelled_.back();
    try {
      client_.request("DELETE", "/api/nodes/" + node +
                                    "?kind=" + std::string(name_of(reason.kind)) +
                                    "&reason=" + escaped(reason.detail));
    } catch (const ApiRefused&) {
    } catch (const AuthorLost& error) {
      lose(error.as_message());
    }
    expelled_.pop_back();
  }
}

int64_t RemoteAuthor::make_project(const std::string& what) {
  Json project = Json::object();
  project.set("name", project_name_ + what).set("lapse", kLapseSeconds);
  return make("/api/projects", project, "project");
}

void RemoteAuthor::expel(const NodeId& node, const ExpulsionReason& reason) {
  expelled_.push_back({node, {clean_text(reason.detail, kLongestReason), reason.kind}});
}

void RemoteAuthor::put_blob(const BlobHash& hash, ByteView bytes) {
  if (!blob_project_) blob_project_ = make_project(": data");
  std::erase(discarded_, hash);
  upload("/blobs/" + hash + "?project=" + std::to_string(*blob_project_), bytes);
}

BlobHash RemoteAuthor::store(ByteView bytes) {
  const BlobHash hash = sha256(bytes);
  std::erase(discarded_, hash);
  upload("/blobs/" + hash, bytes);
  ticket_blobs_.push_back(hash);
  return hash;
}

TicketId RemoteAuthor::add_tickets(std::span<const TicketSpec> tickets, uint64_t memory_bytes) {
  Json made = Json::object(), list = Json::array();
  if (!task_) {
    project_ = make_project("");
    made.set("name", work_.name).set("function", work_.function);
    made.set("memory_bytes", static_cast<int64_t>(memory_bytes));
    made.set("verification", "none");  // the author checks results
    made.set("max_attempts", kAuthorAttempts).set("public_data", work_.public_data);
    task_ = make("/api/projects/" + std::to_string(*project_) + "/tasks", made, "task");
    ++era_;
    send_curve();
  }
  for (const TicketSpec& ticket : tickets) list.items.push_back(to_json(ticket));
  Json body = Json::object();
  const TicketId first =
      make("/api/tasks/" + std::to_string(*task_) + "/tickets", body.set("tickets", list), "first");
  follower_.follow(era_, *task_);
  if (std::exchange(wait_, std::nullopt)) log_info("the pool at " + name_ + " is back");
  return first;
}

/// The blobs of the tickets are deleted with the tickets.
void RemoteAuthor::discard_ticket_blobs() {
  discarded_.insert(discarded_.end(), ticket_blobs_.begin(), ticket_blobs_.end());
  ticket_blobs_.clear();
}

void RemoteAuthor::forget(TicketId through) {
  through_ = through;
  discard_ticket_blobs();
}

void RemoteAuthor::abandon(TicketId through) {
  through_.reset();
  discard_ticket_blobs();
  ask("DELETE", "/api/tasks/" + std::to_string(task_.value()) +
                    "/tickets?open=1&through=" + std::to_string(through));
}

void RemoteAuthor::sweep() {
  if (through_)
    ask("DELETE", "/api/tasks/" + std::to_string(task_.value()) +
                      "/tickets?through=" + std::to_string(*std::exchange(through_, std::nullopt)));
  while (!discarded_.empty() && blob_project_) {
    Json body = Json::object(), blobs = Json::array();
    for (size_t i = 0; i < kDiscardAtOnce && !discarded_.empty(); ++i) {
      blobs.items.emplace_back(discarded_.back());
      discarded_.pop_back();
    }
    ask("POST", "/api/projects/" + std::to_string(*blob_project_) + "/discard",
        body.set("blobs", blobs));
  }
}

}  // namespace kaiseki::dist
