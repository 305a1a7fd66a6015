// SPDX-License-Identifier: MIT
// The JSON of docs/openapi.yaml: requests of authors, and the pool's answers.
#pragma once

#include "dist/net/curves.h"
#include "dist/net/json_fields.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

Json to_json(const ProjectStatus& project);
Json to_json(const CurvePoint& point);
Json to_json(const TaskStatus& task);
/// `waits`: Pool::wait_reason().
Json to_json(const TaskStatus& task, const Progress& progress, const std::string& waits);
Json to_json(const NodeStatus& node);
Json to_json(const TicketError& error);
Json to_json(const Finished& one);
// The next two write requests. read_finished() reads a line of results.
Json to_json(const TaskSpec& task);
Json to_json(const TicketSpec& ticket);
/// Does not read the bytes of a blob.
Finished read_finished(const Json& line);

// These throw ParseError if a field is invalid.
CurvePoint read_point(const Fields& fields);
TaskSpec read_task(const Fields& fields);
TicketSpec read_ticket(const Fields& fields);

}  // namespace kaiseki::dist
