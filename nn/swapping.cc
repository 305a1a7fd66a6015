// SPDX-License-Identifier: MIT
#include "nn/swapping.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

}  // namespace

Swapping::Swapping(ForwardRun& run, Device device, SwapHistory& history,
                   std::vector<SwappableWeight> weights, const std::vector<Tensor*>& gradients)
    : run_(run),
      device_(device),
      history_(history),
      weights_(std::move(weights)),
      gradients_(gradients),
      largest_(pieces::largest_block(device)),
      weights_left_(std::ranges::any_of(weights_, [](const SwappableWeight& weight) {
        return weight.tensor->defined() && weight.tensor->buffer().left_device();
      })) {
  history_.values.resize(run.values.size());
  history_.saved.resize(run.plan->steps.size());
  device_.memory().add_evictor(*this);
}

Swapping::~Swapping() { device_.memory().remove_evictor(*this); }

bool Swapping::is_swappable(const Tensor& tensor) const {
  return tensor.defined() && tensor.device() == device_ && !tensor.buffer().left_device() &&
         !tensor.buffer().is_held() && tensor.buffer().bytes() >= smallest_outside(device_);
}

/// A tensor of the current step has next_use == now.
void Swapping::add(std::vector<SwapCandidate>& to, const Tensor& tensor,
                   std::span<const size_t> uses, char* history) const {
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
  for (size_t i = 0; i < run_.saved.size(); ++i) {
    const std::array uses = {plan.forward_time(i), plan.backward_time(i)};
    for (const Tensor& tensor : run_.saved[i]) add(all, tensor, uses, &history_.saved[i]);
  }
  for (size_t v = 0; v < gradients_.size(); ++v)
    add(all, *gradients_[v], plan.gradient_uses[v], nullptr);
  for (const SwappableWeight& weight : weights_) add(all, *weight.tensor, weight.uses, nullptr);
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
    weights_left_ |= one.history == nullptr;
    if (one.history && now_ < run_.plan->steps.size()) *one.history = 1;
  }
  if (released == 0) released = evict_weights_of_step(bytes);
  return released != 0;
}

void Swapping::add_idle(IdleBuffers& to) const {
  for (const SwapCandidate& one : candidates()) {
    const uint64_t bytes = device_.memory().rounded(one.buffer->bytes());
    to[one.buffer] = {.on_device = bytes, .all = bytes};
  }
}

uint64_t Swapping::evict_weights_of_step(uint64_t bytes) {
  std::vector<Buffer*> others;
  bool holds = false;
  for (const SwappableWeight& weight : weights_) {
    if (!weight.tensor->defined() || std::ranges::find(weight.uses, now_) == weight.uses.end())
      continue;
    holds |= weight.tensor->buffer().is_held();
    if (is_swappable(*weight.tensor)) others.push_back(&weight.tensor->buffer());
  }
  uint64_t released = 0;
  for (Buffer* buffer : others) {
    if (!holds || released >= bytes) break;
    buffer->leave_device();
    if (buffer->left_device()) released += buffer->bytes();
  }
  weights_left_ |= released != 0;
  return released;
}

void Swapping::end_forward() {
  const auto left = [](const std::vector<char>& history) {
    return std::find(history.begin(), history.end(), 1) != history.end();
  };
  const bool always = out_of_core() == OutOfCore::always;
  const size_t steps = run_.plan->steps.size();
  ++now_;  // the step's own tensors may leave
  if (always || left(history_.values) || left(history_.saved))
    for (const SwapCandidate& one : candidates())
      if (one.history && (always || *one.history) && one.next_use >= steps)
        one.buffer->leave_device();
  copy_back_weights();
}

/// Free memory may not be in one block. The tensor then comes back later, when others can leave.
void Swapping::copy_back(const Tensor& tensor) const {
  if (tensor.defined() && tensor.device() == device_ && tensor.buffer().left_device() &&
      tensor.buffer().bytes() <= largest_ && device_.memory().has_room_for(tensor.buffer().bytes()))
    try {
      tensor.buffer().return_to_device();
    } catch (const OutOfMemory&) {
    }
}

/// Copies back nothing for uses after the pass. Another thread may then write the gradients.
void Swapping::copy_back_weights() const {
  if (!weights_left_) return;
  const size_t end = std::min(now_ + kStepsAhead, 2 * run_.plan->steps.size());
  for (const SwappableWeight& weight : weights_)
    for (const size_t time : weight.uses)
      if (time >= now_ && time < end) copy_back(*weight.tensor);
}

void Swapping::end_backward() {
  ++now_;
  copy_back_weights();
  const ExecutionPlan& plan = *run_.plan;
  for (size_t time = now_; time < now_ + kStepsAhead && time < 2 * plan.steps.size(); ++time) {
    const size_t i = 2 * plan.steps.size() - 1 - time;
    for (int value : plan.steps[i].read_backward)
      copy_back(run_.values[static_cast<size_t>(value)]);
    for (const Tensor& tensor : run_.saved[i]) copy_back(tensor);
  }
}

}  // namespace kaiseki::nn
