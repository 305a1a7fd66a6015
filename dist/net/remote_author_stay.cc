// SPDX-License-Identifier: MIT
// What training has at its coordinator beyond single tickets: its projects, which outlast a lost
// connection, what an operator makes of its task, its curve, and the end of all that.
#include <cstdint>
#include <utility>

#include "dist/net/author_json.h"
#include "dist/net/remote_author.h"

namespace kaiseki::dist {

/// What is still there goes on, with what an operator made of it; its tickets are handed over anew.
void RemoteAuthor::come_back() {
  bool has_blobs = false, has_task = false;
  const nn::Json list = ask("GET", "/api/projects");
  for (const nn::Json& one : list.items) {
    const nn::Json *number = one.find("project"), *name = one.find("name");
    if (!number || !name || !name->string.starts_with(project_name_)) continue;
    const auto id = static_cast<int64_t>(number->number);
    if (id == kept_)
      has_blobs = true;
    else if (id == project_ && task_ > 0)
      has_task = true;
    else
      ask("DELETE", "/api/projects/" + std::to_string(id));
  }
  if (!has_blobs) kept_ = 0;
  if (!has_task) project_ = task_ = through_ = 0;
  if (has_task) {
    abandon(INT64_MAX);
    tell_curve();
  }
  left_behind_ = false;
}

void RemoteAuthor::look_at_task() {
  state_ = TaskState::running;
  if (task_ == 0) return;
  const nn::Json task = ask("GET", "/api/tasks/" + std::to_string(task_));
  const nn::Json* state = task.find("state");
  if (state && state->string == "paused") state_ = TaskState::paused;
  if (state && state->string == "cancelled") state_ = TaskState::cancelled;
}

void RemoteAuthor::report(const CurvePoint& point) {
  curve_.add(0, point);
  if (project_ > 0 && !left_behind_) post_curve(to_json(point));
}

void RemoteAuthor::tell_curve() {
  nn::Json points = nn::Json::array(), body = nn::Json::object();
  for (const CurvePoint& point : curve_.of(0)) points.items.push_back(to_json(point));
  if (!points.items.empty()) post_curve(body.set("points", points));
}

void RemoteAuthor::post_curve(const nn::Json& body) {
  const std::string text = nn::format_json_line(body);
  try {
    client_.request("POST", "/api/projects/" + std::to_string(project_) + "/curve",
                    nn::as_bytes(text));
  } catch (const Error&) {  // What matters will find out.
  }
}

void RemoteAuthor::leave() {
  try {
    if (left_behind_) come_back();
    follower_.leave();
    discard_loose();
    through_ = task_ = 0;
    if (project_ > 0) ask("DELETE", "/api/projects/" + std::to_string(std::exchange(project_, 0)));
    sweep();
    if (kept_ > 0) ask("DELETE", "/api/projects/" + std::to_string(std::exchange(kept_, 0)));
  } catch (const AuthorLost&) {  // There is nobody to tell.
  }
}

}  // namespace kaiseki::dist
