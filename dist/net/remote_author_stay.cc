// SPDX-License-Identifier: MIT
// Training's data on a remote coordinator besides tickets: projects, the task's state and the
// curve. Projects outlast a lost connection.
#include <cstdint>
#include <utility>

#include "dist/net/author_json.h"
#include "dist/net/remote_author.h"

namespace kaiseki::dist {

/// Reuses the projects and the task that still exist, with the task's state. The channel adds the
/// tickets again.
void RemoteAuthor::reconnect() {
  bool has_blobs = false, has_task = false;
  const Json list = ask("GET", "/api/projects");
  for (const Json& one : list.items) {
    const Json *number = one.find("project"), *name = one.find("name");
    if (!number || !name || !name->string.starts_with(project_name_)) continue;
    const auto id = static_cast<int64_t>(number->number);
    if (id == blob_project_)
      has_blobs = true;
    else if (id == project_ && task_)
      has_task = true;
    else
      ask("DELETE", "/api/projects/" + std::to_string(id));
  }
  if (!has_blobs) blob_project_.reset();
  if (!has_task) {
    project_.reset();
    task_.reset();
    through_.reset();
  }
  if (has_task) {
    abandon(INT64_MAX);
    send_curve();
  }
  must_reconnect_ = false;
}

void RemoteAuthor::update_state() {
  state_ = TaskState::running;
  if (!task_) return;
  const Json task = ask("GET", "/api/tasks/" + std::to_string(*task_));
  const Json* state = task.find("state");
  if (state && state->string == "paused") state_ = TaskState::paused;
  if (state && state->string == "cancelled") state_ = TaskState::cancelled;
}

void RemoteAuthor::renew() {
  for (const auto& project : {project_, blob_project_})
    if (project) ask("POST", "/api/projects/" + std::to_string(*project) + "/renew");
}

void RemoteAuthor::report(const CurvePoint& point) {
  curve_.add(0, point);
  if (project_ && !must_reconnect_) post_curve(to_json(point));
}

void RemoteAuthor::send_curve() {
  Json points = Json::array(), body = Json::object();
  for (const CurvePoint& point : curve_.of(0)) points.items.push_back(to_json(point));
  if (!points.items.empty()) post_curve(body.set("points", points));
}

void RemoteAuthor::post_curve(const Json& body) {
  try {
    client_.ask("POST", "/api/projects/" + std::to_string(project_.value()) + "/curve", body);
  } catch (const Error&) {  // The next call of training reports the error.
  }
}

void RemoteAuthor::leave() {
  try {
    if (must_reconnect_) reconnect();
    follower_.leave();
    discard_ticket_blobs();
    through_.reset();
    task_.reset();
    if (project_)
      ask("DELETE", "/api/projects/" + std::to_string(*std::exchange(project_, std::nullopt)));
    sweep();
    if (blob_project_)
      ask("DELETE", "/api/projects/" + std::to_string(*std::exchange(blob_project_, std::nullopt)));
  } catch (const AuthorLost&) {  // The coordinator is gone.
  }
}

}  // namespace kaiseki::dist
