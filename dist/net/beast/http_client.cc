// SPDX-License-Identifier: MIT
// Each step is asynchronous, and waited for: that is what gives it a time limit and an end from
// outside.
#include "dist/net/http_client.h"

#include <atomic>
#include <memory>
#include <optional>

#include "dist/net/beast/client.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

using Plain = beast::tcp_stream;
using Tls = asio::ssl::stream<beast::tcp_stream>;
using Request = http::request<http::span_body<const std::byte>>;
using Serializer = http::request_serializer<http::span_body<const std::byte>>;

// A larger body waits until the other side wants it: who refuses it does not read it all, and an
// answer may be lost with a connection that is closed meanwhile.
constexpr size_t kAskFirst = 1 << 20;
// A proxy may pass the question over: RFC 9110 section 10.1.1 has the body follow nevertheless.
constexpr double kAskSeconds = 1;
// A body of which no more is wanted often ends with the next piece: then the connection stays.
constexpr double kEndSeconds = 0.2;

}  // namespace

std::string authority(const CoordinatorUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return (v6 ? "[" + url.host + "]" : url.host) + ":" + url.port;
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

struct HttpClient::Impl {
  explicit Impl(WireOptions options) : to(std::move(options)) {
    if (to.url.tls) context.emplace(trust(to));
  }

  beast::tcp_stream& socket() { return plain ? *plain : tls->next_layer(); }

  template <class Call>
  void with_stream(Call call) {
    plain ? call(*plain) : call(*tls);
  }

  /// `begin` starts a step with the handler that it is given; throws when the step fails.
  template <class Begin>
  void step(Begin begin) {
    std::optional<ErrorCode> result;
    io.restart();
    socket().expires_after(duration(to.silence));
    begin([&result](ErrorCode error, const auto&...) { result = error; });
    while (!result && io.run_one() > 0) {
    }
    const ErrorCode error = result.value_or(asio::error::operation_aborted);
    if (error) throw boost::system::system_error(error);
  }

  /// The same for a step that the stream can do without: false if it has not ended in time.
  template <class Begin>
  bool step_within(double seconds, Begin begin) {
    const auto end = std::chrono::steady_clock::now() + duration(seconds);
    std::optional<ErrorCode> result;
    io.restart();
    socket().expires_never();
    begin([&result](ErrorCode error, const auto&...) { result = error; });
    while (!result && io.run_one_until(end) > 0) {
    }
    const bool late = !result;
    if (late) {
      socket().expires_after(duration(to.silence));  // where it reads on, as some has just come
      socket().cancel();
    }
    while (!result && io.run_one() > 0) {
    }
    const ErrorCode error = result.value_or(asio::error::operation_aborted);
    if (late && error == asio::error::operation_aborted) return false;
    if (error) throw boost::system::system_error(error);
    return true;
  }

  /// The system's resolver cannot be stopped: what it finds too late is nobody's.
  tcp::resolver::results_type resolve() {
    struct Found {
      std::optional<ErrorCode> error;
      tcp::resolver::results_type addresses;
    };
    const auto found = std::make_shared<Found>();
    resolver.async_resolve(to.url.host, to.url.port,
                           [found](ErrorCode error, tcp::resolver::results_type addresses) {
                             found->error = error;
                             found->addresses = std::move(addresses);
                           });
    const auto end = std::chrono::steady_clock::now() + duration(to.silence);
    io.restart();
    while (!found->error && !closed && cancelled != serial && io.run_one_until(end) > 0) {
    }
    if (!found->error) {
      const bool in_time = std::chrono::steady_clock::now() < end;
      throw boost::system::system_error(in_time ? ErrorCode(asio::error::operation_aborted)
                                                : ErrorCode(beast::error::timeout));
    }
    if (*found->error) throw boost::system::system_error(*found->error);
    return found->addresses;
  }

  void connect() {
    const auto found = resolve();
    context ? (void)tls.emplace(io, *context) : (void)plain.emplace(io);
    step([&](auto done) { socket().async_connect(found, done); });
    socket().socket().set_option(tcp::no_delay(true));
    socket().socket().set_option(asio::socket_base::keep_alive(true));
    if (tls) {
      name_server(*tls, to.url.host);
      step([&](auto done) { tls->async_handshake(asio::ssl::stream_base::client, done); });
    }
    open = true;
  }

  void disconnect() {
    open = false;
    buffer.clear();
    tls.reset();
    plain.reset();
  }

  Request head_of(const std::string& method, const std::string& path, nn::ByteView body) const {
    Request request(http::string_to_verb(method), path, 11);
    request.set(http::field::host, authority(to.url));
    if (!to.token.empty()) request.set(http::field::authorization, "Bearer " + to.token);
    if (body.size() > kAskFirst) request.set(http::field::expect, "100-continue");
    request.body() = {body.data(), body.size()};
    request.prepare_payload();
    return request;
  }

  void write(Serializer& request) {
    while (!request.is_done())
      with_stream([&](auto& stream) {
        step([&](auto done) { http::async_write_some(stream, request, done); });
      });
  }

  /// Whether the other side wants the body, or does not say. If not, the answer has begun.
  template <class Parser>
  bool ask(Serializer& request, Parser& answer) {
    request.split(true);
    bool said = false;
    with_stream([&](auto& stream) {
      step([&](auto done) { http::async_write_header(stream, request, done); });
      said = step_within(kAskSeconds,
                         [&](auto done) { http::async_read_header(stream, buffer, answer, done); });
    });
    return !said || answer.get().result() == http::status::continue_;
  }

  HttpReply exchange(const std::string& method, const std::string& path, nn::ByteView body,
                     uint64_t most) {
    const Request request = head_of(method, path, body);
    Serializer out(request);
    std::optional<http::response_parser<http::vector_body<std::byte>>> in;
    in.emplace().body_limit(most);
    const bool wanted = body.size() <= kAskFirst || ask(out, *in);
    if (wanted) write(out);
    while (!in->is_done() || in->get().result() == http::status::continue_) {
      if (in->is_done()) in.emplace().body_limit(most);  // the answer comes after "100 Continue"
      read_some(*in);
    }
    HttpReply reply{static_cast<int>(in->get().result_int()), std::move(in->get().body())};
    if (!wanted || !in->get().keep_alive()) disconnect();
    return reply;
  }

  template <class Parser>
  void read_some(Parser& parser) {
    with_stream([&](auto& stream) {
      step([&](auto done) { http::async_read_some(stream, buffer, parser, done); });
    });
  }

  template <class Parser>
  void read_end(Parser& parser) {
    with_stream([&](auto& stream) {
      step_within(kEndSeconds, [&](auto done) { http::async_read(stream, buffer, parser, done); });
    });
  }

  /// A connection that was kept may have been closed by the other side: then `exchange` is tried
  /// once more over a new one. Who does not answer in time has had its time.
  template <class Exchange>
  void talk(const std::string& path, const bool& again, Exchange exchange) {
    const uint64_t own = ++serial;
    try {
      for (bool kept = open;; kept = false) {
        try {
          if (closed) throw boost::system::system_error(asio::error::operation_aborted);
          if (!open) connect();
          exchange();
          break;
        } catch (const boost::system::system_error& error) {
          disconnect();
          const bool late = error.code() == beast::error::timeout;
          if (!kept || !again || late || cancelled == own) throw;
        }
      }
    } catch (const boost::system::system_error& error) {
      ++serial;
      const bool untrusted = error.code().category() == asio::error::get_ssl_category();
      throw Error(message("pool", "no answer of ", authority(to.url), " to ", path, ": ",
                          error.code().message(),
                          untrusted ? "; expected a certificate of this host that the system, or "
                                      "the file of --tls-ca (--pool-tls-ca), trusts"
                                    : ""));
    } catch (...) {
      ++serial;
      disconnect();
      throw;
    }
    ++serial;
  }

  const WireOptions to;
  asio::io_context io{1};
  tcp::resolver resolver{io};
  std::optional<asio::ssl::context> context;
  std::optional<Plain> plain;
  std::optional<Tls> tls;
  beast::flat_buffer buffer;
  bool open = false;
  std::atomic<uint64_t> serial = 0, cancelled = 0;  // odd while a call goes on
  std::atomic<bool> closed = false;
};

namespace {

/// The last one, which may go on, stays in `begun`. Whether `take` wants more.
bool take_lines(std::string& begun, std::string_view piece,
                const std::function<bool(std::string_view line)>& take) {
  for (size_t end; (end = piece.find('\n')) != piece.npos; piece.remove_prefix(end + 1)) {
    if (!take(begun += piece.substr(0, end))) return false;
    begun.clear();
  }
  begun += piece;
  return true;
}

}  // namespace

HttpClient::HttpClient(WireOptions to) : impl_(std::make_unique<Impl>(std::move(to))) {}
HttpClient::~HttpClient() = default;

HttpReply HttpClient::request(const std::string& method, const std::string& path, nn::ByteView body,
                              uint64_t most) {
  HttpReply reply;
  impl_->talk(path, method != "POST", [&] { reply = impl_->exchange(method, path, body, most); });
  return reply;
}

int HttpClient::follow(const std::string& path,
                       const std::function<bool(std::string_view line)>& take) {
  int status = 0;
  bool again = true, more = true;
  impl_->talk(path, again, [&] {
    const Request request = impl_->head_of("GET", path, {});
    Serializer out(request);
    impl_->write(out);
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    std::string begun;  // a line
    while (!parser.is_done() && more) {
      impl_->read_some(parser);
      again = false;
      if (parser.is_header_done()) status = static_cast<int>(parser.get().result_int());
      std::string& body = parser.get().body();
      if (status == 200) more = take_lines(begun, body, take);
      body.clear();
    }
    if (!parser.is_done()) impl_->read_end(parser);
    if (!parser.is_done() || !parser.get().keep_alive()) impl_->disconnect();
  });
  return status;
}

void HttpClient::close() {
  impl_->closed = true;
  cancel();
}

void HttpClient::cancel() {
  const uint64_t call = impl_->serial;
  if (call % 2 == 0) return;
  impl_->cancelled = call;
  asio::post(impl_->io, [impl = impl_.get(), call] {
    if (impl->serial == call && (impl->plain || impl->tls)) impl->socket().close();
  });
}

}  // namespace kaiseki::dist
