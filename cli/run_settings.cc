// SPDX-License-Identifier: MIT
#include "cli/run_settings.h"

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/automatic_batch.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "nn/train/state_text.h"

namespace kaiseki::cli {
namespace {

constexpr std::string_view kPrefix = "setting.";

/// Escapes a path, because metadata is UTF-8 and paths may hold any bytes.
std::string as_ascii(const std::string& path) {
  std::string text;
  for (char c : path) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
    text += c >= ' ' && c <= '~' ? std::string(1, c) : escaped;
  }
  return text;
}

}  // namespace

RunSettings::RunSettings(const TrainCommand& c, const nn::Recipe& recipe) {
  auto set = [this](const char* option, const auto& value) { nn::put(settings_, option, value); };
  set("--data", as_ascii(c.data.data));
  set("--limit", c.data.limit);
  for (const auto& [name, value] : to_metadata({{}, c.data.mean, c.data.std, c.data.resize}))
    settings_["--" + name] = value;
  if (!c.data.mean_image.empty()) set("--mean-image", as_ascii(c.data.mean_image));
  if (c.data.as_stored) set("--as-stored", "given");
  set("--augment", *recipe.augment);
  set("--seed", c.seed);
  set("--lr", nn::learning_rate_of(recipe));
  if (c.batch_size.starts_with("auto")) set("--scale-lr", rate_scaling_of(c));
  set("--momentum", *recipe.momentum);
  if (recipe.weight_decay) set("--weight-decay", *recipe.weight_decay);
  set("--clip-norm", *recipe.clip_norm);
  set("--schedule", *recipe.schedule);
  set("--warmup", *recipe.warmup);
  if (recipe.step_size) set("--step-size", *recipe.step_size);
  set("--gamma", *recipe.gamma);
  set("--min-lr", *recipe.minimum_rate);
  const bool falls_to_the_end = recipe.schedule == "cosine" || recipe.schedule == "linear";
  if (falls_to_the_end) set("--epochs", *recipe.epochs);
  set("--test-limit", c.test_limit);
  set("--eval-every", c.evaluate_every);
  set("--early-stop", c.early_stop);
  if (c.pool.where.empty()) return;
  set("--pool-mode", c.pool.mode);
  set("--pool-wire", c.pool.wire);
  set("--pool-border", c.pool.border);
  if (c.pool.ticket_samples) set("--pool-ticket", *c.pool.ticket_samples);
}

void RunSettings::save(nn::Metadata& state) const {
  for (const auto& [option, value] : settings_) state[std::string(kPrefix) + option] = value;
}

void RunSettings::restore(const nn::Metadata& state) {
  nn::Metadata there;
  std::set<std::string> options;
  for (const auto& [key, value] : state) {
    if (!key.starts_with(kPrefix)) continue;
    there[key.substr(kPrefix.size())] = value;
    options.insert(key.substr(kPrefix.size()));
  }
  if (there.empty()) return;
  for (const auto& [option, value] : settings_) options.insert(option);
  if (!there.contains("--scale-lr")) options.erase("--scale-lr");  // there with a fixed batch size
  auto value_of = [](const nn::Metadata& settings, const std::string& option) {
    auto at = settings.find(option);
    return at == settings.end() || at->second.empty() ? "none" : at->second;
  };
  std::vector<std::string> differences;
  for (const std::string& option : options) {
    const std::string here = value_of(settings_, option), before = value_of(there, option);
    if (here != before) differences.push_back(option + " " + here + ", there " + before);
  }
  if (!differences.empty())
    log_warning("the settings differ from the checkpoint's: " + join(differences, "; ") +
                " (the checkpoint's seed is used)");
}

}  // namespace kaiseki::cli
