// SPDX-License-Identifier: MIT
// Server: accepts connections, sweeps them once a second, and drains them at the end.
#include "dist/net/server.h"

#include <openssl/ssl.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/error.h"
#include "dist/net/beast/hub.h"

namespace kaiseki::dist {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr int kLastTurns = 1000;           // of the loop at the end, for handlers to finish
constexpr double kOtherDescriptors = 100;  // that the process needs besides sockets
/// Of TLS 1.2. Without static RSA a stolen key decrypts no earlier connection. CBC is left out, as
/// its padding has had many attacks. TLS 1.3 has its own list.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

std::string_view host_name(std::string_view host) {
  const size_t end = host.starts_with('[') ? std::min(host.find(']'), host.size() - 1) + 1
                                           : std::min(host.find(':'), host.size());
  return host.substr(0, end);
}

}  // namespace

asio::ip::address unmapped(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

PeerAddress source_of(const asio::ip::address& given) {
  const auto address = unmapped(given);
  if (address.is_v4()) {
    auto bytes = address.to_v4().to_bytes();
    bytes[3] = 0;
    return {address.to_string(), asio::ip::address_v4(bytes).to_string() + "/24"};
  }
  auto bytes = address.to_v6().to_bytes();
  const auto first = [&](size_t count) {
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(count), bytes.end(), 0);
    return asio::ip::address_v6(bytes).to_string() + "/" + std::to_string(8 * count);
  };
  return {.address = first(8), .network = first(6)};
}

std::string network_of(const std::string& address) {
  ErrorCode error;
  const auto parsed = asio::ip::make_address(address.substr(0, address.find('/')), error);
  return error ? address : source_of(parsed).network;
}

/// Lowers `sockets` to the process's limit of descriptors. A higher limit would never
/// be reached, so no newcomer would make way.
ServerOptions within_descriptors(ServerOptions options) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return options;
  const auto most = static_cast<double>(files.rlim_cur);
  options.limits.sockets =
      std::min(options.limits.sockets, std::max(most / 2, most - kOtherDescriptors));
  return options;
}

Connection* Hub::slowest() const {
  Connection* slowest = nullptr;
  for (Connection* one : connections)
    if (const auto rate = one->input_rate(); rate && (!slowest || rate < slowest->input_rate()))
      slowest = one;
  return slowest;
}

bool Hub::knows_host(std::string_view host) const {
  const std::string_view name = host_name(host);
  const std::string_view port = host.substr(name.size());
  if (!port.empty() && (port[0] != ':' || port.find_first_not_of("0123456789", 1) != port.npos))
    return false;
  for (std::string_view own : {"localhost", "127.0.0.1", "[::1]"})
    if (beast::iequals(name, own)) return true;
  const bool v6 = options.host.find(':') != std::string::npos;
  if (beast::iequals(name, v6 ? "[" + options.host + "]" : options.host)) return true;
  for (const std::string& own : options.names)
    if (beast::iequals(name, own)) return true;
  return false;
}

bool Hub::knows_origin(std::string_view origin, std::string_view host) const {
  if (beast::iequals(origin, scheme + "://" + std::string(host))) return true;
  return std::ranges::find(options.origins, origin) != options.origins.end();
}

struct Server::Impl {
  Impl(const ServerOptions& options, ServerMetrics& metrics, EventLog& log)
      : hub(within_descriptors(options), metrics, log), acceptor(io), timer(io) {
    ErrorCode error;
    const auto address = asio::ip::make_address(options.host, error);
    if (error)
      throw UnusableServer(
          UnusableServer::Option::host,
          message("serve", "expected an address such as 127.0.0.1, got '", options.host, "'"));
    if (options.certificate.empty() != options.key.empty())
      throw UnusableServer(UnusableServer::Option::certificate,
                           message("serve", "a certificate and its key are required together"));
    if (options.certificate.empty() && !unmapped(address).is_loopback())
      throw UnusableServer(UnusableServer::Option::certificate,
                           message("serve", "expected a certificate, or a loopback address, as ",
                                   options.host, " can be reached from elsewhere"));
    if (!options.certificate.empty()) load_certificate();
    hub.scheme = tls ? "https" : "http";
    bind({address, options.port});
  }

  void load_certificate() {
    tls.emplace(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(tls->native_handle(), kCiphers);
    SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    ErrorCode error;
    tls->use_certificate_chain_file(hub.options.certificate, error);
    if (error)
      throw Error(message("serve", "expected a certificate in PEM format in ",
                          hub.options.certificate, ", got: ", error.message()));
    tls->use_private_key_file(hub.options.key, asio::ssl::context::pem, error);
    if (error)
      throw Error(message("serve", "expected the certificate's private key in PEM format in ",
                          hub.options.key, ", got: ", error.message()));
  }

  void bind(const tcp::endpoint& endpoint) {
    ErrorCode error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    expect_port(error, endpoint.port());
  }

  void listen() {
    ErrorCode error;
    acceptor.listen(4096, error);
    expect_port(error, acceptor.local_endpoint().port());
  }

  void expect_port(ErrorCode error, uint16_t port) const {
    if (error)
      throw Error(message("serve", "cannot listen on ", hub.options.host, " port ", port, ": ",
                          error.message()));
  }

  void accept() {
    acceptor.async_accept([this](ErrorCode error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error && !hub.gate.make_way()) {  // no descriptor is left: the next tick tries again
        hub.metrics.refuse(Refusal::sockets);
        stalled = true;
        return;
      }
      if (!error) welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    ErrorCode error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;
    const PeerAddress source = source_of(peer.address());
    const bool is_proxy = hub.options.trust_proxy && unmapped(peer.address()).is_loopback();
    auto seat = is_proxy ? hub.gate.enter_as_proxy() : hub.gate.enter(source, hub.now());
    if (!seat) return;
    socket.set_option(tcp::no_delay(true), error);
    hub.metrics.add(Counter::connections);
    if (tls)
      serve_http(hub, std::move(*seat), source.address, TlsStream(std::move(socket), *tls),
                 is_proxy);
    else
      serve_http(hub, std::move(*seat), source.address, std::move(socket), is_proxy);
  }

  /// Shared pointers, as connections may end during the loop over them.
  std::vector<std::shared_ptr<Connection>> all() { return kept(hub.connections); }
  static std::vector<std::shared_ptr<Connection>> kept(const std::unordered_set<Connection*>& set) {
    std::vector<std::shared_ptr<Connection>> list;
    for (Connection* one : set) list.push_back(one->self());
    return list;
  }

  void tick() {
    timer.expires_after(kTick);
    timer.async_wait([this](ErrorCode error) {
      if (!error) tick();
    });
    const double now = hub.now();
    hub.service->tick(now);
    if (std::exchange(stalled, false)) accept();
    if (now - swept >= 1) {
      swept = now;
      for (const auto& one : all()) one->guarded([&] { one->sweep(now); });
    }
    if (!hub.draining && hub.options.stop && hub.options.stop()) drain(now);
    if (hub.draining) end(now);
  }

  void drain(double now) {
    hub.draining = true;
    ErrorCode ignored;
    acceptor.close(ignored);
    hub.log.event("draining");
    hub.service->drain();
    end_by = now + hub.limits().drain_seconds;
  }

  void end(double now) {
    if (!closing && (hub.service->settled() || now > end_by)) {
      closing = true;
      end_by = now + 1;
      for (const auto& one : all()) one->drain();
    } else if (closing && (hub.connections.empty() || now > end_by)) {
      io.stop();
    }
  }

  /// Ends all connections, as they must not outlive the service. Returns the first exception.
  std::exception_ptr end_all() {
    std::exception_ptr problem;
    timer.cancel();
    for (int turn = 0; turn < kLastTurns && !hub.connections.empty(); ++turn) {
      for (const auto& one : all()) one->finish();
      try {
        io.restart();
        io.poll();
      } catch (...) {
        if (!problem) problem = std::current_exception();
      }
    }
    return problem;
  }

  Hub hub;  // outlives io, whose handlers hold connections
  asio::io_context io{1};
  std::optional<asio::ssl::context> tls;
  tcp::acceptor acceptor;
  asio::steady_timer timer;
  double swept = 0, end_by = 0;
  bool stalled = false, closing = false, waking = false;
};

Server::Server(const ServerOptions& options, ServerMetrics& metrics, EventLog& log)
    : impl_(std::make_unique<Impl>(options, metrics, log)) {}

Server::~Server() = default;

uint16_t Server::port() const { return impl_->acceptor.local_endpoint().port(); }

std::string Server::url() const {
  const std::string& host = impl_->hub.options.host;
  const bool v6 = host.find(':') != std::string::npos;
  return impl_->hub.scheme + "://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port());
}

void Server::listen() { impl_->listen(); }

void Server::run(Service& service) {
  impl_->hub.service = &service;
  std::exception_ptr problem;
  try {
    impl_->accept();
    impl_->tick();
    impl_->io.run();
  } catch (...) {
    problem = std::current_exception();
  }
  const std::exception_ptr later = impl_->end_all();
  if (!problem) problem = later;
  if (problem) std::rethrow_exception(problem);
}

void Server::post(std::function<void()> call) { asio::post(impl_->io, std::move(call)); }

void Server::wake() {
  if (std::exchange(impl_->waking, true)) return;
  post([impl = impl_.get()] {
    impl->waking = false;
    const auto woken = Impl::kept(std::exchange(impl->hub.asleep, {}));
    for (const auto& one : woken) one->guarded([&] { one->wake(); });
  });
}

bool Server::allows_origins() const { return !impl_->hub.options.origins.empty(); }

double Server::now() const { return impl_->hub.now(); }

size_t Server::connections() const { return impl_->hub.connections.size(); }

size_t Server::seats() const { return impl_->hub.gate.taken(); }

size_t Server::newcomers() const { return impl_->hub.gate.newcomers(); }

}  // namespace kaiseki::dist
