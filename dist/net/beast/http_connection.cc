// SPDX-License-Identifier: MIT
// HttpConnection: the requests of one connection, one after the other. A node's connection then
// moves to node_connection.cc.
#include <array>

#include "base/base64.h"
#include "base/error.h"
#include "dist/net/beast/hub.h"
#include "dist/net/proof.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kHttpReadBytes = 64 << 10;
constexpr double kLingerSeconds = 2;
constexpr double kStalledSeconds =
    2;                               // a peer may read nothing while output_bytes_of_all is reached
constexpr double kAliveSeconds = 5;  // after which a waiting response sends HttpResponse::alive

template <class Stream>
class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(Hub& hub, Gate::Seat seat, std::string address, Stream stream, bool is_proxy)
      : Connection(hub, std::move(seat), std::move(address)),
        stream_(std::move(stream)),
        is_proxy_(is_proxy),
        peer_(address_),
        buffer_(static_cast<size_t>(hub.limits().header_bytes) + kHttpReadBytes),
        pace_(hub.limits().minimum_rate, hub.limits().rate_seconds) {}

  void start() {
    deadline_ = hub_.now() + hub_.limits().handshake_seconds;
    if constexpr (kHasTls<Stream>) {
      stream_.async_handshake(asio::ssl::stream_base::server, [self = own()](ErrorCode error) {
        if (!error) self->read_head();
      });
    } else {
      read_head();
    }
  }

  std::shared_ptr<Connection> self() override { return own(); }
  void sweep(double now) override {
    if (between_ && received() != received_) {  // the next request has begun
      between_ = false;
      deadline_ = now + hub_.limits().handshake_seconds;
    }
    if (deadline_ && now > *deadline_) {
      if (!lingering_ && !between_) hub_.metrics.refuse(Refusal::handshake_time);
      abort();
    } else if (moving_ && !pace_.keeps(moved_, now)) {
      hub_.metrics.refuse(Refusal::slow);
      abort();
    } else if (moving_ && waiting_bytes_ > 0 && is_stalled(now) && hub_.is_full()) {
      hub_.metrics.refuse(Refusal::output_bytes_of_all);
      abort();
    } else if (waiting_ && !response_.alive.empty() && now - wrote_at_ > kAliveSeconds) {
      waiting_.reset();
      hub_.asleep.erase(this);
      write_chunk({HttpChunk::Kind::bytes, response_.alive});
    }
  }
  void wake() override {
    if (waiting_) (waiting_.reset(), write_next());
  }
  void drain() override {
    if (between_ || waiting_) abort();
    keep_alive_ = false;
  }
  void abort() override {
    const auto self = std::exchange(waiting_, nullptr);
    ErrorCode ignored;
    beast::get_lowest_layer(stream_).close(ignored);
    seat_ = {};
    clients_.reset();
  }

 private:
  std::shared_ptr<HttpConnection> own() { return this->shared_from_this(); }

  std::string local_address() {
    ErrorCode error;
    const auto local = beast::get_lowest_layer(stream_).local_endpoint(error);
    return error ? "" : unmapped(local.address()).to_string();
  }

  void read_head() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(hub_.limits().header_bytes));
    parser_->body_limit(boost::none);
    http::async_read_header(stream_, buffer_, *parser_, [self = own()](ErrorCode error, size_t) {
      self->guarded([&] { self->on_head(error); });
    });
  }

  void on_head(ErrorCode error) {
    if (error == http::error::header_limit)
      return refuse(Refusal::header_bytes, 431, "fewer headers");
    if (error && error.category() == make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return refuse(Refusal::request, 400, "a request of HTTP/1.1");
    if (error) return;
    between_ = false;
    deadline_.reset();
    seat_.touch();
    const auto& head = parser_->get();
    if (static_cast<double>(std::distance(head.begin(), head.end())) > hub_.limits().header_lines)
      return refuse(Refusal::header_lines, 431, "fewer headers");
    if (!has_known_end())
      return refuse(Refusal::request, 501,
                    "Transfer-Encoding: chunked without Content-Length, or none");
    request_ = {};
    request_.method = std::string(head.method_string());
    for (const auto& field : head) {
      std::string name(field.name_string());
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const auto [at, first] = request_.headers.emplace(name, std::string(field.value()));
      if (!first && name == "host") return refuse(Refusal::host, 400, "one Host");
      if (!first && name == "x-forwarded-for") at->second = std::string(field.value());
    }
    if (!parse_target({head.target().data(), head.target().size()}, request_))
      return refuse(Refusal::request, 400, "a path");
    if (request_.path == kProofPath) request_.local = local_address();
    if (is_proxy_ && !take_clients_seat(websocket::is_upgrade(head)))
      return refuse(Refusal::forwarded, 503,
                    "an address in X-Forwarded-For, and fewer connections of it");
    request_.address = address_;
    if (!hub_.knows_host(request_.header("host")))
      return refuse(Refusal::host, 421, "a Host with a name of this server");
    if (seat_.is_on_trial() && request_.path != kProofPath && !has_token())
      return refuse(Refusal::connection_rate, 429, "a token, or fewer connections of this address");
    // After a proof comes the request that needs it.
    keep_alive_ = head.keep_alive() && (!hub_.draining || request_.path == kProofPath);
    if (websocket::is_upgrade(head)) return upgrade();
    auto admission = hub_.service->admit(request_);
    seat_.rise(admission.standing);
    if (admission.measures && !hub_.gate.measure(address_, hub_.now()))
      admission.refusal = HttpResponse::problem(429, "expected fewer requests of one address");
    if (admission.refusal) {
      if (parser_->content_length().value_or(0) > 0 || parser_->chunked()) keep_alive_ = false;
      return respond(std::move(*admission.refusal));
    }
    if (parser_->content_length().value_or(0) > admission.body_bytes)
      return refuse(Refusal::body_bytes, 413,
                    "at most " + std::to_string(admission.body_bytes) + " bytes");
    parser_->body_limit(admission.body_bytes);
    begin_moving();
    if (beast::iequals(request_.header("expect"), "100-continue")) return write_continue();
    read_body();
  }

  /// Whether the end of the body is certain. Otherwise the body would be read as the next request
  /// (RFC 9112 section 6.3).
  bool has_known_end() {
    const auto& head = parser_->get();
    const auto codings = head.count(http::field::transfer_encoding);
    return codings == 0 ||
           (codings == 1 && head.version() == 11 && head.count(http::field::content_length) == 0 &&
            beast::iequals(head[http::field::transfer_encoding], "chunked"));
  }

  /// The proxy adds the last address of the list; clients can forge the others. A node's WebSocket
  /// takes a seat of the client for its whole life. A request takes one until it is answered.
  bool take_clients_seat(bool to_stay) {
    const std::string& list = request_.header("x-forwarded-for");
    PeerAddress source{.address = peer_, .network = peer_};
    if (!list.empty()) {
      const size_t first = std::min(list.find_first_not_of(' ', list.rfind(',') + 1), list.size());
      ErrorCode error;
      const auto client = asio::ip::make_address(list.substr(first), error);
      if (error) return false;
      source = source_of(client);
    }
    auto seat = to_stay ? hub_.gate.enter(source, hub_.now(), has_token())
                        : hub_.gate.enter_for_request(source, hub_.now());
    if (!seat) return false;
    if (to_stay) {
      seat_ = std::move(*seat);
      seat_.on_make_way([this] { abort(); });
    } else {
      clients_ = std::move(seat);
    }
    address_ = source.address;
    return true;
  }

  bool has_token() { return hub_.service->admit(request_).standing == Standing::trusted; }

  void upgrade() {
    const std::string& key = request_.header("sec-websocket-key");
    size_t key_bytes = 0;
    try {
      key_bytes = decode_base64(key, "Sec-WebSocket-Key").size();
    } catch (const ParseError&) {
    }
    if (request_.header("sec-websocket-version") != "13" || key.size() != 24 || key_bytes != 16 ||
        buffer_.size() > 0)
      return refuse(Refusal::websocket, 400, "a WebSocket of version 13 with a key of 16 bytes");
    const auto origin = request_.headers.find("origin");
    if (origin != request_.headers.end() &&
        !hub_.knows_origin(origin->second, request_.header("host")))
      return refuse(Refusal::origin, 403, "a page of this server or of an allowed origin");
    if (request_.path != "/node") return refuse(Refusal::request, 404, "/node");
    if (hub_.draining) return respond(HttpResponse::problem(503, "the coordinator is ending"));
    serve_node<Stream>(hub_, std::move(seat_), address_, std::move(stream_), request_);
  }

  void write_continue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), [self = own()](ErrorCode error, size_t) {
      if (!error) self->read_body();
    });
  }

  void read_body() {
    if (parser_->is_done()) return on_body();
    http::async_read_some(stream_, buffer_, *parser_, [self = own()](ErrorCode error, size_t n) {
      self->moved_ += n;
      if (error == http::error::body_limit)
        return self->refuse(Refusal::body_bytes, 413, "a smaller body");
      if (!error) self->read_body();
    });
  }

  void on_body() {
    moving_ = false;
    request_.body = std::move(parser_->get().body());
    HttpResponse response;
    try {
      response = hub_.is_full() ? full() : hub_.service->answer(request_);
    } catch (const StoreLost&) {
      throw;
    } catch (const DiskFull& error) {
      response = HttpResponse::problem(507, error.what());
    } catch (const ParseError& error) {
      response = HttpResponse::problem(400, error.what());
    } catch (const Error& error) {
      response = HttpResponse::problem(422, error.what());
    } catch (const std::exception& error) {
      failed(error);
      response = HttpResponse::problem(500, "the coordinator has an internal error; see its log");
    }
    request_.body = {};
    respond(std::move(response));
  }

  HttpResponse full() {
    hub_.metrics.refuse(Refusal::output_bytes_of_all);
    return HttpResponse::problem(503, "too many bytes wait for other connections; try again later");
  }

  void refuse(Refusal reason, int status, const std::string& expected) {
    hub_.metrics.refuse(reason);
    between_ = keep_alive_ = false;
    respond(HttpResponse::problem(status, "expected " + expected));
  }

  void respond(HttpResponse response) {
    deadline_.reset();
    between_ = false;
    hub_.metrics.add(http_counter(response.status));
    response_ = std::move(response);
    chunked_ = response_.next && !response_.length;
    const bool head_only = request_.method == "HEAD";
    const uint64_t length = response_.next ? response_.length.value_or(0) : response_.body.size();
    out_ = "HTTP/1.1 " + std::to_string(response_.status) + " ";
    out_ += status_text(response_.status);
    auto add = [&](std::string_view name, std::string_view value) {
      ((((out_ += "\r\n") += name) += ": ") += value);
    };
    if (response_.status != 304 && response_.status != 204) {
      add("Content-Type", response_.type);
      chunked_ ? add("Transfer-Encoding", "chunked")
               : add("Content-Length", std::to_string(length));
    }
    add("Connection", keep_alive_ ? "keep-alive" : "close");
    add("X-Content-Type-Options", "nosniff");
    add("Referrer-Policy", "no-referrer");
    add("Cross-Origin-Opener-Policy", "same-origin");
    add("Cross-Origin-Embedder-Policy", "require-corp");
    if (!response_.has_header("Cross-Origin-Resource-Policy"))
      add("Cross-Origin-Resource-Policy", "same-origin");
    if (kHasTls<Stream>) add("Strict-Transport-Security", "max-age=31536000");
    for (const auto& [name, value] : response_.headers) add(name, value);
    out_ += "\r\n\r\n";
    if (head_only) response_.next = {};
    if (!head_only && !response_.next) out_ += response_.body;
    response_.body = {};
    begin_moving();
    write(!response_.next);
  }

  void write(bool last) {
    wrote_at_ = hub_.now();
    set_waiting_bytes(out_.size());
    asio::async_write(
        stream_, asio::buffer(out_),
        [self = own(), before = moved_](ErrorCode error, size_t n) {
          self->moved_ = before + n;
          return error ? 0 : kHttpReadBytes;
        },
        [self = own(), last](ErrorCode error, size_t) {
          if (error) return;
          last ? self->on_written() : self->write_next();
        });
  }

  void write_next() {
    HttpChunk chunk;
    try {
      chunk = response_.next();
    } catch (const std::exception&
                 error) {  // the head is sent: only the end of the connection can tell the error
      hub_.log.event("error", {{"what", error.what()}});
      return abort();
    }
    if (chunk.kind == HttpChunk::Kind::wait) {
      moving_ = false;
      set_waiting_bytes(0);
      out_ = {};
      waiting_ = own();
      hub_.asleep.insert(this);
      return watch();
    }
    write_chunk(std::move(chunk));
  }

  void write_chunk(HttpChunk chunk) {
    if (!moving_) begin_moving();
    const bool last = chunk.kind == HttpChunk::Kind::end;
    out_ = std::move(chunk.bytes);
    if (chunked_ && !out_.empty()) {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", out_.size());
      out_ = size + out_ + "\r\n";
    }
    if (chunked_ && last) out_ += "0\r\n\r\n";
    write(last);
  }

  /// While a response waits for data, notices that the peer ends the connection.
  void watch() {
    if (std::exchange(watching_, true)) return;
    auto& socket = beast::get_lowest_layer(stream_);
    socket.async_wait(tcp::socket::wait_read, [self = own()](ErrorCode error) {
      self->watching_ = false;
      if (!self->waiting_) return;
      ErrorCode gone;
      if (!error && beast::get_lowest_layer(self->stream_).available(gone) > 0) return;
      self->waiting_.reset();
      self->abort();
    });
  }

  void on_written() {
    moving_ = false;
    set_waiting_bytes(0);
    clients_.reset();
    out_ = {};
    response_ = {};
    if (!keep_alive_) return linger();
    between_ = true;
    deadline_ = hub_.now() + hub_.limits().keep_alive_seconds;
    received_ = received();
    read_head();
  }

  /// A socket that is closed with unread input sends a reset, and the peer may lose the response.
  /// So the input is discarded until the peer ends, for a short time.
  void linger() {
    lingering_ = true;
    deadline_ = hub_.now() + kLingerSeconds;
    ErrorCode ignored;
    if constexpr (kHasTls<Stream>) {
      stream_.async_shutdown([self = own()](ErrorCode) { self->abort(); });
    } else {
      stream_.shutdown(tcp::socket::shutdown_send, ignored);
      discard();
    }
  }
  void discard() {
    stream_.async_read_some(asio::buffer(discarded_), [self = own()](ErrorCode error, size_t) {
      error ? self->abort() : self->discard();
    });
  }

  /// Bytes that are written may still be in the system's buffers. The system counts those that the
  /// peer has acknowledged.
  bool is_stalled(double now) {
    const uint64_t taken =
        acknowledged_bytes(static_cast<int>(beast::get_lowest_layer(stream_).native_handle()));
    if (std::exchange(taken_, taken) != taken) taken_at_ = now;
    return now - taken_at_ > kStalledSeconds;
  }

  /// The system also counts the bytes of an incomplete TLS record.
  uint64_t received() {
    return received_bytes(static_cast<int>(beast::get_lowest_layer(stream_).native_handle()));
  }

  void begin_moving() {
    taken_at_ = hub_.now();
    moving_ = true;
    moved_ = 0;
    pace_.end();
  }

  Stream stream_;
  const bool is_proxy_;
  const std::string peer_;             // address of the socket; a proxy's own
  std::optional<Gate::Seat> clients_;  // for the request that a proxy forwards
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpRequest request_;
  HttpResponse response_;
  std::string out_;
  std::array<char, 512> discarded_;
  LeastRate pace_;
  uint64_t moved_ = 0;     // bytes of the current body
  uint64_t taken_ = 0;     // bytes that the peer has acknowledged
  uint64_t received_ = 0;  // bytes at the end of the last response
  std::optional<double> deadline_;
  double taken_at_ = 0, wrote_at_ = 0;
  bool moving_ = false, keep_alive_ = false, chunked_ = false, watching_ = false;
  bool between_ = false, lingering_ = false;
  std::shared_ptr<HttpConnection> waiting_;  // itself, while its response waits
};

template <class Stream>
void serve(Hub& hub, Gate::Seat seat, std::string address, Stream stream, bool is_proxy) {
  std::make_shared<HttpConnection<Stream>>(hub, std::move(seat), std::move(address),
                                           std::move(stream), is_proxy)
      ->start();
}

}  // namespace

void serve_http(Hub& hub, Gate::Seat seat, std::string address, PlainStream socket, bool is_proxy) {
  serve(hub, std::move(seat), std::move(address), std::move(socket), is_proxy);
}
void serve_http(Hub& hub, Gate::Seat seat, std::string address, TlsStream socket, bool is_proxy) {
  serve(hub, std::move(seat), std::move(address), std::move(socket), is_proxy);
}

}  // namespace kaiseki::dist
