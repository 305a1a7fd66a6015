// SPDX-License-Identifier: MIT
// The JSON of docs/openapi.yaml: what authors read of the pool, and what they ask of it.
#pragma once

#include "dist/net/curves.h"
#include "dist/net/json_fields.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

nn::Json to_json(const ProjectStatus& project);
nn::Json to_json(const CurvePoint& point);
nn::Json to_json(const TaskStatus& task);
/// `waits`: Pool::waits().
nn::Json to_json(const TaskStatus& task, const Progress& progress, const std::string& waits);
nn::Json to_json(const NodeStatus& node);
nn::Json to_json(const TicketError& error);
nn::Json to_json(const Finished& one);
// What an author hands over, and what it reads again.
nn::Json to_json(const TaskSpec& task);
nn::Json to_json(const TicketSpec& ticket);
/// Without the bytes of a blob.
Finished read_finished(const nn::Json& line);

// These throw ParseError where a field makes no sense.
CurvePoint read_point(const Fields& fields);
TaskSpec read_task(const Fields& fields);
TicketSpec read_ticket(const Fields& fields);

}  // namespace kaiseki::dist
