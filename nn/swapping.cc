// SPDX-License-Identifier: MIT
#include "nn/swapping.h"

#include <algorithm>
#include <limits>
#include <map>

namespace kaiseki::nn {
namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();
constexpr size_t kStepsAhead = 2;

}  // namespace

Swapping::Swapping(ForwardRun& run, Device device, SwapHistory& history,
                   const std::vector<Tensor*>& gradients)
    : run_(run), device_(device), history_(history), gradients_(gradients) {
  history_.values.resize(run.values.size());
  history_.saved.resize(run.plan->steps.size());
  device_.memory().add_evictor(*this);
}

Swapping::~Swapping() { device_.memory().remove_evictor(*this); }

bool Swapping::is_swappable(const Tensor& tensor) const {
  return tensor.defined() && tensor.device() == device_ && !tensor.buffer().left_device() &&
         tensor.buffer().bytes() >= smallest_outside(device_);
}

/// A tensor of the current step has next_use == now.
void Swapping::add(std::vector<SwapCandidate>& to, const Tensor& tensor,
                   const std::vector<size_t>& uses, char* history) const {
  if (!is_swappable(tensor)) return;
  const auto next = std::ranges::find_if(uses, [&](size_t time) { return time >= now_; });
  to.push_back({&tensor.buffer(), next == uses.end() ? kNever : *next, history});
}

/// The buffers that can leave, the one with the latest next use first. Views share a buffer, and
/// the earliest use counts.
std::vector<Swapping::SwapCandidate> Swapping::candidates() const {
  const ExecutionPlan& plan = *run_.plan;
  std::vector<SwapCandidate> all;
  const auto is_users = [&](size_t v) {
    const auto value = static_cast<int>(v);
    return v < run_.inputs.size() ||
           std::find(plan.outputs.begin(), plan.outputs.end(), value) != plan.outputs.end();
  };
  for (size_t v = 0; v < run_.values.size(); ++v)
    // On the CPU, programs may hold addresses of their own tensors.
    if (!device_.is_cpu() || !is_users(v))
      add(all, run_.values[v], plan.uses[v], &history_.values[v]);
  for (size_t i = 0; i < run_.saved.size(); ++i)
    for (const Tensor& tensor : run_.saved[i])
      add(all, tensor, {plan.forward_time(i), plan.backward_time(i)}, &history_.saved[i]);
  for (size_t v = 0; v < gradients_.size(); ++v)
    add(all, *gradients_[v], plan.gradient_uses[v], nullptr);
  std::map<Buffer*, SwapCandidate> by_buffer;
  for (const SwapCandidate& one : all) {
    const auto [at, added] = by_buffer.emplace(one.buffer, one);
    at->second.next_use = std::min(at->second.next_use, one.next_use);
  }
  std::vector<SwapCandidate> result;
  for (const auto& [buffer, one] : by_buffer)
    if (one.next_use != now_ && buffer != kept_) result.push_back(one);
  std::ranges::sort(result, std::greater(), &SwapCandidate::next_use);
  return result;
}

bool Swapping::evict(uint64_t bytes) {
  uint64_t released = 0;
  for (const SwapCandidate& one : candidates()) {
    if (released >= bytes) break;
    one.buffer->leave_device();
    if (!one.buffer->left_device()) continue;  // its store is gone
    released += one.buffer->bytes();
    if (one.history && now_ < run_.plan->steps.size()) *one.history = 1;
  }
  return released != 0;
}

void Swapping::end_forward() {
  const auto left = [](const std::vector<char>& history) {
    return std::find(history.begin(), history.end(), 1) != history.end();
  };
  const bool always = out_of_core() == OutOfCore::always;
  if (!always && !left(history_.values) && !left(history_.saved)) return;
  const size_t steps = run_.plan->steps.size();
  ++now_;  // the step's own tensors may leave
  for (const SwapCandidate& one : candidates())
    if ((always || *one.history) && one.next_use >= steps) one.buffer->leave_device();
}

void Swapping::copy_back(const Tensor& tensor) const {
  if (tensor.defined() && tensor.device() == device_ && tensor.buffer().left_device() &&
      device_.memory().has_room_for(tensor.buffer().bytes()))
    tensor.buffer().return_to_device();
}

void Swapping::end_backward() {
  const ExecutionPlan& plan = *run_.plan;
  for (size_t time = now_ + 1; time <= now_ + kStepsAhead && time < 2 * plan.steps.size(); ++time) {
    const size_t i = 2 * plan.steps.size() - 1 - time;
    for (int value : plan.steps[i].read_backward)
      copy_back(run_.values[static_cast<size_t>(value)]);
    for (const Tensor& tensor : run_.saved[i]) copy_back(tensor);
  }
}

}  // namespace kaiseki::nn
