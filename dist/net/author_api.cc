// SPDX-License-Identifier: MIT
#include "dist/net/author_api.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "dist/net/author_json.h"
#include "dist/pool/blobs.h"

namespace kaiseki::dist {
namespace {

constexpr int kMostDiscarded = 50000;
constexpr int kLinesAtOnce = 100;
constexpr double kLongestLapse = 30 * 86400;
constexpr double kAwaySeconds = 86400;  // the lists show nodes that were connected since

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t at = 1; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

int64_t number(const std::string& text, int64_t otherwise) {
  return parse_number<int64_t>(text).value_or(otherwise);
}

HttpResponse not_found() { return HttpResponse::problem(404, "no such thing"); }

HttpResponse not_allowed(std::string_view methods) {
  HttpResponse response = HttpResponse::problem(405, "expected " + std::string(methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

HttpResponse json(const Json& value, int status = 200) {
  return HttpResponse::json(format_json_line(value), status);
}

template <class List>
HttpResponse json_list(const List& list) {
  Json all = Json::array();
  for (const auto& one : list) all.items.push_back(to_json(one));
  return json(all);
}

}  // namespace

HttpResponse AuthorApi::answer(const HttpRequest& request) {
  const auto parts = split(request.path);  // "api", the kind, the id, a part of it
  const std::string kind = parts.size() > 1 ? parts[1] : "";
  const std::string id = parts.size() > 2 ? parts[2] : "";
  const std::string what = parts.size() > 3 ? parts[3] : "";
  if (parts.size() > 4) return not_found();
  if (kind == "nodes" && what.empty()) return nodes(request, id);
  if (id.empty() && kind == "projects") return projects(request);
  if (id.empty() && kind == "tasks") return request.method == "GET" ? tasks() : not_allowed("GET");
  if (id.empty() && kind == "history")
    return request.method == "GET" ? history(request) : not_allowed("GET");
  const int64_t number_of = number(id, 0);
  if (kind == "projects" && pool_.has_project(number_of)) return project(request, number_of, what);
  if (kind == "tasks" && pool_.has_task(number_of)) return task(request, number_of, what);
  return not_found();
}

HttpResponse AuthorApi::tasks() const {
  Json all = Json::array();
  for (const TaskStatus& task : pool_.tasks())
    all.items.push_back(to_json(task, pool_.progress(task.id), pool_.wait_reason(task.id)));
  return json(all);
}

HttpResponse AuthorApi::history(const HttpRequest& request) const {
  const auto seconds = static_cast<double>(number(request.parameter("seconds"), 0));
  return json(to_json(seconds > 0 ? history_.of(seconds) : history_.of()));
}

HttpResponse AuthorApi::projects(const HttpRequest& request) {
  if (request.method == "GET") {
    Json all = Json::array();
    for (const ProjectStatus& one : pool_.projects())
      all.items.push_back(to_json(one).set("trains", curves_.has(one.id)));
    return json(all);
  }
  if (request.method != "POST") return not_allowed("GET, POST");
  const Fields fields(request.body);
  std::optional<double> lapse;
  if (fields.has("lapse")) lapse = fields.number("lapse", 0, 1, kLongestLapse);
  const ProjectId id =
      pool_.create_project(fields.text("name", ""), fields.number("weight", 1, 1e-6, 1e6), lapse);
  Json made = Json::object();
  return json(made.set("project", id), 201);
}

HttpResponse AuthorApi::project(const HttpRequest& request, ProjectId id, const std::string& what) {
  if (what.empty()) {
    if (request.method != "DELETE") return not_allowed("DELETE");
    pool_.remove_project(id);
    curves_.forget(id);
    return {.status = 204};
  }
  if (what == "curve") return curve(request, id);
  if (what != "tasks" && what != "discard" && what != "renew") return not_found();
  if (request.method != "POST") return not_allowed("POST");
  if (what == "renew") {
    pool_.renew(id);
    return {.status = 204};
  }
  if (what == "discard") {
    const auto blobs = Fields(request.body).texts("blobs", kMostDiscarded);
    Json done = Json::object();
    return json(done.set("discarded", pool_.discard_blobs(id, blobs)));
  }
  Json made = Json::object();
  return json(made.set("task", pool_.create_task(id, read_task(Fields(request.body)))), 201);
}

HttpResponse AuthorApi::curve(const HttpRequest& request, ProjectId id) {
  if (request.method == "GET")
    return json_list(curves_.of(id, number(request.parameter("after"), -1)));
  if (request.method != "POST") return not_allowed("GET, POST");
  const Fields fields(request.body);
  if (!fields.has("points")) {
    curves_.add(id, read_point(fields));
    return {.status = 204};
  }
  std::vector<CurvePoint> points;
  for (const Fields& one : fields.list("points")) points.push_back(read_point(one));
  curves_.forget(id);
  for (const CurvePoint& point : points) curves_.add(id, point);
  return {.status = 204};
}

HttpResponse AuthorApi::task(const HttpRequest& request, TaskId id, const std::string& what) {
  if (what.empty() && request.method == "PATCH") return change(request, id);
  if (what == "tickets" && request.method == "POST") {
    std::vector<TicketSpec> tickets;
    for (const Fields& one : Fields(request.body).list("tickets"))
      tickets.push_back(read_ticket(one));
    Json made = Json::object();
    made.set("first", tickets.empty() ? 0 : pool_.add_tickets(id, tickets));
    return json(made.set("count", static_cast<int64_t>(tickets.size())), 201);
  }
  if (what == "tickets" && request.method == "DELETE") {
    const TicketId through = number(request.parameter("through"), 0);
    request.parameter("open") == "1" ? pool_.abandon(id, through) : pool_.drop(id, through);
    return {.status = 204};
  }
  if (request.method != "GET") return not_allowed(what.empty() ? "GET, PATCH" : "GET");
  if (what.empty()) return json(to_json(pool_.task(id), pool_.progress(id), pool_.wait_reason(id)));
  if (what == "results") return results(request, id);
  if (what == "errors") return json_list(pool_.errors(id));
  return not_found();
}

HttpResponse AuthorApi::change(const HttpRequest& request, TaskId id) {
  const Fields fields(request.body);
  const auto priority = static_cast<int>(fields.integer("priority", 0, -1000, 1000));
  const std::string state = fields.text("state", "");
  if (!state.empty() && state != "running" && state != "paused" && state != "cancelled")
    fields.fail("state", "expected running, paused or cancelled, got " + state);
  if (pool_.task(id).state == TaskState::cancelled && (state == "running" || state == "paused"))
    throw Error(message("task", "expected an active task, got task ", id, ", which was cancelled"));
  pool_.batch([&] {
    if (state == "paused") pool_.pause(id);
    if (state == "running") pool_.resume(id);
    if (state == "cancelled") pool_.cancel(id);
    if (fields.has("priority")) pool_.set_priority(id, priority);
  });
  return json(to_json(pool_.task(id)));
}

/// One line per ticket, in the order in which the tickets ended. With ?follow=1 the lines continue
/// until no ticket of the task is open. Empty lines keep the connection alive meanwhile.
HttpResponse AuthorApi::results(const HttpRequest& request, TaskId id) {
  HttpResponse response{.type = "application/x-ndjson", .alive = "\n"};
  const bool follow = request.parameter("follow") == "1";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.next = [this, id, follow,
                   after = number(request.parameter("after"), 0)]() mutable -> HttpChunk {
    HttpChunk chunk{HttpChunk::Kind::bytes};
    for (const Finished& one : pool_.ended(id, after, kLinesAtOnce)) {
      after = one.sequence;
      chunk.bytes += format_json_line(to_json(one)) + "\n";
    }
    if (chunk.bytes.empty()) {
      const bool open = pool_.progress(id).open() > 0;
      const bool wanted = pool_.task(id).state != TaskState::cancelled;
      chunk.kind = follow && open && wanted ? HttpChunk::Kind::wait : HttpChunk::Kind::end;
    }
    return chunk;
  };
  return response;
}

HttpResponse AuthorApi::nodes(const HttpRequest& request, const std::string& id) {
  if (id.empty() && request.method != "GET") return not_allowed("GET");
  if (id.empty()) return all_nodes(request.parameter("function"));
  const auto node = pool_.node(id);
  if (!node) return not_found();
  if (request.method == "GET") return json(to_json(*node));
  if (request.method != "DELETE") return not_allowed("GET, DELETE");
  const std::string kind = request.parameter("kind", "other");
  const auto known = find_expulsion_kind(kind);
  if (!known)
    throw Error(message(
        "nodes", "expected kind to be 'other', 'wrong_value', 'wrong_form' or 'not_finite', got '",
        kind, "'"));
  pool_.expel(id, {request.parameter("reason", "expelled by the operator"), *known});
  return json(to_json(*pool_.node(id)));
}

HttpResponse AuthorApi::all_nodes(const std::string& function) {
  const std::string key = std::to_string(pool_.membership_version()) + " " + function;
  auto make = [&] {
    Json all = Json::array();
    for (const NodeStatus& one : pool_.nodes()) {
      const auto& has = one.info.functions;
      if (function.empty() || std::ranges::find(has, function) != has.end())
        all.items.push_back(to_json(one));
    }
    if (function.empty())  // the functions of disconnected nodes are unknown
      for (const NodeStatus& one : pool_.away(kAwaySeconds)) all.items.push_back(to_json(one));
    return format_json_line(all) + "\n";
  };
  return HttpResponse::shared((function.empty() ? nodes_ : able_).get(clock_(), key, make),
                              "application/json");
}

HttpResponse AuthorApi::put_blob(const HttpRequest& request, const BlobHash& hash) {
  if (!is_sha256(hash)) return HttpResponse::problem(404, "expected /blobs/ and a SHA-256");
  const bool known = blobs_.touch(hash);
  if (!known) {
    BlobStore::Writer writer = blobs_.writer();
    writer.write(as_bytes(request.body));
    writer.finish(hash);
  }
  if (const int64_t project = number(request.parameter("project"), 0))
    pool_.keep_blob(project, hash);
  Json made = Json::object();
  return json(made.set("blob", hash), known ? 200 : 201);
}

}  // namespace kaiseki::dist
