// SPDX-License-Identifier: MIT
// Uses libcurl's multi interface, for time limits under a second and for cancel().
#include "base/http_transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace kaiseki {
namespace {

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;
using Connections = std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)>;

// For a larger body the server first answers whether it accepts it (100 Continue). A server that
// refuses does not read the body. If it closes the connection with unread bytes, its answer may be
// lost. libcurl waits one second.
constexpr size_t kAskFirst = 1 << 20;
constexpr double kEndSeconds = 0.2;
constexpr size_t kMostHead = 16 << 10;  // bytes of an answer's head
constexpr long kPieceBytes = 256 << 10;
constexpr double kLongestPoll = 60;  // seconds

/// The state of the current call. libcurl's callbacks get a pointer to it.
struct Exchange {
  const HttpCall& call;
  CURL* curl;
  double active = steady_seconds();  // the time of the last byte in either direction
  curl_off_t received = 0, sent = 0;
  size_t head = 0;
  int sendings = 0;
  HttpWant want = HttpWant::more;
  std::optional<double> enough_since = {};
  bool head_too_large = false;
  std::exception_ptr thrown = {};
};

/// The status of the last answer. Empty if there is none, for which libcurl returns 0.
std::optional<int> status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 0) return std::nullopt;
  return static_cast<int>(status);
}

size_t on_head(char* data, size_t, size_t count, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  x.active = steady_seconds();
  if (std::string_view(data, count).starts_with("HTTP/")) x.head = 0;
  x.head += count;
  x.head_too_large = x.head > kMostHead;
  return x.head_too_large ? 0 : count;
}

size_t on_body(char* data, size_t, size_t count, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  if (x.want == HttpWant::more && x.call.receive) {
    try {
      x.want = x.call.receive(status_of(x.curl).value(), std::as_bytes(std::span(data, count)));
    } catch (...) {
      x.thrown = std::current_exception();
      x.want = HttpWant::refuse;
    }
    if (x.want == HttpWant::enough) x.enough_since = steady_seconds();
  }
  x.active = steady_seconds();
  return x.want == HttpWant::refuse ? 0 : count;
}

int on_progress(void* context, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  auto& x = *static_cast<Exchange*>(context);
  if (received != x.received || sent != x.sent) x.active = steady_seconds();
  x.received = received, x.sent = sent;
  return 0;
}

/// libcurl repeats a request if its kept connection was closed.
int on_send(void* context, char* address, char*, int, int local_port) {
  auto& x = *static_cast<Exchange*>(context);
  const bool repeated = x.sendings++ > 0 && !x.call.again && x.call.redirects == 0;
  const bool sends = !repeated && (!x.call.may_send || x.call.may_send({address, local_port}));
  return sends ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

class Headers {
 public:
  ~Headers() { curl_slist_free_all(list_); }
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (!longer) throw std::bad_alloc();
    list_ = longer;
  }
  curl_slist* list() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

HttpEnd end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::whole;
    case CURLE_PEER_FAILED_VERIFICATION:
      return HttpEnd::untrusted;
    case CURLE_SSL_CACERT_BADFILE:
      return HttpEnd::no_certificates;
    default:
      return HttpEnd::failed;
  }
}

double seconds_since(double start) { return steady_seconds() - start; }

}  // namespace

struct HttpTransfer::Impl {
  Impl() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    connections.reset(curl_multi_init());
    curl.reset(curl_easy_init());
    if (started != CURLE_OK || !connections || !curl) throw std::bad_alloc();
    curl_multi_setopt(connections.get(), CURLMOPT_MAXCONNECTS, 1L);
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(curl.get(), option, value);
  }

  void prepare(Exchange& x, Headers& headers) {
    const HttpCall& call = x.call;
    curl_easy_reset(curl.get());
    set(CURLOPT_URL, call.url.c_str());
    if (!call.target.empty()) set(CURLOPT_REQUEST_TARGET, call.target.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!call.certificates.empty()) {
      set(CURLOPT_CAINFO, call.certificates.c_str());
      set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    set(CURLOPT_FOLLOWLOCATION, call.redirects > 0 ? 1L : 0L);
    set(CURLOPT_MAXREDIRS, static_cast<long>(call.redirects));
    if (!call.proxy) set(CURLOPT_PROXY, "");
    set(CURLOPT_USERAGENT, "kaiseki");
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_BUFFERSIZE, kPieceBytes);
    set(CURLOPT_UPLOAD_BUFFERSIZE, kPieceBytes);
    set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, std::lround(1e3 * call.connect_seconds)));
    set(CURLOPT_NOSIGNAL, 1L);
    // Without this, the end of a call would wait for the system's resolver.
    set(CURLOPT_QUICK_EXIT, 1L);
    set(CURLOPT_ERRORBUFFER, problem);
    set_body(call, headers);
    set_callbacks(x);
  }

  void set_body(const HttpCall& call, Headers& headers) {
    const bool has_body = !call.body.empty() || call.method == "POST" || call.method == "PUT";
    if (has_body) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
      set(CURLOPT_POSTFIELDS,
          call.body.empty() ? "" : reinterpret_cast<const char*>(call.body.data()));
      headers.add("Content-Type:");
      headers.add(call.body.size() > kAskFirst ? "Expect: 100-continue" : "Expect:");
    }
    if (call.method != (has_body ? "POST" : "GET")) set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    for (const std::string& line : call.headers) headers.add(line);
    set(CURLOPT_HTTPHEADER, headers.list());
  }

  void set_callbacks(Exchange& x) {
    set(CURLOPT_HEADERFUNCTION, on_head);
    set(CURLOPT_HEADERDATA, &x);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &x);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, &x);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_PREREQFUNCTION, on_send);
    set(CURLOPT_PREREQDATA, &x);
  }

  std::optional<CURLcode> finished() {
    int left = 0;
    while (const CURLMsg* said = curl_multi_info_read(connections.get(), &left))
      if (said->msg == CURLMSG_DONE) return said->data.result;
    return std::nullopt;
  }

  /// Runs until the call ends. `serial` identifies the call for cancel().
  HttpOutcome drive(Exchange& x, uint64_t own) {
    for (;;) {
      int going = 0;
      const CURLMcode code = curl_multi_perform(connections.get(), &going);
      if (code != CURLM_OK) return {HttpEnd::failed, std::nullopt, curl_multi_strerror(code)};
      if (const auto result = finished()) return ended(x, *result);
      if (closed || cancelled == own) return {HttpEnd::cancelled, std::nullopt, "cancelled"};
      const double left = x.enough_since ? kEndSeconds - seconds_since(*x.enough_since)
                                         : x.call.silence_seconds - seconds_since(x.active);
      if (left <= 0 && x.enough_since) return {HttpEnd::enough, status_of(x.curl), ""};
      if (left <= 0)
        return {HttpEnd::silent, status_of(x.curl), "time-out: no data from the other side"};
      const int wait = static_cast<int>(std::ceil(1e3 * std::min(left, kLongestPoll)));
      curl_multi_poll(connections.get(), nullptr, 0, wait, nullptr);
    }
  }

  HttpOutcome ended(const Exchange& x, CURLcode code) const {
    const std::optional<int> status = status_of(x.curl);
    if (x.head_too_large) return {HttpEnd::failed, status, "the head of the answer is too large"};
    if (x.want == HttpWant::refuse) return {HttpEnd::refused, status, "the answer was refused"};
    if (x.want == HttpWant::enough) return {HttpEnd::enough, status, ""};
    if (code == CURLE_OPERATION_TIMEDOUT)
      return {HttpEnd::silent, status, "time-out: no connection"};
    const std::string why = problem[0] ? problem : curl_easy_strerror(code);
    return {end_of(code), status, code == CURLE_OK ? "" : why};
  }

  Connections connections{nullptr, curl_multi_cleanup};
  Handle curl{nullptr, curl_easy_cleanup};
  char problem[CURL_ERROR_SIZE] = {};
  std::atomic<uint64_t> serial = 0, cancelled = 0;  // serial is odd during a call
  std::atomic<bool> closed = false;
};

HttpTransfer::HttpTransfer() : impl_(std::make_unique<Impl>()) {}
HttpTransfer::~HttpTransfer() = default;

HttpOutcome HttpTransfer::run(const HttpCall& call) {
  Impl& impl = *impl_;
  Headers headers;
  Exchange exchange{call, impl.curl.get()};
  impl.prepare(exchange, headers);
  impl.problem[0] = 0;
  const uint64_t own = ++impl.serial;
  HttpOutcome outcome{HttpEnd::cancelled, std::nullopt, "closed"};
  if (!impl.closed) {
    curl_multi_add_handle(impl.connections.get(), impl.curl.get());
    outcome = impl.drive(exchange, own);
    curl_multi_remove_handle(impl.connections.get(), impl.curl.get());
  }
  ++impl.serial;
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  return outcome;
}

void HttpTransfer::close() {
  impl_->closed = true;
  curl_multi_wakeup(impl_->connections.get());
}

void HttpTransfer::cancel() {
  const uint64_t call = impl_->serial;
  if (call % 2 == 0) return;
  impl_->cancelled = call;
  curl_multi_wakeup(impl_->connections.get());
}

}  // namespace kaiseki
