// SPDX-License-Identifier: MIT
// What every connection to a coordinator has in common: its name and whom TLS trusts.
#pragma once

#include "dist/net/beast/asio.h"
#include "dist/net/wire.h"

namespace kaiseki::dist {

inline std::chrono::milliseconds duration(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1e3 * seconds));
}

/// "host:port", as in a Host header.
std::string authority(const CoordinatorUrl& url);
asio::ssl::context trust(const WireOptions& options);

template <class Stream>
void name_server(Stream& stream, const std::string& host) {
  stream.set_verify_callback(asio::ssl::host_name_verification(host));
  SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
}

}  // namespace kaiseki::dist
