// SPDX-License-Identifier: MIT
// A node's WebSocket: reads and writes frames, and enforces the limits of both directions. Each
// operation belongs to the socket, so all of them end with it. No operation waits for another.
#include <cmath>
#include <deque>

#include "base/error.h"
#include "dist/net/beast/hub.h"
#include "dist/net/websocket.h"
#include "dist/pool/text.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kSmallMessage = 4 << 10;  // bytes; such a message passes all limits on input
constexpr uint64_t kHeadRoom = 64;         // bytes more than a frame needs
constexpr double kCloseSeconds = 5;
constexpr size_t kMostReason = 100, kMostProblem = 200;
constexpr uint64_t kControlFrame = 131;  // bytes, at most
constexpr double kPingBurst = 20;        // seconds of pings_per_second

/// The state of a connection only moves forward. From `closing` on, incoming bytes are discarded.
/// Closing a socket with unread input would also drop the output that the peer has not read.
enum class Life : uint8_t {
  opening,  // sends the answer to the upgrade
  open,     // frames come and go
  closing,  // sends the waiting output, then the close frame
  ending,   // all went out; the peer ends, or its time does
  gone,     // the socket is closed and the seat given back
};

template <class Stream>
class NodeConnection final : public Connection,
                             public NodeLink,
                             public std::enable_shared_from_this<NodeConnection<Stream>> {
 public:
  NodeConnection(Hub& hub, Gate::Seat seat, std::string address, Stream stream)
      : Connection(hub, std::move(seat), std::move(address)),
        stream_(std::move(stream)),
        messages_(hub.limits().messages_per_second, 2 * hub.limits().messages_per_second),
        pings_(hub.limits().pings_per_second, kPingBurst * hub.limits().pings_per_second),
        pace_(hub.limits().minimum_rate, hub.limits().rate_seconds),
        received_(hub.now()) {}

  void start(const HttpRequest& head) {
    peer_ = hub_.service->open_node(head, *this);
    deadline_ = hub_.now() + hub_.limits().handshake_seconds;
    if (peer_) {
      seat_.rise(peer_->standing());
      answer_ =
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: " +
          websocket_accept(head.header("sec-websocket-key")) + "\r\n\r\n";
    } else {
      hub_.metrics.refuse(Refusal::node_token);
      life_ = Life::closing;
      answer_ = "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    }
    write();
  }

  void send(ByteVector message) override {
    if (life_ >= Life::closing) return;
    set_waiting_bytes(waiting_bytes_ + message.size());
    const bool full = !out_.empty() && hub_.is_full();  // not this node's fault if it has read all
    if (full || static_cast<double>(waiting_bytes_) > hub_.limits().output_bytes) {
      hub_.metrics.refuse(full ? Refusal::output_bytes_of_all : Refusal::output_bytes);
      return close(CloseCode::try_later, "too many bytes wait for this node");
    }
    if (out_.empty()) progress_ = hub_.now();
    out_.push_back(std::move(message));
    write();
  }

  void close(CloseCode code, const std::string& reason) override {
    if (life_ < Life::closing)
      begin_close(websocket_close(static_cast<uint16_t>(code), clean_text(reason, kMostReason)));
  }

  const std::string& address() const override { return address_; }
  std::shared_ptr<Connection> self() override { return own(); }
  void drain() override { close(CloseCode::going_away, "the coordinator ends"); }
  void abort() override {
    if (std::exchange(life_, Life::gone) == Life::gone) return;
    if (timer_) timer_->cancel();
    ErrorCode ignored;
    beast::get_lowest_layer(stream_).close(ignored);
    seat_ = {};
    end_session_soon();
  }
  void finish() override {
    abort();
    peer_.reset();
  }

  void sweep(double now) override {
    if (deadline_ && now > *deadline_) return abort();
    if (life_ == Life::open) watch_wire(now);
    if (life_ == Life::open) watch_output(now);
    if (life_ == Life::open) peer_->tick(now);
    if (life_ != Life::open) return;
    seat_.rise(peer_->standing());
    if (pinged_ && now - *pinged_ > hub_.limits().pong_seconds) {
      hub_.metrics.refuse(Refusal::pong_time);
      return abort();
    }
    if (!pinged_ && ping_.empty() && now - received_ > hub_.limits().ping_seconds) {
      pinged_ = now;
      ping_ = websocket_control(WebSocketOpcode::ping, {});
      write();
    }
  }

  std::optional<double> input_rate()
      const override {  // after a complete message `pace_` is still of that message
    return input_bytes_ > 0 && !completed_ ? pace_.rate() : std::nullopt;
  }
  void give_way() override {
    hub_.metrics.refuse(Refusal::input_bytes_of_all);
    set_input_bytes(0);
    abort();
  }

 private:
  std::shared_ptr<NodeConnection> own() { return this->shared_from_this(); }

  void begin_close(std::string frame) {
    life_ = Life::closing;
    deadline_ = hub_.now() + kCloseSeconds;
    close_ = std::move(frame);
    if (timer_) timer_->cancel();
    end_session_soon();
    write();
  }

  /// Ends it later, as the session may be the caller.
  void end_session_soon() {
    asio::post(stream_.get_executor(), [self = own()] {
      self->peer_.reset();
      if (!self->is_reading_) self->discard();
    });
  }

  /// The system also counts the bytes of an incomplete TLS record.
  void watch_wire(double now) {
    const uint64_t raw =
        received_bytes(static_cast<int>(beast::get_lowest_layer(stream_).native_handle()));
    const bool between = std::exchange(controlled_, false) && reader_.message().empty();
    const bool whole = std::exchange(completed_, false) || between;
    if (whole || (raw == raw_ && !pace_.begun())) {
      pace_.end();
    } else if (!paused_ && !pace_.keeps(pace_.begun() ? raw : raw_, now)) {
      hub_.metrics.refuse(Refusal::slow);
      return abort();
    }
    raw_ = raw;
    if (!base_) base_ = raw;
    if (raw - *base_ > 3 * useful_ + (64 << 10)) {
      hub_.metrics.refuse(Refusal::fragments);
      close(CloseCode::policy, "too many fragments with too few bytes");
    }
  }

  void watch_output(double now) {
    const uint64_t acked =
        acknowledged_bytes(static_cast<int>(beast::get_lowest_layer(stream_).native_handle()));
    if (out_.empty() || std::exchange(acked_, acked) != acked) progress_ = now;
    if (now - progress_ <= hub_.limits().rate_seconds) return;
    hub_.metrics.refuse(Refusal::slow);
    abort();
  }

  void read() {
    is_reading_ = true;
    const auto room = reader_.room();
    stream_.async_read_some(asio::buffer(room.data(), room.size()),
                            [self = own()](ErrorCode error, size_t count) {
                              self->guarded([&] { self->on_read(error, count); });
                            });
  }

  void on_read(ErrorCode error, size_t count) {
    is_reading_ = false;
    has_ended_ = static_cast<bool>(error);
    if (life_ == Life::closing) return discard();  // the peer may still read
    if (error) return abort();
    if (life_ != Life::open) return discard();
    reader_.commit(count);
    look_at_input();
  }

  /// Discards the input that is here and the input that follows.
  void discard() {
    reader_ = {};
    set_input_bytes(0);
    if (life_ != Life::gone && !has_ended_) read();
  }

  void look_at_input() {
    try {
      while (life_ == Life::open && !paused_) {
        switch (reader_.next(most_bytes())) {
          case WebSocketReader::Event::more:
            return read();
          case WebSocketReader::Event::control:
            on_control();
            break;
          case WebSocketReader::Event::data:
            on_data();
            break;
          case WebSocketReader::Event::too_big:
            refuse_payload();
            close(CloseCode::too_big, "expected a smaller message");
        }
      }
    } catch (const ParseError& problem) {
      hub_.metrics.refuse(Refusal::websocket);
      close(CloseCode::protocol, problem.what());
    }
    if (life_ == Life::open) wait();
  }

  uint64_t most_bytes() const {
    return kFrameHeaderBytes + kMaxControlBytes + peer_->largest_payload() + kHeadRoom;
  }

  void on_control() {
    controlled_ = true;
    received_ = hub_.now();
    pinged_.reset();
    useful_ += kControlFrame;
    if (reader_.opcode() == WebSocketOpcode::close) {
      const WebSocketClose asked = read_websocket_close(reader_.control());
      out_.resize(is_message_ ? 1 : 0);  // the peer reads no further messages
      set_waiting_bytes(out_.empty() ? 0 : out_.front().size());
      return begin_close(websocket_close(asked.code, {}));
    }
    if (!pings_.take(received_)) {
      hub_.metrics.refuse(Refusal::ping_rate);
      return close(CloseCode::policy, "too many pings and pongs");
    }
    share_pings();
    if (reader_.opcode() != WebSocketOpcode::ping) return;
    pong_ = websocket_control(WebSocketOpcode::pong, as_text(reader_.control()));
    write();
  }

  /// Nodes without a token share a rate. Above it the next input of the node waits its turn.
  void share_pings() {
    if (peer_->standing() == Standing::trusted) return;
    const double turn = hub_.pings.owe(received_);
    if (turn == 0) return;
    hub_.metrics.refuse(Refusal::ping_rate_of_all);
    paused_ = true;
    resume_ = received_ + std::min(turn, hub_.limits().pong_seconds / 2);
  }

  void on_data() {
    const ByteView message = reader_.message();
    useful_ += reader_.grown();
    received_ = hub_.now();
    const bool has_some = peer_->spend(reader_.grown());
    if (message.size() == reader_.grown()) is_over_ = !has_some;
    if (is_over_ && message.size() > kSmallMessage) {
      hub_.metrics.refuse(Refusal::byte_rate);
      return close(CloseCode::try_later, "too many bytes for its tickets");
    }
    if (reader_.is_text()) {
      hub_.metrics.refuse(Refusal::text_message);
      return close(CloseCode::text, "expected binary messages");
    }
    try {
      if (!header_ && message.size() >= kFrameHeaderBytes) {
        header_ = decode_frame_header(message);
        if (header_->payload_bytes > peer_->payload_limit(*header_)) {
          refuse_payload();
          return close(CloseCode::too_big, "expected a smaller payload");
        }
      }
      reader_.is_whole() ? take(message) : keep(message);
    } catch (const ParseError& problem) {
      hub_.metrics.refuse(Refusal::frame);
      Json why = Json::object();
      send(encode_frame(
          {FrameType::error, 0, why.set("error", clean_text(problem.what(), kMostProblem))}));
      close(CloseCode::protocol, problem.what());
    } catch (const std::exception& problem) {
      failed(problem);
      close(CloseCode::internal, "the coordinator has an internal error; see its log");
    }
  }

  void refuse_payload() {
    hub_.metrics.refuse(Refusal::frame_bytes);
    peer_->oversized(header_ ? &*header_ : nullptr);
  }

  /// Keeps the first bytes of an incomplete message.
  void keep(ByteView message) {
    if (header_ && !admitted_ &&
        message.size() >= kFrameHeaderBytes + uint64_t{header_->control_bytes}) {
      admitted_ = header_->payload_bytes <= peer_->payload_limit(decode_frame_head(message));
      if (!admitted_) {
        refuse_payload();
        return close(CloseCode::too_big, "expected a smaller payload, or the ticket's token");
      }
    }
    set_input_bytes(message.size());
    while (hub_.holds_enough()) {
      Connection* const slowest = hub_.slowest();
      if (!slowest || slowest == this) {
        hub_.metrics.refuse(Refusal::input_bytes_of_all);
        return close(CloseCode::try_later, "all nodes together send too many bytes");
      }
      slowest->give_way();
    }
  }

  void take(ByteView message) {
    completed_ = true;
    useful_ += kFrameHeaderBytes;
    header_.reset();
    admitted_ = false;
    set_input_bytes(0);
    seat_.touch();
    hub_.metrics.add(Counter::messages_received);
    hub_.metrics.add(Counter::bytes_received, message.size());
    const Frame frame = decode_frame(message);
    if (frame.type == FrameType::echo) share_pings();
    peer_->receive(frame, message);
    reader_.clear();
    if (!messages_.take(received_)) {
      hub_.metrics.refuse(Refusal::message_rate);
      paused_ = true;
    }
  }

  /// Stops reading for a moment. TCP then slows the peer down.
  void wait() {
    timer_.emplace(stream_.get_executor());
    const double now = hub_.now(),
                 seconds = std::max(messages_.wait(now), resume_.value_or(now) - now);
    timer_->expires_after(std::chrono::microseconds(1 + static_cast<int64_t>(1e6 * seconds)));
    timer_->async_wait([self = own()](ErrorCode) {
      self->timer_.reset();
      self->paused_ = false;
      if (self->life_ != Life::open) return;
      if (!std::exchange(self->resume_, std::nullopt)) self->messages_.take(self->hub_.now());
      self->guarded([&] { self->look_at_input(); });
    });
  }

  /// Writes one item at a time. Control frames go between messages, and the close frame is last.
  void write() {
    if (is_writing_ || life_ >= Life::ending) return;
    std::string* const next = next_control();
    is_message_ = !next && !out_.empty();
    if (!next && !is_message_) return life_ == Life::closing ? end_output() : void();
    is_writing_ = true;
    head_ = next ? std::exchange(*next, {})
                 : websocket_header(WebSocketOpcode::binary, out_.front().size());
    const std::array<asio::const_buffer, 2> bytes = {
        asio::buffer(head_), is_message_ ? asio::buffer(out_.front()) : asio::const_buffer()};
    asio::async_write(stream_, bytes, [self = own()](ErrorCode error, size_t) {
      self->guarded([&] { self->on_written(error); });
    });
  }

  std::string* next_control() {
    if (!answer_.empty()) return &answer_;
    const bool is_open = life_ < Life::closing;
    if (is_open && !pong_.empty()) return &pong_;
    if (is_open && !ping_.empty()) return &ping_;
    return out_.empty() && !close_.empty() ? &close_ : nullptr;
  }

  void on_written(ErrorCode error) {
    is_writing_ = false;
    if (error) return abort();
    if (std::exchange(is_message_, false)) {
      hub_.metrics.add(Counter::messages_sent);
      hub_.metrics.add(Counter::bytes_sent, out_.front().size());
      set_waiting_bytes(waiting_bytes_ - out_.front().size());
      out_.pop_front();
    }
    if (life_ == Life::opening) {
      life_ = Life::open;
      deadline_.reset();
      read();
    }
    write();
  }

  void end_output() {
    life_ = Life::ending;
    if constexpr (kHasTls<Stream>)
      stream_.async_shutdown([self = own()](ErrorCode) { self->shut(); });
    else
      shut();
  }

  void shut() {
    if (has_ended_) return abort();
    if (life_ == Life::gone) return;
    ErrorCode ignored;
    beast::get_lowest_layer(stream_).shutdown(tcp::socket::shutdown_send, ignored);
    if (!is_reading_) discard();
  }

  Stream stream_;
  Life life_ = Life::opening;
  WebSocketReader reader_;
  std::optional<FrameHeader> header_;
  std::deque<ByteVector> out_;
  std::string answer_, pong_, ping_, close_;  // waiting for write()
  std::string head_;                          // the header that is being written
  std::optional<asio::steady_timer> timer_;
  TokenBucket messages_, pings_;
  LeastRate pace_;
  uint64_t raw_ = 0, useful_ = 0, acked_ = 0;
  std::optional<uint64_t> base_;  // raw_ at the first look
  std::optional<double> deadline_, pinged_;
  double received_, progress_ = 0;
  std::optional<double> resume_;  // when a node that paused for share_pings() continues
  bool is_reading_ = false, is_writing_ = false, is_message_ = false;
  bool has_ended_ = false;  // the peer closed its side
  bool paused_ = false, completed_ = true, controlled_ = false;
  bool is_over_ = false;   // the node's byte budget was spent before the current message
  bool admitted_ = false;  // the current message was admitted by its control part
  std::unique_ptr<NodePeer> peer_;
};

}  // namespace

template <class Stream>
void serve_node(Hub& hub, Gate::Seat seat, std::string address, Stream stream,
                const HttpRequest& head) {
  std::make_shared<NodeConnection<Stream>>(hub, std::move(seat), std::move(address),
                                           std::move(stream))
      ->start(head);
}
template void serve_node(Hub&, Gate::Seat, std::string, PlainStream, const HttpRequest&);
template void serve_node(Hub&, Gate::Seat, std::string, TlsStream, const HttpRequest&);

}  // namespace kaiseki::dist
