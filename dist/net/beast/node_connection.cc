// SPDX-License-Identifier: MIT
// A node's WebSocket: frames in and out, and the limits of both ways.
#include <cmath>
#include <deque>

#include "dist/net/beast/hub.h"
#include "dist/pool/text.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kKeptBuffer = 4 << 10;    // of an idle node
constexpr size_t kSmallMessage = 4 << 10;  // passes whatever else its node sent
constexpr uint64_t kHeadRoom = 64;         // over what a frame should need
constexpr double kCloseSeconds = 5;
constexpr size_t kMostReason = 100, kMostProblem = 200;

template <class Stream>
class NodeConnection final : public Connection,
                             public NodeLink,
                             public std::enable_shared_from_this<NodeConnection<Stream>> {
 public:
  NodeConnection(Hub& hub, Gate::Seat seat, std::string address, Stream stream)
      : Connection(hub, std::move(seat), std::move(address)),
        ws_(std::move(stream)),
        messages_(hub.limits().messages_per_second, 2 * hub.limits().messages_per_second),
        pace_(hub.limits().minimum_rate, hub.limits().rate_seconds),
        received_(hub.now()) {}

  void start(http::request<http::string_body> request, const HttpRequest& head) {
    peer_ = hub_.service->open_node(head, *this);
    ws_.binary(true);
    ws_.auto_fragment(false);
    ws_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      on_control(kind == websocket::frame_type::close);
    });
    deadline_ = hub_.now() + hub_.limits().handshake_seconds;
    request_ = std::move(request);
    if (!peer_) return refuse();
    ws_.async_accept(request_, [self = own()](ErrorCode error) {
      if (error) {
        self->hub_.metrics.refuse("websocket");
        return self->finish();
      }
      self->request_ = {};
      self->deadline_ = 0;
      self->read();
    });
  }

  void send(nn::ByteVector message) override {
    if (closing_) return;
    waits(waiting_bytes_ + message.size());
    const bool full = !out_.empty() && hub_.is_full();  // not the fault of who reads all
    if (full || static_cast<double>(waiting_bytes_) > hub_.limits().output_bytes) {
      hub_.metrics.refuse(full ? "output_bytes_of_all" : "output_bytes");
      return close(CloseCode::try_later, "too much waits for this node");
    }
    out_.push_back(std::move(message));
    if (out_.size() == 1) {
      progress_ = hub_.now();
      write();
    }
    limit_read();  // a message may be on its way already, for which this one gives leave
  }

  void close(CloseCode code, const std::string& reason) override {
    if (std::exchange(closing_, true)) return;
    deadline_ = hub_.now() + kCloseSeconds;
    why_ = websocket::close_reason(static_cast<websocket::close_code>(code),
                                   clean_text(reason, kMostReason));
    if (out_.empty()) send_close();
  }

  const std::string& address() const override { return address_; }
  std::shared_ptr<Connection> self() override { return own(); }
  void drain() override { close(CloseCode::going_away, "the coordinator ends"); }
  void abort() override {
    if (timer_) timer_->cancel();
    ErrorCode ignored;
    beast::get_lowest_layer(ws_).close(ignored);
  }

  void sweep(double now) override {
    if (deadline_ > 0 && now > deadline_) return abort();
    if (closing_ || !peer_) return;
    if (!ws_.is_open()) {  // Beast has closed it, and waits for the peer's end
      if (deadline_ == 0) deadline_ = now + kCloseSeconds;
      overdue_ = true;
      return;
    }
    watch_wire(now);
    watch_output(now);
    if (!closing_) peer_->tick(now);
    if (closing_) return;
    if (pinged_ > 0 && now - pinged_ > hub_.limits().pong_seconds) {
      hub_.metrics.refuse("pong_time");
      return abort();
    }
    if (pinged_ == 0 && !pinging_ && now - received_ > hub_.limits().ping_seconds) {
      pinged_ = now;
      pinging_ = true;  // also while it waits behind a message that is not read
      ws_.async_ping({}, [self = own()](ErrorCode) { self->pinging_ = false; });
    }
  }

  double input_rate() const override {  // since a message was whole, `pace_` is still that one's
    return input_bytes_ > 0 && !completed_ ? pace_.rate() : HUGE_VAL;
  }
  void give_way() override {
    hub_.metrics.refuse("input_bytes_of_all");
    closing_ = true;
    holds(0);
    abort();
  }

  /// The peer's end is the node's; the rest goes with the last handler.
  void finish() override {
    closing_ = true;
    if (deadline_ == 0) deadline_ = hub_.now() + kCloseSeconds;
    peer_.reset();
    abort();
  }

 private:
  std::shared_ptr<NodeConnection> own() { return this->shared_from_this(); }

  void refuse() {
    hub_.metrics.refuse("node_token");
    auto answer = std::make_shared<std::string>(
        "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    asio::async_write(ws_.next_layer(), asio::buffer(*answer),
                      [self = own(), answer](ErrorCode, size_t) { self->abort(); });
  }

  /// The system counts what came before a message is whole: what only Beast has seen so far.
  void watch_wire(double now) {
    const uint64_t raw =
        received_bytes(static_cast<int>(beast::get_lowest_layer(ws_).native_handle()));
    const bool between = std::exchange(controlled_, false) && buffer_.size() == 0;
    const bool whole = std::exchange(completed_, false) || between;
    if (whole || (raw == raw_ && !pace_.begun())) {
      pace_.end();
    } else if (!paused_ && !pace_.keeps(pace_.begun() ? raw : raw_, now)) {
      hub_.metrics.refuse("slow");
      abort();
    }
    raw_ = raw;
    if (base_ == 0) base_ = raw;
    if (raw - base_ > 3 * useful_ + (64 << 10)) {
      hub_.metrics.refuse("fragments");
      close(CloseCode::policy, "too little in too many fragments");
    }
  }

  void watch_output(double now) {
    const uint64_t acked =
        acknowledged_bytes(static_cast<int>(beast::get_lowest_layer(ws_).native_handle()));
    if (out_.empty() || std::exchange(acked_, acked) != acked) progress_ = now;
    if (now - progress_ <= hub_.limits().rate_seconds) return;
    hub_.metrics.refuse("slow");
    closing_ = true;
    abort();
  }

  void on_control(bool is_close) {
    controlled_ = true;
    received_ = hub_.now();
    pinged_ = 0;
    useful_ += 131;
    if (!is_close && !closing_ && !messages_.take(received_)) {
      hub_.metrics.refuse("message_rate");
      asio::post(ws_.get_executor(),
                 [self = own()] { self->close(CloseCode::policy, "too many control frames"); });
    }
  }

  void limit_read() {
    ws_.read_message_max(kFrameHeaderBytes + kMaxControlBytes + peer_->largest_payload() +
                         kHeadRoom);
  }

  void read() {
    if (!peer_) return;
    limit_read();
    ws_.async_read_some(buffer_, kReadBytes, [self = own()](ErrorCode error, size_t count) {
      self->on_read(error, count);
    });
  }

  void on_read(ErrorCode error, size_t count) {
    if (error) {
      if (error == websocket::error::message_too_big)
        refuse_payload();
      else if (error != websocket::error::closed && !closing_ &&
               (overdue_ ||
                error.category() == make_error_code(websocket::error::closed).category()))
        hub_.metrics.refuse("websocket");
      return finish();
    }
    useful_ += count;
    if (closing_) {
      forget_input();
      return read();
    }
    received_ = hub_.now();
    const bool has_some = peer_->spend(count);
    if (buffer_.size() == count) is_over_ = !has_some;
    if (is_over_ && buffer_.size() > kSmallMessage) {
      hub_.metrics.refuse("byte_rate");
      forget_input();
      close(CloseCode::try_later, "too many bytes for its tickets");
      return read();
    }
    if (ws_.got_text()) {
      hub_.metrics.refuse("text_message");
      close(CloseCode::text, "expected binary messages");
      return read();
    }
    const nn::ByteView message(static_cast<const std::byte*>(buffer_.data().data()),
                               buffer_.size());
    try {
      if (!header_ && message.size() >= kFrameHeaderBytes) {
        header_ = decode_frame_header(message);
        if (header_->payload_bytes > peer_->payload_limit(*header_)) {
          refuse_payload();
          close(CloseCode::too_big, "expected a smaller payload");
          return read();
        }
      }
      ws_.is_message_done() ? take(message) : keep(message);
    } catch (const ParseError& problem) {
      hub_.metrics.refuse("frame");
      nn::Json why = nn::Json::object();
      send(encode_frame(
          {FrameType::error, 0, why.set("error", clean_text(problem.what(), kMostProblem))}));
      close(CloseCode::protocol, problem.what());
    } catch (const std::exception& problem) {
      failed(problem);
      close(CloseCode::internal, "the coordinator has an error; its log tells which");
    }
    paused_ ? wait() : read();
  }

  void refuse_payload() {
    hub_.metrics.refuse("frame_bytes");
    if (!closing_ && peer_) peer_->oversized(header_ ? &*header_ : nullptr);
  }

  /// Of a message whose rest is on its way.
  void keep(nn::ByteView message) {
    if (header_ && !admitted_ &&
        message.size() >= kFrameHeaderBytes + uint64_t{header_->control_bytes}) {
      admitted_ = header_->payload_bytes <= peer_->payload_limit(decode_frame_head(message));
      if (!admitted_) {
        refuse_payload();
        return close(CloseCode::too_big, "expected a smaller payload, or the ticket's token");
      }
    }
    holds(message.size());
    while (hub_.holds_enough()) {
      Connection* const slowest = hub_.slowest();
      if (slowest->input_rate() == HUGE_VAL || slowest == this) return refuse_input();
      slowest->give_way();
    }
  }

  void refuse_input() {
    hub_.metrics.refuse("input_bytes_of_all");
    forget_input();
    close(CloseCode::try_later, "too much comes from all nodes at once");
  }

  void forget_input() {
    buffer_.clear();
    buffer_.shrink_to_fit();
    holds(0);
  }

  void take(nn::ByteView message) {
    completed_ = true;
    useful_ += kFrameHeaderBytes;
    header_.reset();
    admitted_ = false;
    holds(0);
    hub_.metrics.add("messages_received");
    hub_.metrics.add("bytes_received", message.size());
    peer_->receive(decode_frame(message), message);
    buffer_.clear();
    if (buffer_.capacity() > kKeptBuffer) buffer_.shrink_to_fit();
    if (!messages_.take(received_)) {
      hub_.metrics.refuse("message_rate");
      paused_ = true;
    }
  }

  /// Its messages wait where they are: the peer notices by itself that it is too fast.
  void wait() {
    timer_.emplace(ws_.get_executor());
    timer_->expires_after(
        std::chrono::microseconds(1 + static_cast<int64_t>(1e6 * messages_.wait(hub_.now()))));
    timer_->async_wait([self = own()](ErrorCode) {
      self->timer_.reset();
      self->paused_ = false;
      self->messages_.take(self->hub_.now());
      self->read();
    });
  }

  void write() {
    ws_.async_write(asio::buffer(out_.front()), [self = own()](ErrorCode error, size_t count) {
      if (error) return self->abort();
      self->hub_.metrics.add("messages_sent");
      self->hub_.metrics.add("bytes_sent", count);
      self->waits(self->waiting_bytes_ - count);
      self->out_.pop_front();
      if (!self->out_.empty()) return self->write();
      if (self->closing_) self->send_close();
    });
  }

  void send_close() {
    if (ws_.is_open()) ws_.async_close(why_, [self = own()](ErrorCode) {});
  }

  websocket::stream<Stream, false> ws_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_;
  std::optional<FrameHeader> header_;
  std::deque<nn::ByteVector> out_;
  std::optional<asio::steady_timer> timer_;
  websocket::close_reason why_;
  TokenBucket messages_;
  LeastRate pace_;
  uint64_t raw_ = 0, base_ = 0, useful_ = 0, acked_ = 0;
  double deadline_ = 0, received_, pinged_ = 0, progress_ = 0;
  bool closing_ = false, paused_ = false, completed_ = true, overdue_ = false;
  bool controlled_ = false, pinging_ = false;
  bool is_over_ = false;   // before the message that comes its node had no bytes left
  bool admitted_ = false;  // the message that comes, by its control part
  std::unique_ptr<NodePeer> peer_;
};

}  // namespace

template <class Stream>
void serve_node(Hub& hub, Gate::Seat seat, std::string address, Stream stream,
                http::request<http::string_body> request, const HttpRequest& head) {
  std::make_shared<NodeConnection<Stream>>(hub, std::move(seat), std::move(address),
                                           std::move(stream))
      ->start(std::move(request), head);
}
template void serve_node(Hub&, Gate::Seat, std::string, PlainStream,
                         http::request<http::string_body>, const HttpRequest&);
template void serve_node(Hub&, Gate::Seat, std::string, TlsStream, http::request<http::string_body>,
                         const HttpRequest&);

}  // namespace kaiseki::dist
