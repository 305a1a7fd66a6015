// SPDX-License-Identifier: MIT
// SharedText: a text that is made once for all who ask for it within a short time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace kaiseki::dist {

/// How old what is shown of the pool may be: many pages ask for it again and again.
inline constexpr double kShownSeconds = 0.5;

class SharedText {
 public:
  /// `seconds`: how old it may be.
  explicit SharedText(double seconds) : seconds_(seconds) {}

  /// `now` is of any clock, always the same. What is asked for by another `key` is another text.
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
