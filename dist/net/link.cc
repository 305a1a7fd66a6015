// SPDX-License-Identifier: MIT
#include "dist/net/link.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "dist/net/http_client.h"

namespace kaiseki::dist {
namespace {

constexpr uint64_t kFewest = 64 << 10, kMost = 4 << 20;
constexpr double kLongEnough = 0.1;   // seconds; a shorter transfer is inaccurate
constexpr int kTries = 3;             // the best one counts, as other programs may use the link
constexpr double kFastEnough = 2000;  // Mbit/s, more than servers have
constexpr double kShortest = 1e-5;
constexpr double kPatience = 5;
constexpr int kMostWaits = 10;  // waits of a second, while other nodes of this address measure

/// The least seconds that `send` took. Repeats it if the coordinator refused.
template <class Send>
double timed(const Send& send) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    double start = steady_seconds();
    while (!send()) start = steady_seconds();
    best = std::min(best, steady_seconds() - start);
  }
  return best;
}

/// Mbit/s of the first transfer that takes long enough or is fast enough, or of the largest.
template <class Send>
double rate_of(double round_trip, const Send& send) {
  for (uint64_t bytes = kFewest;; bytes *= 4) {
    const double seconds = timed([&] { return send(bytes); });
    const double rate =
        static_cast<double>(8 * bytes) / std::max(seconds - round_trip, kShortest) * 1e-6;
    if (seconds - round_trip >= kLongEnough || rate >= kFastEnough || bytes >= kMost) return rate;
  }
}

}  // namespace

std::optional<LinkSpeed> measure_link(WireOptions to, const std::function<bool()>& stop) {
  to.silence = kPatience;
  try {
    HttpClient client(to);
    int waits = 0;
    const auto is = [&](int status, const HttpReply& reply) {
      if (reply.status == 429 && ++waits <= kMostWaits) {
        for (int i = 0; i < 10 && !(stop && stop()); ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (stop && stop()) throw Error(message("join", "stopped"));
        return false;
      }
      if (reply.status != status)
        throw Error(message("join", "expected ", status, " of /link, got ", reply.status));
      return true;
    };
    const auto get = [&](uint64_t bytes) {
      return is(200, client.request("GET", "/link?bytes=" + std::to_string(bytes)));
    };
    const auto put = [&](uint64_t bytes) {
      return is(204, client.request("PUT", "/link", ByteVector(bytes)));
    };
    get(1);  // connects
    LinkSpeed link;
    link.round_trip_s = timed([&] { return get(1); });
    link.down_mbit_s = rate_of(link.round_trip_s, get);
    link.up_mbit_s = rate_of(link.round_trip_s, put);
    return link;
  } catch (const Error&) {  // joining reports the error
    return std::nullopt;
  }
}

}  // namespace kaiseki::dist
