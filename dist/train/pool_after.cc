// SPDX-License-Identifier: MIT
#include "dist/train/pool_after.h"

#include "base/error.h"
#include "base/text.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kKey = "accuracy=";

}  // namespace

PoolAfter parse_pool_after(std::string_view text) {
  PoolAfter after;
  if (text.starts_with(kKey)) {
    after.accuracy = parse_number<double>(text.substr(kKey.size())).value_or(-1);
    if (after.accuracy >= 0 && after.accuracy <= 1) return after;
  }
  throw Error(
      message("pool", "expected accuracy=NUMBER with a number from 0 to 1, got '", text, "'"));
}

void JoinPool::on_epoch(nn::Trainer& trainer) {
  const double accuracy =
      trainer.evaluation() ? trainer.evaluation()->top1 : trainer.epoch_totals().accuracy();
  if (accuracy >= after_.accuracy) updater_.join();
}

void JoinPool::save(nn::Metadata& state) const {
  nn::put(state, "pool.joined", updater_.joined() ? 1 : 0);
}

void JoinPool::restore(const nn::Metadata& state) {
  if (state.contains("pool.joined") && nn::get<int>(state, "pool.joined")) updater_.join();
}

}  // namespace kaiseki::dist
