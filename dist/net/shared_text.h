// SPDX-License-Identifier: MIT
// SharedText: caches a text for a short time, so that many requests share it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace kaiseki::dist {

/// The maximum age of the pool's public lists, as many pages request them repeatedly.
inline constexpr double kShownSeconds = 0.5;

class SharedText {
 public:
  /// `seconds`: the maximum age of the text.
  explicit SharedText(double seconds) : seconds_(seconds) {}

  /// `now` is the time of any one clock. Another `key` makes another text.
  const std::shared_ptr<const std::string>& get(double now, const std::string& key,
                                                const std::function<std::string()>& make) {
    if (!text_ || key != key_ || now - made_ >= seconds_) {
      text_ = std::make_shared<const std::string>(make());
      key_ = key;
      made_ = now;
    }
    return text_;
  }

 private:
  const double seconds_;
  double made_ = 0;
  std::string key_;
  std::shared_ptr<const std::string> text_;
};

}  // namespace kaiseki::dist
