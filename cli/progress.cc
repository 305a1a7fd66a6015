// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kLeastWait = 1, kLeastShare = 0.1;  // of which it is told: seconds, of an epoch
constexpr double kRedraw = 0.1, kPlainLine = 10, kWindow = 5;  // seconds

std::string metrics_text(const nn::MetricTotals& totals) {
  std::string text = "loss " + format_number("%.4f", totals.loss());
  if (totals.classified) text += "  accuracy " + format_percent(totals.accuracy());
  return text;
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
  const bool visible_rest = terminal().colour;
  for (int i = used; i < columns; ++i) rest += !unicode ? "-" : visible_rest ? "━" : " ";
  return styled(Style::cyan, done) + styled(Style::dim, rest);
}

void Progress::on_start(nn::Trainer& trainer) {
  start_ = drawn_ = epoch_start_ = trained_ = Clock::now();
  marks_.push_back({start_, 0});
  if (terminal().live && trainer.epoch() < trainer.options().epochs) draw(trainer);
}

void Progress::on_step(nn::Trainer& trainer) {
  const nn::Iterator& iterator = trainer.updater().iterator();
  const int64_t rest = iterator.dataset().size() % iterator.batch_size();
  const int64_t batch = iterator.is_new_epoch() && rest
                            ? rest
                            : std::min(iterator.batch_size(), iterator.dataset().size());
  samples_ += batch;
  epoch_samples_ += batch;
  const auto now = trained_ = Clock::now();
  if (Seconds(now - marks_.back().time).count() > 0.05) {
    marks_.push_back({now, samples_});
    while (Seconds(now - marks_.front().time).count() > kWindow && marks_.size() > 2)
      marks_.pop_front();
  }
  if (Seconds(now - drawn_).count() < (terminal().live ? kRedraw : kPlainLine)) return;
  if (!iterator.is_new_epoch()) draw(trainer);
}

double Progress::images_per_second() const {
  const double seconds = Seconds(marks_.back().time - marks_.front().time).count();
  return seconds > 0 ? static_cast<double>(marks_.back().samples - marks_.front().samples) / seconds
                     : 0;
}

double Progress::seconds_left(nn::Trainer& trainer) const {
  const nn::Iterator& iterator = trainer.updater().iterator();
  const double epochs = static_cast<double>(trainer.options().epochs) - iterator.epoch_detail();
  const double speed = images_per_second();
  if (speed <= 0) return 0;
  return epochs * static_cast<double>(iterator.dataset().size()) / speed +
         std::ceil(epochs) * evaluation_seconds_;
}

void Progress::draw(nn::Trainer& trainer) {
  drawn_ = Clock::now();
  const nn::MetricTotals totals = trainer.running_totals();
  const int64_t epochs = trainer.options().epochs;
  const double share =
      trainer.updater().iterator().epoch_detail() - static_cast<double>(trainer.epoch());
  const std::string left = format_duration(seconds_left(trainer)) + " left";
  std::string head = "epoch " + std::to_string(trainer.epoch() + 1) + "/" + std::to_string(epochs);
  std::string speed = format_count(static_cast<int64_t>(images_per_second())) + " images/s";
  if (also_) speed += "  " + also_();
  const std::string step = "step " + format_count(trainer.step());
  if (!terminal().live) {
    std::printf("%s  %s  %s  %s  %s\n", head.c_str(), step.c_str(), metrics_text(totals).c_str(),
                speed.c_str(), left.c_str());
    std::fflush(stdout);
    return;
  }
  head = styled(Style::bold, head);
  const std::string tail = "  " + format_percent(share, 0) + "  " + step + "  " +
                           metrics_text(totals) + "  " + speed + "  " + styled(Style::green, left);
  const int room = terminal_width() - 1 - display_width(head) - display_width(tail) - 2;
  const std::string bar = room >= 6 ? "  " + progress_bar(share, std::min(room, 40)) : "";
  draw_live_line(head + bar + tail);
}

void Progress::show_evaluation(int64_t done, int64_t total) {
  if (!terminal().live || Seconds(Clock::now() - drawn_).count() < kRedraw) return;
  drawn_ = Clock::now();
  const char* what = interrupted() ? "evaluating, then stopping  " : "evaluating  ";
  draw_live_line(styled(Style::dim, what) +
                 progress_bar(static_cast<double>(done) / static_cast<double>(total), 30) + "  " +
                 format_count(done) + " of " + format_count(total));
}

void Progress::on_epoch(nn::Trainer& trainer) {
  const auto now = Clock::now();
  const double seconds = std::max(1e-9, Seconds(trained_ - epoch_start_).count());
  std::string line = styled(Style::bold, "epoch " + std::to_string(trainer.epoch()) + "/" +
                                             std::to_string(trainer.options().epochs)) +
                     "  " + metrics_text(trainer.epoch_totals());
  if (const auto& evaluation = trainer.evaluation()) {
    evaluation_seconds_ = Seconds(now - trained_).count();
    line += "  test loss " + format_number("%.4f", evaluation->loss);
    if (evaluation->classes) {
      const bool better = evaluation->top1 > best_;
      best_ = std::max(best_, evaluation->top1);
      line += "  test accuracy " +
              styled(better ? Style::green : Style::plain, format_percent(evaluation->top1));
    }
  }
  line += "  " + format_count(static_cast<int64_t>(static_cast<double>(epoch_samples_) / seconds)) +
          " images/s  " + format_duration(Seconds(now - epoch_start_).count());
  clear_live_line();
  std::printf("%s\n", line.c_str());
  advise(trainer, seconds);
  std::fflush(stdout);
  epoch_start_ = drawn_ = trained_ = now;
  epoch_samples_ = 0;
  marks_ = {{now, samples_}};
}

void Progress::advise(nn::Trainer& trainer, double seconds) {
  const double wait = trainer.updater().iterator().wait_seconds() - data_wait_;
  data_wait_ += wait;
  if (advised_ || wait < kLeastWait || wait < kLeastShare * seconds) return;
  advised_ = true;
  std::printf(
      "training waited for data %s of the time: more --workers, or pictures that are stored "
      "smaller, make it faster\n",
      format_percent(wait / seconds, 0).c_str());
}

void Progress::on_finish(nn::Trainer&) { clear_live_line(); }

}  // namespace kaiseki::cli
