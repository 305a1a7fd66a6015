// SPDX-License-Identifier: MIT
#include "dist/net/wire.h"

#include <deque>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "dist/net/beast/asio.h"
#include "dist/net/proof.h"

namespace kaiseki::dist {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(15);
constexpr int kWrongToken = 401;
constexpr uint64_t kMostMessage = 1 << 20;  // tickets are small; large data is in blobs

std::chrono::milliseconds duration(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1e3 * seconds));
}

asio::ssl::context trust(const WireOptions& options) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  context.set_verify_mode(asio::ssl::verify_peer);
  ErrorCode error;
  if (options.certificates.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(options.certificates, error);
  if (error)
    throw Error(message("join", "expected certificates in PEM format in ", options.certificates,
                        ", got: ", error.message()));
  return context;
}

template <class Stream>
void name_server(Stream& stream, const std::string& host) {
  stream.set_verify_callback(asio::ssl::host_name_verification(host));
  SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
}

/// The interface of a connection, with or without TLS.
class Socket {
 public:
  virtual ~Socket() = default;
  virtual void start() = 0;
  virtual void send(ByteVector message) = 0;
  virtual void close() = 0;
  bool open = false;
};

template <class Stream>
class SocketOf final : public Socket, public std::enable_shared_from_this<SocketOf<Stream>> {
 public:
  SocketOf(Wire& wire, asio::io_context& io, const WireOptions& options, Stream stream)
      : wire_(wire), options_(options), resolver_(io), timer_(io), ws_(std::move(stream)) {}

  void start() override {
    timer_.expires_after(kConnectTime);
    timer_.async_wait([self = own()](ErrorCode error) {
      if (!error && !self->open) self->shut();
    });
    resolver_.async_resolve(
        options_.url.host, options_.url.port,
        [self = own()](ErrorCode error, const tcp::resolver::results_type& found) {
          if (error) return self->end(0, error.message());
          asio::async_connect(beast::get_lowest_layer(self->ws_), found,
                              [self](ErrorCode error, const tcp::endpoint&) {
                                error ? self->end(0, error.message()) : self->secure();
                              });
        });
  }

  void send(ByteVector message) override {
    out_.push_back(std::move(message));
    if (out_.size() == 1) write();
  }

  void close() override {
    closing_ = true;
    if (out_.empty()) send_close();
  }

 private:
  std::shared_ptr<SocketOf> own() { return this->shared_from_this(); }

  void secure() {
    ErrorCode ignored;
    beast::get_lowest_layer(ws_).set_option(tcp::no_delay(true), ignored);
    if constexpr (kHasTls<Stream>) {
      name_server(ws_.next_layer(), options_.url.host);
      ws_.next_layer().async_handshake(
          asio::ssl::stream_base::client, [self = own()](ErrorCode error) {
            error ? self->end(0, "TLS: " + error.message()) : self->upgrade();
          });
    } else {
      ProofRequest::is_needed(options_) ? ask_for_proof() : upgrade();
    }
  }

  /// Asks on the connection that is then used, so that no other program can answer later requests.
  void ask_for_proof() {
    proof_.emplace(options_);
    answer_parser_.body_limit(kMostProofBytes);
    question_ =
        "GET " + proof_->target() + " HTTP/1.1\r\nHost: " + authority(options_.url) + "\r\n\r\n";
    auto& stream = ws_.next_layer();
    asio::async_write(stream, asio::buffer(question_), [self = own()](ErrorCode error, size_t) {
      if (error) return self->end(0, error.message());
      http::async_read(self->ws_.next_layer(), self->buffer_, self->answer_parser_,
                       [self](ErrorCode error, size_t) { self->on_proof(error); });
    });
  }

  void on_proof(ErrorCode error) {
    if (error) return end(0, error.message());
    const auto& answer = answer_parser_.get();
    try {
      if (answer.result() != http::status::ok)
        return end(0, "answered " + std::to_string(answer.result_int()));
      const auto peer = beast::get_lowest_layer(ws_).remote_endpoint().address().to_string();
      if (!proof_->is_proven_by(answer.body(), peer))
        return end(kWrongToken, "it has another token");
    } catch (const std::exception& problem) {  // no answer of a coordinator, or a broken connection
      return end(0, problem.what());
    }
    buffer_.clear();
    upgrade();
  }

  void upgrade() {
    ws_.binary(true);
    ws_.auto_fragment(false);
    ws_.read_message_max(kMostMessage);
    ws_.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
      if (!options_.token.empty())
        request.set(http::field::authorization, "Bearer " + options_.token);
    }));
    ws_.async_handshake(answer_, authority(options_.url), "/node",
                        [self = own()](ErrorCode error) { self->on_upgrade(error); });
  }

  void on_upgrade(ErrorCode error) {
    if (error == websocket::error::upgrade_declined)
      return end(static_cast<int>(answer_.result_int()),
                 "answered " + std::to_string(answer_.result_int()));
    if (error) return end(0, error.message());
    timer_.cancel();
    // Sends a ping after half of the idle time-out.
    ws_.set_option(websocket::stream_base::timeout{websocket::stream_base::none(),
                                                   duration(options_.silence), true});
    open = true;
    wire_.on_open();
    read();
  }

  void read() {
    ws_.async_read(buffer_, [self = own()](ErrorCode error, size_t) {
      if (error) return self->end(self->ws_.reason().code, self->why(error));
      const auto data = self->buffer_.data();
      self->wire_.on_message({static_cast<const std::byte*>(data.data()), data.size()});
      self->buffer_.clear();
      self->read();
    });
  }

  std::string why(ErrorCode error) const {
    const auto& reason = ws_.reason().reason;
    return reason.empty() ? error.message() : std::string(reason.data(), reason.size());
  }

  void write() {
    ws_.async_write(asio::buffer(out_.front()), [self = own()](ErrorCode error, size_t) {
      if (error) return self->shut();
      self->out_.pop_front();
      if (!self->out_.empty()) return self->write();
      if (self->closing_) self->send_close();
    });
  }

  void send_close() {
    if (ws_.is_open())
      ws_.async_close(websocket::close_code::normal, [self = own()](ErrorCode) { self->shut(); });
    else
      shut();
  }

  void shut() {
    ErrorCode ignored;
    beast::get_lowest_layer(ws_).close(ignored);
    resolver_.cancel();
  }

  void end(int code, const std::string& why) {
    timer_.cancel();
    open = false;
    shut();
    if (!std::exchange(ended_, true)) wire_.on_closed(code, why);
  }

  Wire& wire_;
  const WireOptions& options_;
  tcp::resolver resolver_;
  asio::steady_timer timer_;
  websocket::stream<Stream, false> ws_;
  websocket::response_type answer_;
  std::optional<ProofRequest> proof_;
  std::string question_;
  http::response_parser<http::string_body> answer_parser_;
  beast::flat_buffer buffer_;
  std::deque<ByteVector> out_;
  bool closing_ = false, ended_ = false;
};

}  // namespace

namespace {

/// Ports are 1 to 65535.
bool is_port(const std::string& text) { return parse_number<uint16_t>(text).value_or(0) > 0; }

}  // namespace

CoordinatorUrl parse_coordinator_url(const std::string& url) {
  CoordinatorUrl parsed;
  const size_t colon = url.find("://");
  const std::string scheme = url.substr(0, std::min(colon, url.size()));
  parsed.tls = scheme == "https" || scheme == "wss";
  std::string rest = colon == url.npos ? "" : url.substr(colon + 3);
  if (rest.ends_with('/')) rest.pop_back();
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  const size_t port = bracket == rest.npos ? rest.npos : rest.find(':', bracket);
  parsed.host = rest.substr(0, port);
  if (bracket != rest.npos && bracket > 0) parsed.host = rest.substr(1, bracket - 1);
  parsed.port = port == rest.npos ? (parsed.tls ? "443" : "80") : rest.substr(port + 1);
  const bool known = parsed.tls || scheme == "http" || scheme == "ws";
  if (!known || parsed.host.empty() || rest.find_first_of("/?#@ ") != std::string::npos ||
      bracket == rest.npos)
    throw Error(message(
        "url", "expected a URL such as http://127.0.0.1:8080, without a path, got '", url, "'"));
  if (!is_port(parsed.port))
    throw Error(
        message("url", "expected a port from 1 to 65535 in ", url, ", got '", parsed.port, "'"));
  return parsed;
}

std::string authority(const CoordinatorUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return (v6 ? "[" + url.host + "]" : url.host) + ":" + url.port;
}

bool is_loopback(const CoordinatorUrl& url) {
  if (url.host == "localhost") return true;
  ErrorCode error;
  const auto address = asio::ip::make_address(url.host, error);
  return !error && address.is_loopback();
}

struct Wire::Impl {
  explicit Impl(WireOptions given) : options(std::move(given)) {
    if (options.url.tls) tls.emplace(trust(options));
  }
  WireOptions options;
  asio::io_context io{1};
  std::optional<asio::ssl::context> tls;
  std::shared_ptr<Socket> socket;
};

Wire::Wire(WireOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Wire::~Wire() = default;

void Wire::connect() {
  Impl& i = *impl_;
  if (i.tls)
    i.socket =
        std::make_shared<SocketOf<TlsStream>>(*this, i.io, i.options, TlsStream(i.io, *i.tls));
  else
    i.socket = std::make_shared<SocketOf<PlainStream>>(*this, i.io, i.options, PlainStream(i.io));
  i.socket->start();
}

bool Wire::is_open() const { return impl_->socket && impl_->socket->open; }

void Wire::send(ByteVector message) {
  if (is_open()) impl_->socket->send(std::move(message));
}

void Wire::close() {
  if (is_open()) impl_->socket->close();
}

void Wire::post(std::function<void()> call) { asio::post(impl_->io, std::move(call)); }

void Wire::after(double seconds, std::function<void()> call) {
  auto timer = std::make_shared<asio::steady_timer>(
      impl_->io, std::chrono::microseconds(static_cast<int64_t>(1e6 * seconds)));
  timer->async_wait([timer, call = std::move(call)](ErrorCode error) {
    if (!error) call();
  });
}

void Wire::run() { impl_->io.run(); }
void Wire::stop() { impl_->io.stop(); }

}  // namespace kaiseki::dist
