// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_choice.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/conv/tuning.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/ops/copy.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kSamples = 64;
constexpr double kWorthMeasuring = 1e6;  // multiplications and additions
constexpr double kNever = 1e30;          // seconds
constexpr double kLongest = 0.5;         // seconds of measuring
constexpr double kClearly = 0.95;        // a later candidate wins when it needs less than this
constexpr int kRounds = 6;

int log2_of(int64_t n) { return std::bit_width(static_cast<uint64_t>(n)) - 1; }

struct Choices {
  std::mutex mutex, measuring;
  std::map<std::string, const GemmCandidate*> chosen;
};

Choices& choices() {
  static auto* all = new Choices;
  return *all;
}

const GemmCandidate* find(std::span<const GemmCandidate> candidates, std::string_view name,
                          OpenclDevice& device, const GemmArgs& args) {
  for (auto& candidate : candidates)
    if (candidate.name == name && candidate.applicable(device, args)) return &candidate;
  return nullptr;
}

/// The best guess. The last candidate of each style can do what the others cannot.
const GemmCandidate& first_applicable(std::span<const GemmCandidate> candidates,
                                      OpenclDevice& device, const GemmArgs& args) {
  for (auto& candidate : candidates)
    if (candidate.applicable(device, args)) return candidate;
  return candidates.back();
}

/// Product and sum of absolute products of some elements of the last matrix of the batch.
std::vector<float> expected(OpenclDevice& device, const GemmArgs& args) {
  Tensor y(Shape{2 * kSamples}, DType::f32, args.c->device());
  Launch launch(device, "gemm_check.cl", "gemm_check");
  launch.index(kSamples).index(args.m).index(args.n).index(args.k);
  launch.index(args.trans_a ? 1 : args.lda).index(args.trans_a ? args.lda : 1);
  launch.index(args.trans_b ? 1 : args.ldb).index(args.trans_b ? args.ldb : 1);
  launch.index((args.batch - 1) * args.stride_a).index((args.batch - 1) * args.stride_b);
  launch.in(*args.a).in(*args.b).out(y).over(kSamples);
  return y.to_vector();
}

/// Each product rounds at most k times: an error under 1e-7 * k of the absolute products.
bool agrees(const Tensor& c, const GemmArgs& args, const std::vector<float>& reference) {
  const float* values = c.data<float>() + (args.batch - 1) * args.m * args.n;
  for (int64_t i = 0; i < kSamples; ++i) {
    auto number = static_cast<uint64_t>(i);
    auto row = static_cast<int64_t>(number * 2654435761u % static_cast<uint64_t>(args.m));
    auto column = static_cast<int64_t>(number * 2246822519u % static_cast<uint64_t>(args.n));
    float difference = std::abs(values[row * args.n + column] - reference[2 * i]);
    float bound = 1e-6f + 1e-7f * static_cast<float>(args.k + 10) * reference[2 * i + 1];
    bool finite = std::isfinite(reference[2 * i]);
    if (finite && !(difference <= bound)) return false;
  }
  return true;
}

double seconds_of(OpenclDevice& device, const GemmCandidate& candidate, const GemmArgs& args) {
  auto start = std::chrono::steady_clock::now();
  candidate.run(device, args);
  device.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Trial {
  const GemmCandidate* candidate;
  double seconds = kNever;
  bool failed = false;
};

/// Runs all in turn, several times, so that a busy moment of the machine hits all; what needs over
/// twice the best time is not run again. Each first result is judged by `right`, in a C that was
/// full of NaN: what a candidate does not write is wrong. Candidates that fail are left out.
std::vector<Trial> time_candidates(OpenclDevice& device, const GemmArgs& args,
                                   std::span<const GemmCandidate> candidates,
                                   const std::function<bool()>& right) {
  std::vector<Trial> trials;
  for (auto& candidate : candidates) try {
      if (!candidate.applicable(device, args)) continue;
      fill(*args.c, std::numeric_limits<float>::quiet_NaN());
      seconds_of(device, candidate, args);
      if (right())
        trials.push_back({&candidate});
      else
        log_warning_once(message("gemm", candidate.name, " computes wrong values on ",
                                 device.label(), " and is not used"));
    } catch (const DeviceError& error) {
      log_warning_once(error.what());
    }
  double best = kNever, spent = 0;
  for (int round = 0; round < kRounds && spent < kLongest; ++round)
    for (Trial& trial : trials) try {
        if (trial.failed || (trial.seconds != kNever && trial.seconds > 2 * best)) continue;
        double seconds = seconds_of(device, *trial.candidate, args);
        trial.seconds = std::min(trial.seconds, seconds);
        best = std::min(best, seconds);
        spent += seconds;
      } catch (const DeviceError& error) {
        log_warning_once(error.what());
        trial.failed = true;
      }
  std::erase_if(trials, [](const Trial& trial) { return trial.failed; });
  return trials;
}

std::string gemm_class(OpenclDevice& device, const GemmArgs& args) {
  std::string key = {args.trans_a ? 't' : 'n', args.trans_b ? 't' : 'n'};
  const std::pair<char, int64_t> sizes[] = {
      {'m', args.m}, {'n', args.n}, {'k', args.k}, {'b', args.batch}};
  for (auto [name, size] : sizes)
    key.append(1, ' ').append(1, name).append(std::to_string(log2_of(size)));
  if (find(gemm_candidates(device.style()), "clblast", device, args)) key.append(" clblast");
  return key;
}

}  // namespace

TuningKey gemm_key(OpenclDevice& device, const GemmArgs& args) {
  const DeviceInfo info = device_info(device.index(), device.facts());
  return {info.name, info.driver, tuning_threads(info), "gemm", gemm_class(device, args)};
}

const GemmCandidate& measure_gemm(OpenclDevice& device, const GemmArgs& args,
                                  std::span<const GemmCandidate> candidates) {
  GemmArgs trial = args;
  Tensor c(Shape{args.batch * args.m * args.n}, DType::f32, args.c->device());
  trial.c = &c;
  trial.ldc = args.n;
  trial.stride_c = args.m * args.n;
  trial.alpha = 1;
  trial.beta = 0;
  trial.bias_kind = GemmArgs::Bias::none;
  trial.activation = Activation::none;
  std::vector<float> reference = expected(device, args);
  auto trials =
      time_candidates(device, trial, candidates, [&] { return agrees(c, args, reference); });
  if (trials.empty()) throw KernelError(message("gemm", "no kernel works on ", device.label()));
  const Trial* best = &trials.front();
  for (const Trial& one : trials)
    if (one.seconds < kClearly * best->seconds) best = &one;
  remember_tuning(gemm_key(device, args),
                  {{std::string(best->candidate->name), 1e3 * best->seconds}});
  return *best->candidate;
}

namespace {

/// What was measured by any process, or is now; else the best guess.
const GemmCandidate& find_choice(OpenclDevice& device, const GemmArgs& args,
                                 std::span<const GemmCandidate> candidates, const TuningKey& key) {
  const GemmCandidate* chosen = nullptr;
  for (const TuningResult& known : recall_tuning(key))
    if (auto* one = find(candidates, known.candidate, device, args)) chosen = one;
  if (chosen) return *chosen;
  try {
    return measure_gemm(device, args, candidates);
  } catch (const KernelError&) {  // of the check, or of all: gemm() goes on from here
  } catch (const OutOfMemory&) {  // another process may have more room: not on disk
  }
  return first_applicable(candidates, device, args);
}

}  // namespace

const GemmCandidate& choose_gemm(OpenclDevice& device, const GemmArgs& args) {
  auto candidates = gemm_candidates(device.style());
  double work = 2.0 * static_cast<double>(args.m) * static_cast<double>(args.n * args.k);
  if (work * static_cast<double>(args.batch) < kWorthMeasuring)
    return first_applicable(candidates, device, args);
  const TuningKey tuning = gemm_key(device, args);
  const std::string key = std::to_string(device.index()) +
                          (device.style() == Style::cpu ? " cpu " : " gpu ") + tuning.which;
  Choices& all = choices();
  std::unique_lock lock(all.mutex);
  auto found = all.chosen.find(key);
  if (found == all.chosen.end()) {
    lock.unlock();  // measuring may wait for memory of a convolution that chooses, too
    std::unique_lock alone(all.measuring, std::try_to_lock);  // two at once would time each other
    if (!alone) return first_applicable(candidates, device, args);
    const GemmCandidate& one = find_choice(device, args, candidates, tuning);
    lock.lock();
    found = all.chosen.emplace(key, &one).first;  // another thread's, if that was faster
  }
  const GemmCandidate& chosen = *found->second;
  return chosen.applicable(device, args) ? chosen : first_applicable(candidates, device, args);
}

void forget_gemm_choices() {
  std::lock_guard lock(choices().mutex);
  choices().chosen.clear();
}

}  // namespace kaiseki::opencl
