// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_choice.h"

#include <bit>
#include <cmath>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/tune/choose.h"
#include "matrix/tune/measurement_mutex.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kSamples = 64;
constexpr double kWorthMeasuring = 1e6;  // multiplications and additions

int log2_of(int64_t n) { return std::bit_width(static_cast<uint64_t>(n)) - 1; }

/// A class of products on a device, and the candidates that can compute them.
struct GemmClass {
  int device;
  Style style;
  bool trans_a, trans_b;
  int m, n, k, batch;  // logarithms to base 2
  uint64_t able;       // a bit for each of gemm_candidates()
  auto operator<=>(const GemmClass&) const = default;
};

/// The choices since the last change of a measurement or of the policy. They save the work of
/// choosing, and its allocations, in each product.
class ChosenGemms {
 public:
  const GemmCandidate* find(const GemmClass& which) {
    std::lock_guard lock(mutex_);
    const auto found = present().find(which);
    return found == all_.end() ? nullptr : found->second;
  }
  /// `version`: tuning_choice_version() before the choice was made.
  void put(const GemmClass& which, const GemmCandidate& chosen, uint64_t version) {
    std::lock_guard lock(mutex_);
    if (version == tuning_choice_version()) present()[which] = &chosen;
  }

 private:
  std::map<GemmClass, const GemmCandidate*>& present() {
    if (const uint64_t now = tuning_choice_version(); version_ != now) all_.clear(), version_ = now;
    return all_;
  }
  std::mutex mutex_;
  std::map<GemmClass, const GemmCandidate*> all_;
  uint64_t version_ = 0;
};

ChosenGemms& chosen_gemms() {
  static auto* one = new ChosenGemms;
  return *one;
}

TuneTable<std::string>& table() {
  static auto* one = new TuneTable<std::string>;
  return *one;
}

/// A bit for each candidate of the style that can compute the product.
uint64_t able_bits(OpenclDevice& device, const GemmArgs& args) {
  const bool own_only = tune_policy().deterministic;
  const auto candidates = gemm_candidates(device.style());
  uint64_t bits = 0;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].applicable(device, args) && (candidates[i].is_own || !own_only))
      bits |= uint64_t{1} << i;
  return bits ? bits : uint64_t{1} << (candidates.size() - 1);
}

/// Returns the candidates that can compute the product, ordered by expected speed. If there is
/// none, returns the last candidate of the style, which supports every product.
std::vector<const GemmCandidate*> able_candidates(OpenclDevice& device, const GemmArgs& args) {
  const auto candidates = gemm_candidates(device.style());
  const uint64_t bits = able_bits(device, args);
  std::vector<const GemmCandidate*> able;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (bits >> i & 1) able.push_back(&candidates[i]);
  return able;
}

/// Computes the product and the sum of absolute products for some elements of the last matrix of
/// the batch.
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

/// Each product rounds at most k times. The error is therefore under 1e-7 * k times the sum of
/// absolute products.
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

std::string gemm_class(OpenclDevice& device, const GemmArgs& args) {
  std::string key = {args.trans_a ? 't' : 'n', args.trans_b ? 't' : 'n'};
  const std::pair<char, int64_t> sizes[] = {
      {'m', args.m}, {'n', args.n}, {'k', args.k}, {'b', args.batch}};
  for (auto [name, size] : sizes)
    key.append(1, ' ').append(1, name).append(std::to_string(log2_of(size)));
  for (const GemmCandidate* candidate : able_candidates(device, args))
    if (!candidate->is_own) key.append(" ").append(candidate->name);
  return key;
}

/// The name of a device, its style and a class of products.
std::string case_name(const OpenclDevice& device, const TuningKey& key) {
  return std::to_string(device.index()) + (device.style() == Style::cpu ? " cpu " : " gpu ") +
         key.which;
}

TuneCase& case_of(OpenclDevice& device, const TuningKey& key) {
  return table().at(case_name(device, key), [&] {
    TuneCase known;
    if (tune_policy().mode != TuneMode::exhaustive) known.results = recall_tuning(key);
    return known;
  });
}

std::vector<const GemmCandidate*> untried(const std::vector<const GemmCandidate*>& able,
                                          const TuneCase& known) {
  std::vector<const GemmCandidate*> list;
  for (const GemmCandidate* candidate : able)
    if (!is_tried(known, candidate->name)) list.push_back(candidate);
  return list;
}

/// Returns the fastest known candidate, or else the first that is not known to fail.
const GemmCandidate& choose(const std::vector<const GemmCandidate*>& able, const TuneCase& known) {
  std::vector<CandidateTime> times;
  for (const GemmCandidate* candidate : able) {
    const TuningResult* result = known.find(candidate->name);
    CandidateTime& time = times.emplace_back();
    time.fails = result && result->outcome != TuningOutcome::timed;
    if (result && !time.fails) time.milliseconds = result->milliseconds;
  }
  return *able[by_speed(times, 0).front()];
}

}  // namespace

TuningKey gemm_key(OpenclDevice& device, const GemmArgs& args) {
  return tuning_key(device_info(device.index(), device.facts()), "gemm", gemm_class(device, args));
}

std::vector<TuningResult> time_gemm(OpenclDevice& device, const GemmArgs& args,
                                    const std::vector<const GemmCandidate*>& candidates) {
  GemmArgs trial = args;
  Tensor c(Shape{args.batch * args.m * args.n}, DType::f32, args.c->device());
  trial.c = &c;
  trial.ldc = args.n;
  trial.stride_c = args.m * args.n;
  trial.alpha = 1, trial.beta = 0;
  trial.bias_kind = GemmArgs::Bias::none;
  trial.activation = Activation::none;
  const std::vector<float> reference = expected(device, args);
  Trials trials(candidates.size());
  const auto attempt = [&](size_t i, const auto& run) {
    try {
      run(*candidates[i]);
    } catch (const KernelError& error) {
      log_warning_once(error.what());
      trials.fail(i, TuningOutcome::refused);
    } catch (const DeviceError& error) {
      log_warning_once(error.what());
      trials.leave_out(i);
    }
  };
  // The first run builds kernels and is not timed. Elements that it does not write stay NaN.
  for (size_t i = 0; i < candidates.size(); ++i)
    attempt(i, [&](const GemmCandidate& candidate) {
      set_nan(c);
      candidate.run(device, trial);
      device.finish();
      if (agrees(c, args, reference)) return;
      log_warning_once(message("gemm", candidate.name, " computes wrong values on ", device.label(),
                               " and is not used"));
      trials.fail(i, TuningOutcome::wrong);
    });
  while (const auto i = trials.next())
    attempt(*i, [&](const GemmCandidate& candidate) {
      trials.add_time(*i,
                      milliseconds_of(c.device().backend(), [&] { candidate.run(device, trial); }));
    });
  std::vector<TuningResult> subjects;
  for (const GemmCandidate* candidate : candidates)
    subjects.push_back({.candidate = std::string(candidate->name)});
  return results_of(trials, subjects);
}

const GemmCandidate* gemm_for(OpenclDevice& device, const GemmArgs& args) {
  const uint64_t bits = able_bits(device, args);
  const TunePolicy policy = tune_policy();
  const double work = 2.0 * static_cast<double>(args.batch) * static_cast<double>(args.m) *
                      static_cast<double>(args.n * args.k);
  const bool to_measure = measures(policy, work, kWorthMeasuring);
  if (policy.mode == TuneMode::off || (work < kWorthMeasuring && !to_measure))
    return &gemm_candidates(device.style())[static_cast<size_t>(std::countr_zero(bits))];
  const GemmClass which{device.index(),  device.style(),      args.trans_a,
                        args.trans_b,    log2_of(args.m),     log2_of(args.n),
                        log2_of(args.k), log2_of(args.batch), bits};
  if (const GemmCandidate* chosen = chosen_gemms().find(which)) return chosen;
  const uint64_t version = tuning_choice_version();
  const auto able = able_candidates(device, args);
  const TuningKey key = gemm_key(device, args);
  std::lock_guard lock(table().mutex);
  const TuneCase& known = case_of(device, key);
  if (to_measure && !untried(able, known).empty()) return nullptr;
  const GemmCandidate& chosen = choose(able, known);
  chosen_gemms().put(which, chosen, version);
  return &chosen;
}

const GemmCandidate& measure_gemm(OpenclDevice& device, const GemmArgs& args) {
  const auto able = able_candidates(device, args);
  std::unique_lock turn(measurement_mutex(), std::try_to_lock);
  if (!turn) return *able.front();
  const TuningKey key = gemm_key(device, args);
  std::vector<const GemmCandidate*> unknown;
  {
    std::lock_guard lock(table().mutex);
    unknown = untried(able, case_of(device, key));
  }
  std::vector<TuningResult> measured;
  bool has_room = true;
  try {  // not under the table's lock: this may wait for memory that a convolution in tuning holds
    measured = time_gemm(device, args, unknown);
  } catch (const KernelError&) {  // the check failed; gemm() continues without it
  } catch (const OutOfMemory&) {  // not stored on disk, because another process may have more room
    has_room = false;
  }
  std::lock_guard lock(table().mutex);
  TuneCase& known = case_of(device, key);
  for (const GemmCandidate* candidate : unknown) known.tried[std::string(candidate->name)] = 0;
  std::vector<std::string_view> names;
  for (const GemmCandidate& candidate : gemm_candidates(device.style()))
    names.push_back(candidate.name);
  merge_and_store(known, key, names, measured);
  return has_room ? choose(able, known) : *able.front();
}

}  // namespace kaiseki::opencl
