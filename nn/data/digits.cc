// SPDX-License-Identifier: MIT
// Draws digits that look handwritten: strokes with jitter, bends, slant and noise.
#include <algorithm>
#include <array>
#include <cmath>

#include "nn/data/digit_strokes.h"
#include "nn/data/source.h"

namespace kaiseki::nn {
namespace {

constexpr int kSide = 28;
constexpr int kSteps = 7;  // line segments of a curve between two control points

/// The random properties of the handwriting of one digit.
struct Handwriting {
  float xx, xy, yx, yy, cx, cy;       // transform from the unit box to pixels
  float bend_x, bend_y, phase, wave;  // a slow wave that bends the whole digit
  float radius, pressure, fade;       // of the pen, in pixels; changes along a stroke
  float softness, ink, noise;         // of edges, in pixels; 0..1; of paper and ink
  float jitter;                       // of control points, in the unit box
};

float between(Random& random, float low, float high) {
  return low + (high - low) * random.uniform();
}

Handwriting make_handwriting(Random& r) {
  Handwriting hand;
  float width = between(r, 11.5f, 20.0f), height = between(r, 15.5f, 21.5f);
  float slant = 0.18f * r.normal() - 0.1f, turn = 0.11f * r.normal();
  slant = std::clamp(slant, -0.65f, 0.5f);
  turn = std::clamp(turn, -0.38f, 0.38f);
  float c = std::cos(turn), s = std::sin(turn);
  hand.xx = c * width;
  hand.xy = c * slant * height - s * height;
  hand.yx = s * width;
  hand.yy = s * slant * height + c * height;
  hand.cx = kSide / 2.0f + between(r, -1.8f, 1.8f);
  hand.cy = kSide / 2.0f + between(r, -1.6f, 1.6f);
  hand.bend_x = 0.03f * r.normal();
  hand.bend_y = 0.028f * r.normal();
  hand.phase = between(r, 0, 6.2831853f);
  hand.wave = between(r, 3.0f, 7.0f);
  hand.radius = between(r, 0.65f, 1.75f);
  hand.pressure = between(r, 0, 0.3f);
  hand.fade = between(r, -0.35f, 0.2f);
  hand.softness = between(r, 0.55f, 1.05f);
  hand.ink = between(r, 0.78f, 1.0f);
  hand.noise = r.uniform() < 0.5f ? 0 : between(r, 0, 0.14f);
  hand.jitter = between(r, 0.010f, 0.038f);
  return hand;
}

struct PenPoint {
  float x, y, radius;
};

/// Computes the points of a stroke, in pixels.
void trace(const Stroke& stroke, const Handwriting& hand, Random& r, std::vector<PenPoint>& dots) {
  dots.clear();
  std::array<Point, 16> p;
  int count = static_cast<int>(stroke.size());
  for (int i = 0; i < count; ++i)
    p[i] = {stroke[i].x + hand.jitter * r.normal(), stroke[i].y + hand.jitter * r.normal()};
  float pieces = static_cast<float>((count - 1) * kSteps);
  for (int i = 0; i + 1 < count; ++i) {
    Point a = p[std::max(0, i - 1)], b = p[i], c = p[i + 1], d = p[std::min(count - 1, i + 2)];
    for (int step = i == 0 ? 0 : 1; step <= kSteps; ++step) {
      float t = static_cast<float>(step) / kSteps, t2 = t * t, t3 = t2 * t;
      auto curve = [&](float a, float b, float c, float d) {
        return b + 0.5f * ((c - a) * t + (2 * a - 5 * b + 4 * c - d) * t2 +
                           (3 * b - a - 3 * c + d) * t3);
      };
      float x = curve(a.x, b.x, c.x, d.x) - 0.5f, y = curve(a.y, b.y, c.y, d.y) - 0.5f;
      float bent_x = x + hand.bend_x * std::sin(hand.wave * y + hand.phase);
      float bent_y = y + hand.bend_y * std::sin(hand.wave * x + 2 * hand.phase);
      float along = static_cast<float>(i * kSteps + step) / pieces;
      float force =
          1 + hand.fade * (along - 0.5f) + hand.pressure * std::sin(hand.wave * along + hand.phase);
      dots.push_back({hand.cx + hand.xx * bent_x + hand.xy * bent_y,
                      hand.cy + hand.yx * bent_x + hand.yy * bent_y,
                      std::max(0.45f, hand.radius * force)});
    }
  }
}

using Canvas = std::array<float, kSide * kSide>;

/// Draws the line segment from `a` to `b`.
void draw(PenPoint a, PenPoint b, float softness, Canvas& canvas) {
  float reach = std::max(a.radius, b.radius) + softness;
  int left = std::max(0, static_cast<int>(std::min(a.x, b.x) - reach));
  int right = std::min(kSide - 1, static_cast<int>(std::max(a.x, b.x) + reach));
  int top = std::max(0, static_cast<int>(std::min(a.y, b.y) - reach));
  int bottom = std::min(kSide - 1, static_cast<int>(std::max(a.y, b.y) + reach));
  float dx = b.x - a.x, dy = b.y - a.y;
  float inverse = 1 / std::max(dx * dx + dy * dy, 1e-6f), slope = 0.5f / softness;
  for (int row = top; row <= bottom; ++row) {
    float py = static_cast<float>(row) + 0.5f - a.y;
    float* line = &canvas[static_cast<size_t>(row) * kSide];
    for (int column = left; column <= right; ++column) {
      float px = static_cast<float>(column) + 0.5f - a.x;
      float t = std::clamp((px * dx + py * dy) * inverse, 0.0f, 1.0f);
      float ex = px - t * dx, ey = py - t * dy;
      float radius = a.radius + t * (b.radius - a.radius);
      float ink = (radius + softness - std::sqrt(ex * ex + ey * ey)) * slope;
      line[column] = std::max(line[column], ink);
    }
  }
}

/// Adds noise and converts the pixels to bytes. The noise comes from consecutive Philox counters.
void finish(const Canvas& canvas, const Handwriting& hand, uint64_t seed, uint64_t stream,
            uint8_t* pixels) {
  constexpr uint32_t kGrain = 0x80000000;  // counters that Random does not use
  std::array<uint32_t, 4> words{};
  for (size_t i = 0; i < canvas.size(); ++i) {
    float ink = std::min(canvas[i], 1.0f);
    ink = ink * ink * (3 - 2 * ink) * hand.ink;
    if (hand.noise > 0) {
      if (i % 16 == 0)
        words = philox({static_cast<uint32_t>(i / 16), kGrain, static_cast<uint32_t>(stream),
                        static_cast<uint32_t>(stream >> 32)},
                       {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
      uint32_t byte = words[i % 16 / 4] >> (i % 4 * 8) & 255;
      float grain = static_cast<float>(byte) / 127.5f - 1;
      ink += hand.noise * grain * (ink > 0.05f ? 1.0f : 0.5f);
    }
    pixels[i] = static_cast<uint8_t>(std::clamp(ink, 0.0f, 1.0f) * 255 + 0.5f);
  }
}

class Digits : public PictureSource {
 public:
  Digits(int64_t count, uint64_t seed, bool train) : count_(count), seed_(seed), train_(train) {
    for (int i = 0; i < 10; ++i) class_names_.push_back(std::to_string(i));
  }

  int64_t size() const override { return count_; }
  int32_t label(int64_t index) const override { return static_cast<int32_t>(index % 10); }

  void read(int64_t index, const Preprocessing& how, Picture& picture) const override {
    uint64_t stream = uint64_t{1} << 62 | uint64_t{train_} << 61 | static_cast<uint64_t>(index);
    Random random(seed_, stream);
    auto glyphs = glyphs_of(label(index));
    const Glyph& glyph = glyphs[random.below(glyphs.size())];
    Handwriting hand = make_handwriting(random);
    Canvas canvas{};
    std::vector<PenPoint> dots;
    for (const Stroke& stroke : glyph) {
      trace(stroke, hand, random, dots);
      for (size_t i = 0; i + 1 < dots.size(); ++i)
        draw(dots[i], dots[i + 1], hand.softness, canvas);
    }
    picture.height = picture.width = kSide;
    picture.channels = 1;
    picture.eighths = 8;
    picture.pixels.resize(kSide * kSide);
    finish(canvas, hand, seed_, stream, picture.pixels.data());
    convert_channels(picture, how.channels);
  }

 private:
  int64_t count_;
  uint64_t seed_;
  bool train_;
};

}  // namespace

PictureSourcePtr make_digits(int64_t count, uint64_t seed, bool train) {
  return std::make_unique<Digits>(count, seed, train);
}

}  // namespace kaiseki::nn
