// SPDX-License-Identifier: MIT
#include "dist/train/plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kNames[] = {"auto", "data", "paper", "border"};
constexpr PoolMode kModes[] = {PoolMode::border, PoolMode::data, PoolMode::paper};

/// Bytes and work of one ticket in one exchange, and of the weights that a node fetches once.
struct TicketCost {
  double weights = 0, samples = 0, down = 0, up = 0;  // bytes
  double flops = 0;
};

/// border: the first exchange is forward, the second backward.
TicketCost cost_of(PoolMode mode, const StepShape& s, int64_t samples, bool second) {
  const WireType type = s.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  auto bytes = [](int64_t elements, WireType as) {
    return static_cast<double>(wire_bytes(elements, as));
  };
  const int64_t all = s.head_parameters + s.tail_parameters;
  const auto head_flops = static_cast<double>(2 * s.head_multiply_adds * samples);
  const auto tail_flops = static_cast<double>(2 * s.tail_multiply_adds * samples);
  const double activations = bytes(samples * s.border, type);
  const double gradients = bytes(s.head_parameters, s.wire);
  if (mode == PoolMode::border && second)
    return {.down = activations, .up = gradients, .flops = 2 * head_flops};
  const auto pictures = static_cast<double>(s.sample_bytes * samples);
  if (mode == PoolMode::border)
    return {.weights = bytes(s.head_parameters, type),
            .samples = pictures,
            .up = activations,
            .flops = head_flops};
  TicketCost cost = {.weights = bytes(all, type),
                     .samples = pictures,
                     .up = gradients,
                     .flops = 3 * (head_flops + tail_flops)};
  if (mode == PoolMode::data) cost.up = bytes(all, s.wire) + bytes(samples * s.outputs, type);
  return cost;
}

/// What the server computes itself in a step.
double server_flops(PoolMode mode, const StepShape& s) {
  const auto samples = static_cast<double>(s.samples);
  const double tail = 6.0 * static_cast<double>(s.tail_multiply_adds) * samples;
  if (mode == PoolMode::data) return 0;
  if (mode == PoolMode::border) return tail;
  return tail + 2.0 * static_cast<double>(s.head_multiply_adds) * samples;
}

double seconds(double bytes, double mbit_s) { return bytes * 8 / (mbit_s * 1e6); }

/// What each of some links that want a rate gets of one that they share: who wants less leaves it
/// to the others.
std::vector<double> shares(const std::vector<double>& wanted, double link) {
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return wanted[i]; });
  std::vector<double> found(wanted.size());
  for (size_t rest = order.size(); const size_t i : order) {
    found[i] = std::min(wanted[i], link / static_cast<double>(rest--));
    link -= found[i];
  }
  return found;
}

/// The nodes with their links as the server's leaves them: they fetch weights, and give results, at
/// the same time. Of more nodes than tickets only as many have any.
std::vector<NodeRate> sharing(std::span<const NodeRate> nodes, int64_t tickets, double link) {
  std::vector<NodeRate> found(nodes.begin(), nodes.end());
  const double most = link;  // of one
  link *= std::max(
      1.0, static_cast<double>(nodes.size()) / static_cast<double>(std::max<int64_t>(1, tickets)));
  for (double NodeRate::*rate : {&NodeRate::down_mbit_s, &NodeRate::up_mbit_s}) {
    std::vector<double> wanted;
    for (const NodeRate& node : nodes) wanted.push_back(std::min(node.*rate, most));
    const std::vector<double> given = shares(wanted, link);
    for (size_t i = 0; i < given.size(); ++i) found[i].*rate = given[i];
  }
  return found;
}

/// What a node has done in an exchange. Its link, each way, and its device do one thing at a time.
class Timeline {
 public:
  explicit Timeline(const NodeRate& node) : node_(node) {}

  /// When a ticket more would be answered.
  double end(const TicketCost& cost) const { return after(cost).sent; }
  /// Bytes that it fetches for it, but samples.
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
  return {.head_parameters = split.head_parameters,
          .tail_parameters = split.tail_parameters,
          .border = split.shape.elements(),
          .outputs = outputs,
          .head_multiply_adds = split.head_multiply_adds,
          .tail_multiply_adds = split.tail_multiply_adds};
}

StepPlan plan_step(PoolMode mode, const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server) {
  StepPlan plan;
  const bool border = mode == PoolMode::border;
  const int64_t tickets = (shape.samples + shape.ticket_samples - 1) / shape.ticket_samples;
  const std::vector<NodeRate> rates = sharing(nodes, tickets, server.mbit_s);
  std::vector<size_t> whose;
  for (const bool second : {false, true}) {
    if (second && !border) break;
    std::vector<Timeline> lines(rates.begin(), rates.end());
    double down = 0, up = 0, of_nodes = 0;
    for (int64_t first = 0; first < shape.samples; first += shape.ticket_samples) {
      const int64_t samples = std::min(shape.ticket_samples, shape.samples - first);
      const TicketCost cost = cost_of(mode, shape, samples, second);
      const auto ticket = static_cast<size_t>(first / shape.ticket_samples);
      if (!second) {  // who did its forward part does its backward part
        const auto ends = [&](const Timeline& a, const Timeline& b) {
          return a.end(cost) < b.end(cost);
        };
        whose.push_back(static_cast<size_t>(std::ranges::min_element(lines, ends) - lines.begin()));
      }
      of_nodes = std::max(of_nodes, lines[whose[ticket]].end(cost));
      down += lines[whose[ticket]].take(cost);
      up += cost.up;
    }
    plan.down_bytes += down;
    plan.up_bytes += up;
    plan.seconds += of_nodes;
  }
  const double own = server_flops(mode, shape) / (server.gflops * 1e9);
  // Between the two halves of a step nodes wait for the server; else it works while they do.
  plan.seconds = border ? plan.seconds + own : std::max(plan.seconds, own);
  return plan;
}

PoolMode fastest_mode(const StepShape& shape, std::span<const NodeRate> nodes,
                      const ServerRate& server) {
  return *std::min_element(std::begin(kModes), std::end(kModes), [&](PoolMode a, PoolMode b) {
    return plan_step(a, shape, nodes, server).seconds < plan_step(b, shape, nodes, server).seconds;
  });
}

PoolMode parse_pool_mode(std::string_view text) {
  const auto at = std::find(std::begin(kNames), std::end(kNames), text);
  if (at == std::end(kNames))
    throw Error(message("pool", "expected a mode auto, data, paper or border, got '", text, "'"));
  return static_cast<PoolMode>(at - std::begin(kNames));
}

std::string_view pool_mode_name(PoolMode mode) { return kNames[static_cast<size_t>(mode)]; }

}  // namespace kaiseki::dist
