// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "matrix/ceil_div.h"

namespace kaiseki::cli {

int64_t samples_of_pass(const nn::Updater& updater) {
  const nn::Iterator& iterator = updater.iterator();
  return ceil_div(iterator.share().count(iterator.batch_size()), updater.parts());
}

nn::PassPrediction predict_pass(nn::Updater& updater) {
  return updater.network().predict_pass(samples_of_pass(updater));
}

namespace {

// the least wait that is reported, in seconds and as a share of the epoch
constexpr double kLeastWait = 1, kLeastShare = 0.1;
constexpr double kRedraw = 0.1, kPlainLine = 10, kWindow = 5;  // in seconds

std::string loss_text(const nn::MetricTotals& totals) {
  return "loss " + format_number("%.4f", totals.loss());
}

std::string accuracy_text(const nn::MetricTotals& totals) {
  return totals.classified ? "accuracy " + format_percent(totals.accuracy()) : "";
}

std::string speed_text(double images_per_second) {
  return format_count(static_cast<int64_t>(images_per_second)) + " images/s";
}

/// Since the start of training.
int64_t samples_seen(nn::Trainer& trainer) {
  const nn::Iterator& iterator = trainer.updater().iterator();
  return iterator.epoch() * iterator.dataset().size() + iterator.position();
}

int width_of(const std::vector<std::string>& parts) {
  int width = -2;
  for (const std::string& part : parts) width += 2 + display_width(part);
  return width;
}

/// Empty if the pass fits the device.
std::string where_text(nn::Updater& updater) {
  return predict_pass(updater).is_out_of_core ? "out of core" : "";
}

}  // namespace

std::string progress_bar(double share, int columns) {
  const bool unicode = terminal().unicode;
  const int halves = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 2 * columns));
  std::string done, rest;
  for (int i = 0; i < halves / 2; ++i) done += unicode ? "━" : "#";
  int used = halves / 2;
  if (halves % 2 && unicode) {
    done += "╸";
    ++used;
  }
  const bool visible_rest = terminal().color;
  for (int i = used; i < columns; ++i) rest += !unicode ? "-" : visible_rest ? "━" : " ";
  return styled(TextStyle::cyan, done) + styled(TextStyle::dim, rest);
}

void show_evaluation(int64_t done, int64_t total, double& drawn) {
  const double now = steady_seconds();
  if (now - drawn < (terminal().live ? kRedraw : kPlainLine)) return;
  drawn = now;
  const std::string what = interrupted() ? "evaluating, then stopping  " : "evaluating  ";
  const std::string count = format_count(done) + " of " + format_count(total);
  if (terminal().live) {
    draw_live_line(styled(TextStyle::dim, what) +
                   progress_bar(static_cast<double>(done) / static_cast<double>(total), 30) + "  " +
                   count);
  } else {
    std::printf("%s%s\n", what.c_str(), count.c_str());
    std::fflush(stdout);
  }
}

void ProgressDisplay::on_start(nn::Trainer& trainer) {
  start_ = drawn_ = epoch_start_ = trained_ = steady_seconds();
  marks_.push_back({start_, 0});
  seen_ = samples_seen(trainer);
  data_wait_ = trainer.updater().iterator().wait_seconds();
  if (terminal().live && trainer.epoch() < trainer.options().epochs) draw(trainer);
}

void ProgressDisplay::on_step(nn::Trainer& trainer) {
  // A pool may go back to an earlier step.
  const int64_t seen = samples_seen(trainer);
  const int64_t step = std::max<int64_t>(0, seen - std::exchange(seen_, seen));
  samples_ += step;
  epoch_samples_ += step;
  const double now = trained_ = steady_seconds();
  if (now - marks_.back().time > 0.05) {
    marks_.push_back({now, samples_});
    while (now - marks_.front().time > kWindow && marks_.size() > 2) marks_.pop_front();
  }
  if (now - drawn_ < (terminal().live ? kRedraw : kPlainLine)) return;
  if (!trainer.updater().iterator().is_new_epoch()) draw(trainer);
}

double ProgressDisplay::images_per_second() const {
  const double seconds = marks_.back().time - marks_.front().time;
  return seconds > 0 ? static_cast<double>(marks_.back().samples - marks_.front().samples) / seconds
                     : 0;
}

double ProgressDisplay::seconds_left(nn::Trainer& trainer) const {
  const nn::Iterator& iterator = trainer.updater().iterator();
  const double epochs = static_cast<double>(trainer.options().epochs) - iterator.epoch_detail();
  const double speed = images_per_second();
  if (speed <= 0) return 0;
  return epochs * static_cast<double>(iterator.dataset().size()) / speed +
         std::ceil(epochs) * evaluation_seconds_;
}

void ProgressDisplay::draw(nn::Trainer& trainer) {
  constexpr int kLeastBar = 8, kMostBar = 40;
  drawn_ = steady_seconds();
  const nn::MetricTotals totals = trainer.running_totals();
  const double share =
      trainer.updater().iterator().epoch_detail() - static_cast<double>(trainer.epoch());
  const std::string head =
      styled(TextStyle::bold, "epoch " + std::to_string(trainer.epoch() + 1) + "/" +
                                  std::to_string(trainer.options().epochs));
  const std::string step = "step " + format_count(trainer.step());
  const std::string accuracy = accuracy_text(totals);
  const std::string speed = speed_text(images_per_second()), also = also_ ? also_() : "";
  const std::string where = where_text(trainer.updater());
  const std::string left =
      styled(TextStyle::green, format_duration(seconds_left(trainer)) + " left");
  std::vector<std::string> parts = {
      format_percent(share, 0), step, loss_text(totals), accuracy, speed, where, also, left};
  std::erase(parts, "");
  if (!terminal().live) {
    parts[0] = head;
    std::printf("%s\n", join(parts, "  ").c_str());
    std::fflush(stdout);
    return;
  }
  const int room = terminal_width() - 1 - display_width(head) - 4;
  for (const std::string& least_important :
       {step, parts[0], where, speed, also, accuracy, parts[2]})
    if (room - width_of(parts) < kLeastBar) std::erase(parts, least_important);
  const int bar = std::min(room - width_of(parts), kMostBar);
  if (bar > 0) parts.insert(parts.begin(), progress_bar(share, bar));
  draw_live_line(head + "  " + join(parts, "  "));
}

void ProgressDisplay::on_epoch(nn::Trainer& trainer) {
  const double now = steady_seconds();
  const double seconds = std::max(1e-9, trained_ - epoch_start_);
  last_speed_ = static_cast<double>(epoch_samples_) / seconds;
  const auto& evaluation = trainer.evaluation();
  if (evaluation) evaluation_seconds_ = now - trained_;
  const bool better = evaluation && evaluation->classes && (!best_ || evaluation->top1 > *best_);
  if (better) best_ = evaluation->top1;
  const auto line = [&](bool is_short) {
    std::vector<std::string> parts = {
        styled(TextStyle::bold, "epoch " + std::to_string(trainer.epoch()) + "/" +
                                    std::to_string(trainer.options().epochs)),
        loss_text(trainer.epoch_totals()), accuracy_text(trainer.epoch_totals())};
    if (evaluation)
      parts.push_back((is_short ? "test " : "test loss ") +
                      format_number("%.4f", evaluation->loss));
    if (evaluation && evaluation->classes)
      parts.push_back(
          (is_short ? "" : "test accuracy ") +
          styled(better ? TextStyle::green : TextStyle::plain, format_percent(evaluation->top1)));
    if (!is_short) parts.push_back(speed_text(last_speed_));
    if (!is_short) parts.push_back(where_text(trainer.updater()));
    parts.push_back(format_duration(now - epoch_start_));
    std::erase(parts, "");
    return parts;
  };
  const bool fits = !terminal().live || width_of(line(false)) <= terminal_width();
  clear_live_line();
  print_parts(line(!fits), "  ");
  advise(trainer, seconds);
  std::fflush(stdout);
  epoch_start_ = drawn_ = trained_ = now;
  epoch_samples_ = 0;
  marks_ = {{now, samples_}};
}

void ProgressDisplay::advise(nn::Trainer& trainer, double seconds) {
  const double wait = trainer.updater().iterator().wait_seconds() - data_wait_;
  data_wait_ += wait;
  if (advised_ || wait < kLeastWait || wait < kLeastShare * seconds) return;
  advised_ = true;
  std::printf(
      "training waited for data %s of the time: use more --workers, or store smaller "
      "pictures\n",
      format_percent(wait / seconds, 0).c_str());
}

void ProgressDisplay::on_finish(nn::Trainer&) { clear_live_line(); }

}  // namespace kaiseki::cli
