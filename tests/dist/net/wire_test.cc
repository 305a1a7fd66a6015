// SPDX-License-Identifier: MIT
// A wire with a coordinator that becomes silent.
#include "dist/net/wire.h"

#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

WireOptions to(const std::string& url, double silence) {
  WireOptions options;
  options.url = parse_coordinator_url(url);
  options.token = "token";
  options.silence = silence;
  return options;
}

TEST_CASE("wire: an idle connection stays open, and ends if the peer is silent") {
  Running at;
  Wire wire(to(at.server.url(), 1));
  std::promise<void> thaw;
  bool open = false, early = false, closed = false;
  wire.on_open = [&] { open = true; };
  wire.on_message = [](ByteView) {};
  wire.on_closed = [&](int, const std::string&) {
    closed = true;
    wire.stop();
  };
  wire.connect();
  wire.after(2.5, [&] {  // until then its pings are answered
    early = closed;
    at.server.post([frozen = thaw.get_future().share()] { frozen.wait(); });
  });
  wire.after(30, [&] { wire.stop(); });
  wire.run();
  thaw.set_value();
  CHECK(open);
  CHECK(!early);
  CHECK(closed);
}

}  // namespace
}  // namespace kaiseki::test
