// SPDX-License-Identifier: MIT
#include "dist/net/link.h"

#include <algorithm>
#include <chrono>

#include "dist/net/http_client.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr uint64_t kFewest = 64 << 10, kMost = 4 << 20;
constexpr double kLongEnough = 0.1;   // seconds: what is shorter says little
constexpr int kTries = 3;             // the best counts: others may be using the link
constexpr double kFastEnough = 2000;  // Mbit/s: more than servers have
constexpr double kShortest = 1e-5;
constexpr double kPatience = 5;

/// Seconds of what `send` does, at best.
template <class Send>
double timed(const Send& send) {
  using Clock = std::chrono::steady_clock;
  auto best = Clock::duration::max();
  for (int i = 0; i < kTries; ++i) {
    const auto start = Clock::now();
    send();
    best = std::min(best, Clock::now() - start);
  }
  return std::chrono::duration<double>(best).count();
}

void expect(const HttpReply& reply, int status) {
  if (reply.status != status)
    throw Error(message("join", "expected ", status, " of /link, got ", reply.status));
}

/// Mbit/s of the first transfer that takes long enough or is fast enough, or of the largest.
template <class Send>
double rate_of(double round_trip, const Send& send) {
  for (uint64_t bytes = kFewest;; bytes *= 4) {
    const double seconds = timed([&] { send(bytes); });
    const double rate =
        static_cast<double>(8 * bytes) / std::max(seconds - round_trip, kShortest) * 1e-6;
    if (seconds - round_trip >= kLongEnough || rate >= kFastEnough || bytes >= kMost) return rate;
  }
}

}  // namespace

LinkSpeed measure_link(WireOptions to) {
  to.silence = kPatience;
  try {
    HttpClient client(to);
    const auto get = [&](uint64_t bytes) {
      expect(client.request("GET", "/link?bytes=" + std::to_string(bytes)), 200);
    };
    const auto put = [&](uint64_t bytes) {
      expect(client.request("PUT", "/link", nn::ByteVector(bytes)), 204);
    };
    get(1);  // connects
    LinkSpeed link;
    link.round_trip_s = timed([&] { get(1); });
    link.down_mbit_s = rate_of(link.round_trip_s, get);
    link.up_mbit_s = rate_of(link.round_trip_s, put);
    return link;
  } catch (const Error&) {  // who joins finds out by itself
    return {};
  }
}

}  // namespace kaiseki::dist
