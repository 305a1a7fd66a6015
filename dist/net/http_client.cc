// SPDX-License-Identifier: MIT
#include "dist/net/http_client.h"

#include <optional>

#include "base/error.h"
#include "base/http_transfer.h"
#include "dist/net/proof.h"

namespace kaiseki::dist {
namespace {

constexpr int kWrongToken = 401;
constexpr int kMostProofs = 3;  // of one call

/// Passes the complete lines of `piece` on. `begun` keeps the last, incomplete line.
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

struct HttpClient::Impl {
  HttpCall call_of(const std::string& method, const std::string& path,
                   bool with_token = true) const {
    HttpCall call;
    call.url = (to.url.tls ? "https://" : "http://") + authority(to.url);
    call.target = path;
    call.method = method;
    call.headers = {"Host: " + authority(to.url)};
    if (with_token && !to.token.empty())
      call.headers.push_back("Authorization: Bearer " + to.token);
    call.certificates = to.certificates;
    call.again = method != "POST";
    call.connect_seconds = call.silence_seconds = to.silence;
    return call;
  }

  /// Runs the call over a connection whose other side has proven that it knows the token. Returns
  /// nullopt if the other side is a coordinator with other tokens.
  std::optional<HttpOutcome> run(HttpCall& call) {
    if (!ProofRequest::is_needed(to)) return transfer.run(call);
    for (int tries = 0; tries < kMostProofs; ++tries) {
      bool sent = true;
      call.may_send = [&](const HttpPeer& peer) { return sent = peer.local_port == proven_port; };
      if (proven_port) {
        HttpOutcome outcome = transfer.run(call);
        if (sent) return outcome;
      }
      proven_port.reset();
      const HttpOutcome outcome = prove();
      if (outcome.end != HttpEnd::whole) return outcome;
      if (!proven_port) return std::nullopt;
    }
    return HttpOutcome{HttpEnd::failed, std::nullopt, "the coordinator closes each connection"};
  }

  /// Asks for a proof. Sets proven_port if the answer is right.
  HttpOutcome prove() {
    const ProofRequest request(to);
    std::string answer;
    HttpPeer peer;
    HttpCall call = call_of("GET", request.target(), false);
    call.may_send = [&](const HttpPeer& one) { return peer = one, true; };
    call.receive = [&](int, ByteView piece) {
      answer += as_text(piece);
      return answer.size() > kMostProofBytes ? HttpWant::refuse : HttpWant::more;
    };
    HttpOutcome outcome = transfer.run(call);
    if (outcome.end != HttpEnd::whole) return outcome;
    try {
      if (outcome.status == 200 && request.is_proven_by(answer, peer.address))
        proven_port = peer.local_port;
      if (outcome.status == 200) return outcome;
    } catch (const ParseError&) {
    }
    return {HttpEnd::failed, outcome.status,
            "the program at this address is not the coordinator with this token"};
  }

  [[noreturn]] void fail(const std::string& path, const HttpOutcome& outcome) const {
    if (outcome.end == HttpEnd::no_certificates)
      throw Error(message("pool", "expected certificates in PEM format in ", to.certificates,
                          ", got: ", outcome.problem));
    const Message problem =
        message("pool", "no answer of ", authority(to.url), " to ", path, ": ", outcome.problem);
    if (outcome.end != HttpEnd::untrusted) throw Error(problem);
    throw UntrustedCertificate(problem + "; expected a certificate of this host that is trusted");
  }

  const WireOptions to;
  HttpTransfer transfer = {};
  /// The local port of the connection whose other side has proven that it knows the token.
  std::optional<int> proven_port = {};
};

HttpClient::HttpClient(WireOptions to) : impl_(new Impl{std::move(to)}) {}
HttpClient::~HttpClient() = default;

HttpReply HttpClient::request(const std::string& method, const std::string& path, ByteView body,
                              uint64_t most) {
  HttpReply reply;
  bool too_large = false;
  HttpCall call = impl_->call_of(method, path);
  call.body = body;
  call.receive = [&](int, ByteView piece) {
    too_large = piece.size() > most - reply.body.size();
    if (too_large) return HttpWant::refuse;
    reply.body.insert(reply.body.end(), piece.begin(), piece.end());
    return HttpWant::more;
  };
  std::optional<HttpOutcome> ran = impl_->run(call);
  if (!ran) return {kWrongToken, {}};
  HttpOutcome& outcome = *ran;
  if (too_large) outcome.problem = "the answer has more than " + std::to_string(most) + " bytes";
  if (outcome.end != HttpEnd::whole) impl_->fail(path, outcome);
  reply.status = outcome.status.value();
  return reply;
}

int HttpClient::follow(const std::string& path,
                       const std::function<bool(std::string_view line)>& take) {
  std::string begun;  // an incomplete line
  HttpCall call = impl_->call_of("GET", path);
  call.receive = [&](int status, ByteView piece) {
    const bool more = status != 200 || take_lines(begun, as_text(piece), take);
    return more ? HttpWant::more : HttpWant::enough;
  };
  const std::optional<HttpOutcome> outcome = impl_->run(call);
  if (!outcome) return kWrongToken;
  if (outcome->end != HttpEnd::whole && outcome->end != HttpEnd::enough)
    impl_->fail(path, *outcome);
  return outcome->status.value();
}

void HttpClient::close() { impl_->transfer.close(); }
void HttpClient::cancel() { impl_->transfer.cancel(); }

}  // namespace kaiseki::dist
