// SPDX-License-Identifier: MIT
#include "dist/net/limits.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::dist {
namespace {

#define KAISEKI_LIMIT(name) \
  { #name, &Limits::name }
constexpr LimitName kNames[] = {
    KAISEKI_LIMIT(header_bytes),
    KAISEKI_LIMIT(header_lines),
    KAISEKI_LIMIT(handshake_seconds),
    KAISEKI_LIMIT(keep_alive_seconds),
    KAISEKI_LIMIT(minimum_rate),
    KAISEKI_LIMIT(rate_seconds),
    KAISEKI_LIMIT(sockets),
    KAISEKI_LIMIT(sockets_per_address),
    KAISEKI_LIMIT(sockets_per_network),
    KAISEKI_LIMIT(connections_per_second),
    KAISEKI_LIMIT(messages_per_second),
    KAISEKI_LIMIT(pings_per_second),
    KAISEKI_LIMIT(pings_of_all_per_second),
    KAISEKI_LIMIT(bytes_per_second),
    KAISEKI_LIMIT(output_bytes),
    KAISEKI_LIMIT(output_bytes_of_all),
    KAISEKI_LIMIT(ping_seconds),
    KAISEKI_LIMIT(pong_seconds),
    KAISEKI_LIMIT(json_bytes),
    KAISEKI_LIMIT(blob_bytes),
    KAISEKI_LIMIT(input_bytes_of_all),
    KAISEKI_LIMIT(result_bytes),
    KAISEKI_LIMIT(drain_seconds),
    KAISEKI_LIMIT(log_lines_per_second),
};
#undef KAISEKI_LIMIT

}  // namespace

std::span<const LimitName> limit_names() { return kNames; }

void set_limit(Limits& limits, std::string_view assignment) {
  const size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(std::min(equals + 1, assignment.size()));
  const auto found = std::ranges::find(kNames, name, &LimitName::name);
  if (name == assignment)
    throw Error(message("limits", "expected NAME=NUMBER such as sockets=1000, got '",
                        assignment.substr(0, 100), "'"));
  if (found == std::end(kNames))
    throw Error(message("limits", "expected the name of a limit, got '", name.substr(0, 100), "'"));
  const auto value = parse_number<double>(text);
  if (!value || !(*value > 0) || *value > 1e15)
    throw Error(message("limits", "expected a number above 0 for ", name, ", got '",
                        text.substr(0, 100), "'"));
  limits.*(found->value) = *value;
}

}  // namespace kaiseki::dist
