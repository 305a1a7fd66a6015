// SPDX-License-Identifier: MIT
#include "dist/train/plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "matrix/ceil_div.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kNames[] = {"auto", "data", "concurrent-head", "border"};
constexpr PoolMode kModes[] = {PoolMode::border, PoolMode::data, PoolMode::concurrent_head};

constexpr double kMostSlower = 2;  // the slowest mode that may save bytes of volunteers

/// The bytes and the work of a ticket in one exchange. A node fetches the weights once.
struct TicketCost {
  double weights = 0, samples = 0, down = 0, up = 0;  // bytes
  double flops = 0;
};

/// In the mode border the first exchange is forward, and the second backward.
TicketCost cost_of(PoolMode mode, const StepShape& s, int64_t samples, bool second) {
  const WireType type = s.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  auto bytes = [](int64_t elements, WireType as) {
    return static_cast<double>(wire_bytes(elements, as));
  };
  const int64_t all = s.backbone_parameters + s.head_parameters;
  const auto backbone_flops = static_cast<double>(2 * s.backbone_multiply_adds * samples);
  const auto head_flops = static_cast<double>(2 * s.head_multiply_adds * samples);
  const double activations = bytes(samples * s.border, type);
  const double gradients = bytes(s.backbone_parameters, s.wire);
  if (mode == PoolMode::border && second)
    return {.down = activations, .up = gradients, .flops = 2 * backbone_flops};
  const auto pictures = static_cast<double>(s.sample_bytes * samples);
  if (mode == PoolMode::border)
    return {.weights = s.weights_share * bytes(s.backbone_parameters, type),
            .samples = pictures,
            .up = activations,
            .flops = backbone_flops};
  TicketCost cost = {.weights = s.weights_share * bytes(all, type),
                     .samples = pictures,
                     .up = gradients,
                     .flops = 3 * (backbone_flops + head_flops)};
  if (mode == PoolMode::data) cost.up = bytes(all, s.wire) + bytes(samples * s.outputs, type);
  return cost;
}

/// The work of the server in a step.
double server_flops(PoolMode mode, const StepShape& s) {
  const auto samples = static_cast<double>(s.samples);
  const double head = 6.0 * static_cast<double>(s.head_multiply_adds) * samples;
  if (mode == PoolMode::data) return 0;
  if (mode == PoolMode::border) return head;
  return head + 2.0 * static_cast<double>(s.backbone_multiply_adds) * samples;
}

double seconds(double bytes, double mbit_s) { return bytes * 8 / (mbit_s * 1e6); }

/// Divides a shared link among links that request a rate. A link that requests less than its share
/// leaves the rest to the others (max-min fairness).
std::vector<double> shares(const std::vector<double>& requested, double link) {
  std::vector<size_t> order(requested.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return requested[i]; });
  std::vector<double> found(requested.size());
  for (size_t rest = order.size(); const size_t i : order) {
    found[i] = std::min(requested[i], link / static_cast<double>(rest--));
    link -= found[i];
  }
  return found;
}

/// The nodes with their shares of the server's link. All nodes fetch weights at the same time, and
/// send results at the same time. If there are more nodes than tickets, only as many nodes as
/// tickets use the link.
std::vector<NodeRate> sharing(std::span<const NodeRate> nodes, int64_t tickets, double link) {
  std::vector<NodeRate> found(nodes.begin(), nodes.end());
  const double most = link;  // the most of one node
  link *= std::max(
      1.0, static_cast<double>(nodes.size()) / static_cast<double>(std::max<int64_t>(1, tickets)));
  for (double NodeRate::*rate : {&NodeRate::down_mbit_s, &NodeRate::up_mbit_s}) {
    std::vector<double> requested;
    for (const NodeRate& node : nodes) requested.push_back(std::min(node.*rate, most));
    const std::vector<double> given = shares(requested, link);
    for (size_t i = 0; i < given.size(); ++i) found[i].*rate = given[i];
  }
  return found;
}

/// The schedule of a node in an exchange. The device, the downlink and the uplink each process one
/// ticket at a time.
class Timeline {
 public:
  explicit Timeline(const NodeRate& node) : node_(node) {}

  /// The time at which the node would have sent the result of one more ticket.
  double end(const TicketCost& cost) const { return after(cost).sent; }
  /// Adds a ticket. Returns the bytes that the node fetches for it, without samples.
  double take(const TicketCost& cost) {
    const double bytes = cost.down + (done_.empty() ? cost.weights : 0);
    now_ = after(cost);
    done_.push_back(now_.sent);
    return bytes;
  }

 private:
  struct Times {
    double fetched = 0, computed = 0, sent = 0;
  };

  Times after(const TicketCost& cost) const {
    const auto at_once = static_cast<size_t>(std::max(node_.at_once, 1));
    const double given = done_.size() < at_once ? 0 : done_[done_.size() - at_once];
    const double bytes = cost.samples + cost.down + (done_.empty() ? cost.weights : 0);
    Times times;
    times.fetched =
        std::max(given, now_.fetched) + seconds(bytes, node_.down_mbit_s) + 2 * node_.round_trip_s;
    times.computed = std::max(times.fetched, now_.computed) + cost.flops / (node_.gflops * 1e9);
    times.sent = std::max(times.computed, now_.sent) + seconds(cost.up, node_.up_mbit_s);
    return times;
  }

  const NodeRate& node_;
  Times now_;
  std::vector<double> done_;
};

}  // namespace

StepShape step_shape(const NetworkSplit& split, int64_t outputs) {
  return {.backbone_parameters = split.backbone_parameters,
          .head_parameters = split.head_parameters,
          .border = split.shape.elements(),
          .outputs = outputs,
          .backbone_multiply_adds = split.backbone_multiply_adds,
          .head_multiply_adds = split.head_multiply_adds};
}

StepPlan plan_step(PoolMode mode, const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server) {
  StepPlan plan;
  const bool border = mode == PoolMode::border;
  const int64_t tickets = ceil_div(shape.samples, shape.ticket_samples);
  const std::vector<NodeRate> rates = sharing(nodes, tickets, server.mbit_s);
  std::vector<size_t> node_of_ticket;
  for (const bool second : {false, true}) {
    if (second && !border) break;
    std::vector<Timeline> lines(rates.begin(), rates.end());
    double down = 0, up = 0, nodes_seconds = 0;
    for (int64_t first = 0; first < shape.samples; first += shape.ticket_samples) {
      const int64_t samples = std::min(shape.ticket_samples, shape.samples - first);
      const TicketCost cost = cost_of(mode, shape, samples, second);
      const auto ticket = static_cast<size_t>(first / shape.ticket_samples);
      if (!second) {  // the node of the forward pass also computes the backward pass
        const auto ends = [&](const Timeline& a, const Timeline& b) {
          return a.end(cost) < b.end(cost);
        };
        node_of_ticket.push_back(
            static_cast<size_t>(std::ranges::min_element(lines, ends) - lines.begin()));
      }
      nodes_seconds = std::max(nodes_seconds, lines[node_of_ticket[ticket]].end(cost));
      down += lines[node_of_ticket[ticket]].take(cost);
      up += cost.up;
    }
    plan.down_bytes += down;
    plan.up_bytes += up;
    plan.seconds += nodes_seconds;
  }
  const double own = server_flops(mode, shape) / (server.gflops * 1e9);
  // In border mode the nodes wait for the server. In other modes both work at the same time.
  plan.seconds = border ? plan.seconds + own : std::max(plan.seconds, own);
  return plan;
}

PoolMode best_mode(const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server) {
  std::vector<StepPlan> plans;
  for (const PoolMode mode : kModes) plans.push_back(plan_step(mode, shape, nodes, server));
  const bool pays = std::ranges::any_of(nodes, &NodeRate::volunteer);
  size_t best = 0;
  for (size_t i = 1; i < plans.size(); ++i)
    if (plans[i].seconds < plans[best].seconds) best = i;
  const double limit = pays ? kMostSlower * plans[best].seconds : 0;
  auto bytes = [&](size_t i) { return plans[i].down_bytes + plans[i].up_bytes; };
  for (size_t i = 0; i < plans.size(); ++i)
    if (plans[i].seconds <= limit && bytes(i) < bytes(best)) best = i;
  return kModes[best];
}

PoolMode parse_pool_mode(std::string_view text) {
  const auto at = std::find(std::begin(kNames), std::end(kNames), text);
  if (at == std::end(kNames))
    throw Error(
        message("pool", "expected a mode auto, data, concurrent-head or border, got '", text, "'"));
  return static_cast<PoolMode>(at - std::begin(kNames));
}

std::string_view pool_mode_name(PoolMode mode) { return kNames[static_cast<size_t>(mode)]; }

}  // namespace kaiseki::dist
