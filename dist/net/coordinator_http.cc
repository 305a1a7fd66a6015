// SPDX-License-Identifier: MIT
// The coordinator's HTTP: checks tokens and passes requests on.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "dist/net/coordinator.h"
#include "dist/net/json_fields.h"
#include "dist/net/proof.h"

namespace kaiseki::dist {
namespace {

constexpr uint64_t kPieceBytes = 256 << 10, kCheckedBytes = 4 << 20;
constexpr size_t kMostOffers = 100;  // tasks in the public list
constexpr std::string_view kBlobs = "/blobs/";
constexpr std::string_view kLink = "/link";  // to measure a node's link
constexpr uint64_t kMostLink = 4 << 20;
constexpr size_t kMostNonce = 64;

bool is_reading(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_below(const HttpRequest& request, std::string_view folder) {
  return request.path.starts_with(folder);
}

HttpResponse not_allowed(std::string_view methods) {
  HttpResponse response = HttpResponse::problem(405, "expected " + std::string(methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

/// Sends a blob's bytes from `offset` in chunks. Before that it checks the blob's hash in pieces.
/// Between two pieces, `wake` lets the server answer others.
HttpResponse stream(BlobStore& blobs, const BlobHash& hash, uint64_t offset, uint64_t count,
                    const std::function<void()>& wake) {
  HttpResponse response{.type = "application/octet-stream"};
  response.length = count;
  response.next = [&blobs, hash, offset, left = count, wake]() mutable -> HttpChunk {
    if (left == 0) return {};
    if (!blobs.check(hash, kCheckedBytes)) {
      wake();
      return {HttpChunk::Kind::wait};
    }
    const ByteVector bytes = blobs.read(hash, offset, std::min(left, kPieceBytes));
    if (bytes.empty()) return {};
    offset += bytes.size();
    left -= bytes.size();
    return {HttpChunk::Kind::bytes, std::string(as_text(bytes))};
  };
  return response;
}

HttpResponse read_blob(BlobStore& blobs, const HttpRequest& request,
                       const std::function<void()>& wake) {
  const BlobHash hash = request.path.substr(kBlobs.size());
  if (!is_sha256(hash) || !blobs.contains(hash)) return HttpResponse::problem(404, "no such blob");
  const std::string tag = '"' + hash + '"';
  HttpResponse response;
  if (request.header("if-none-match") == tag) {
    response.status = 304;
  } else {
    const uint64_t size = blobs.size(hash);
    const auto range = parse_range(request.header("range"), size);
    if (range && range->second == 0) {
      response = HttpResponse::problem(416, "expected a range within the blob");
      response.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
      return response;
    }
    const auto [offset, count] = range.value_or(std::pair{uint64_t{0}, size});
    response = stream(blobs, hash, offset, count, wake);
    response.headers.emplace_back("Accept-Ranges", "bytes");
    if (range) {
      response.status = 206;
      response.headers.emplace_back("Content-Range", "bytes " + std::to_string(offset) + "-" +
                                                         std::to_string(offset + count - 1) + "/" +
                                                         std::to_string(size));
    }
  }
  response.headers.emplace_back("ETag", tag);
  // Nodes made some of the blobs, so a browser must not run them.
  response.headers.emplace_back("Content-Security-Policy", "sandbox; default-src 'none'");
  response.headers.emplace_back("Content-Disposition", "attachment");
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

HttpResponse wants_token(std::string_view whose) {
  HttpResponse response = HttpResponse::problem(
      401, "expected \"Authorization: Bearer\" with the " + std::string(whose) + " token");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

/// Sends arbitrary bytes to a node that measures its link, and discards the node's bytes.
HttpResponse link(const HttpRequest& request) {
  if (request.method == "PUT") return {.status = 204};
  if (!is_reading(request)) return not_allowed("GET, HEAD, PUT");
  uint64_t left = std::strtoull(request.parameter("bytes", "1").c_str(), nullptr, 10);
  if (left < 1 || left > kMostLink)
    return HttpResponse::problem(422, "expected bytes of 1 to " + std::to_string(kMostLink));
  HttpResponse response{.type = "application/octet-stream"};
  response.length = left;
  response.next = [left]() mutable -> HttpChunk {
    if (left == 0) return {};
    const uint64_t count = std::min(left, kPieceBytes);
    left -= count;
    return {HttpChunk::Kind::bytes, std::string(count, '\0')};
  };
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

/// The public list: running tasks with public data, by project, with their progress. Tasks with
/// open tickets come first, then finished ones, the newest first. The list also has the bytes that
/// a working node sends and receives in an hour.
std::string offers(const Pool& pool, double node_bytes_an_hour) {
  const std::vector<TaskStatus> known = pool.tasks();
  std::vector<const TaskStatus*> listed, through;
  for (const TaskStatus& task : known)
    if (task.state == TaskState::running && task.spec.public_data)
      (pool.progress(task.id).open() > 0 ? listed : through).push_back(&task);
  listed.insert(listed.end(), through.rbegin(), through.rend());
  listed.resize(std::min(listed.size(), kMostOffers));
  std::map<ProjectId, Json> tasks;
  for (const TaskStatus* task : listed) {
    const Progress progress = pool.progress(task->id);
    Json one = Json::object();
    one.set("task", task->id).set("name", task->spec.name);
    one.set("function", task->spec.function).set("modules", !task->spec.module.empty());
    one.set("open", progress.open()).set("waits", pool.wait_reason(task->id));
    tasks.try_emplace(task->project, Json::array())
        .first->second.items.push_back(one.set("done", progress.done));
  }
  Json all = Json::array();
  for (const ProjectStatus& project : pool.projects()) {
    const auto found = tasks.find(project.id);
    if (found == tasks.end()) continue;
    Json one = Json::object();
    one.set("name", project.name).set("tasks", std::move(found->second));
    all.items.push_back(one.set("project", project.id));
  }
  Json json = Json::object();
  json.set("projects", std::move(all)).set("node_bytes_an_hour", std::round(node_bytes_an_hour));
  return format_json_line(json) + "\n";
}

}  // namespace

bool Coordinator::is_author(const HttpRequest& request) const {
  return has_bearer(request, options_.author_token);
}

void Coordinator::log_token(const HttpRequest& head, const std::string& of) const {
  if (head.header("authorization").empty()) return;
  log_.security("token_refused",
                {{"expected", of}, {"path", head.path}, {"address", shown(head.address)}},
                head.address);
}

Service::Admission Coordinator::admit(const HttpRequest& head) {
  const bool is_node = has_bearer(head, options_.node_token);
  const bool is_viewer = has_bearer(head, options_.viewer_token);
  Admission admission = admit(head, is_node, is_viewer);
  const bool trusted = is_node || is_viewer || is_author(head);
  if (trusted) admission.standing = Standing::trusted;
  return admission;
}

Service::Admission Coordinator::admit(const HttpRequest& head, bool is_node, bool is_viewer) {
  const bool to_api = is_below(head, "/api/");
  const bool to_blobs = is_below(head, kBlobs);
  const bool to_link = head.path == kLink;
  const bool public_ = is_reading(head) && !to_api && !to_link && head.path != "/metrics";
  if (to_link && !is_author(head) && !is_node) {
    metrics_.refuse(Refusal::node_token);
    log_token(head, "node");
    return {0, wants_token("node's")};
  }
  if (to_link) return {head.method == "PUT" ? kMostLink : 0, {}, true};
  if (!public_ && !(is_viewer && is_reading(head)) && !is_author(head)) {
    metrics_.refuse(Refusal::author_token);
    log_token(head, "author");
    return {0, wants_token("author's")};
  }
  if (to_api) return {static_cast<uint64_t>(limits().json_bytes)};
  if (to_blobs && head.method == "PUT") return {static_cast<uint64_t>(limits().blob_bytes)};
  return {};
}

HttpResponse Coordinator::answer(const HttpRequest& request) {
  if (request.path == "/api/role" && is_reading(request))
    return HttpResponse::json(is_author(request) ? R"({"role": "author"})"
                                                 : R"({"role": "viewer"})");
  if (is_below(request, "/api/")) return api_.answer(request);
  if (is_below(request, kBlobs)) {
    if (request.method == "PUT") return api_.put_blob(request, request.path.substr(kBlobs.size()));
    if (!is_reading(request)) return not_allowed("GET, HEAD, PUT");
    HttpResponse response = read_blob(blobs_, request, [this] { server_.wake(); });
    if (request.method == "GET" && !is_author(request))
      metrics_.add(Counter::blob_bytes_sent, response.length.value_or(0));
    return response;
  }
  if (request.path == kLink) return link(request);
  if (request.path == kProofPath && is_reading(request)) return proofs(request);
  if (!is_reading(request)) return not_allowed("GET, HEAD");
  if (request.path == "/pool") {
    HttpResponse response = HttpResponse::shared(
        offers_.get(server_.now(), "",
                    [this] { return offers(pool_, traffic_.bytes_an_hour().value_or(0)); }),
        "application/json");
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
  }
  if (request.path == "/metrics") return metrics_page();
  if (request.path == "/healthz")
    return draining_ ? HttpResponse{.status = 503, .body = "ending\n"}
                     : HttpResponse{.body = "ok\n"};
  return pages_.answer(request);
}

HttpResponse Coordinator::proofs(const HttpRequest& request) const {
  const std::string nonce = request.parameter("nonce");
  if (nonce.size() > kMostNonce || !is_hex(nonce))
    return HttpResponse::problem(422, "expected a nonce of at most 64 hexadecimal digits");
  HttpResponse response = HttpResponse::json(
      format_proofs({options_.author_token, options_.viewer_token, options_.node_token},
                    {request.local, std::to_string(server_.port())}, nonce));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse Coordinator::metrics_page() const {
  size_t held = 0, nodes = 0;
  for (const auto& [serial, one] : sessions_) {
    held += one->held();
    nodes += !one->node().empty();
  }
  std::map<std::string, uint64_t> counted;  // an event is listed after it happened
  for (size_t i = 0; i < kPoolEvents.size(); ++i)
    if (const uint64_t count = pool_.counted(static_cast<PoolEvent>(i)))
      counted.emplace(kPoolEvents[i], count);
  return {.type = "text/plain; version=0.0.4; charset=utf-8",
          .body = metrics_.text({{"connections", static_cast<double>(server_.connections())},
                                 {"seats", static_cast<double>(server_.seats())},
                                 {"newcomers", static_cast<double>(server_.newcomers())},
                                 {"nodes", static_cast<double>(nodes)},
                                 {"tickets_held", static_cast<double>(held)}},
                                counted),
          .headers = {{"Cache-Control", "no-store"}}};
}

}  // namespace kaiseki::dist
