// SPDX-License-Identifier: MIT
#include "dist/net/websocket.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/base64.h"
#include "base/error.h"
#include "base/utf8.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMaskBytes = 4;
constexpr uint64_t kMostControl = 125;
constexpr size_t kFirstPiece = 4 << 10, kMostPiece = 64 << 10;  // bytes of a message in one read
constexpr size_t kKeptBytes = 4 << 10;                          // buffer of an idle connection
constexpr std::string_view kAcceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

[[noreturn]] void violation(const char* what) { throw ParseError("websocket", "frame", what); }

uint64_t big_endian(ByteView bytes) {
  uint64_t value = 0;
  for (std::byte one : bytes) value = value << 8 | std::to_integer<uint64_t>(one);
  return value;
}

void check_first_byte(unsigned first, bool in_message) {
  const unsigned opcode = first & 15;
  if (first & 0x70) violation("expected no reserved bit");
  if ((opcode > 2 && opcode < 8) || opcode > 10) violation("expected a known opcode");
  if (opcode >= 8 && !(first & 0x80)) violation("expected a whole control frame");
  if (opcode == 0 && !in_message) violation("expected a message before its continuation");
  if ((opcode == 1 || opcode == 2) && in_message)
    violation("a message began before the last one had ended");
}

void check_length(const WebSocketHeader& header, size_t length_bytes) {
  const uint64_t least = length_bytes == 0 ? 0 : length_bytes == 2 ? 126 : 65536;
  if (header.payload_bytes < least || header.payload_bytes >> 63)
    violation("expected the shortest form of a length");
  if (header.is_control() && header.payload_bytes > kMostControl)
    violation("expected at most 125 bytes in a control frame");
}

bool may_be_sent(uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace

std::optional<WebSocketHeader> read_websocket_header(ByteView bytes, bool in_message) {
  if (bytes.size() < 2) return {};
  const auto first = std::to_integer<unsigned>(bytes[0]);
  const auto second = std::to_integer<unsigned>(bytes[1]);
  check_first_byte(first, in_message);
  if (!(second & 0x80)) violation("expected a mask");
  const unsigned length = second & 0x7f;
  const size_t length_bytes = length == 127 ? 8 : length == 126 ? 2 : 0;
  WebSocketHeader header;
  header.header_bytes = 2 + length_bytes + kMaskBytes;
  if (bytes.size() < header.header_bytes) return {};
  header.opcode = static_cast<WebSocketOpcode>(first & 15);
  header.is_last = first & 0x80;
  header.payload_bytes = length_bytes == 0 ? length : big_endian(bytes.subspan(2, length_bytes));
  check_length(header, length_bytes);
  std::ranges::copy(bytes.subspan(2 + length_bytes, kMaskBytes), header.mask.begin());
  return header;
}

WebSocketClose read_websocket_close(ByteView payload) {
  if (payload.empty()) return {};
  if (payload.size() < 2) violation("expected a close code of two bytes");
  WebSocketClose close{.code = static_cast<uint16_t>(big_endian(payload.first(2))),
                       .reason = std::string(as_text(payload.subspan(2)))};
  if (!may_be_sent(close.code)) violation("expected a close code that a peer may send");
  if (!is_utf8(close.reason)) violation("expected a close reason in UTF-8");
  return close;
}

std::string websocket_header(WebSocketOpcode opcode, uint64_t payload_bytes) {
  std::string out(1, static_cast<char>(0x80 | static_cast<unsigned>(opcode)));
  const int length_bytes = payload_bytes < 126 ? 0 : payload_bytes < 65536 ? 2 : 8;
  out += static_cast<char>(length_bytes == 0 ? payload_bytes : length_bytes == 2 ? 126 : 127);
  for (int i = length_bytes - 1; i >= 0; --i) out += static_cast<char>(payload_bytes >> 8 * i);
  return out;
}

std::string websocket_control(WebSocketOpcode opcode, std::string_view payload) {
  payload = payload.substr(0, kMostControl);
  return websocket_header(opcode, payload.size()).append(payload);
}

std::string websocket_close(uint16_t code, std::string_view reason) {
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code)};
  return websocket_control(WebSocketOpcode::close, payload.append(reason));
}

std::string websocket_accept(std::string_view key) {
  const std::string text = std::string(key).append(kAcceptSuffix);
  std::array<std::byte, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(digest.data()));
  return encode_base64(digest);
}

std::span<std::byte> WebSocketReader::room() {
  is_direct_ = header_ && !header_->is_control() && left_ >= kBuffer && begin_ == end_;
  if (is_direct_) {
    const size_t piece = std::min<uint64_t>(left_, std::clamp(size_, kFirstPiece, kMostPiece));
    if (message_.size() < size_ + piece) message_.resize(size_ + piece);
    return {message_.data() + size_, piece};
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  return std::span(buffer_).subspan(end_);
}

void WebSocketReader::commit(size_t count) { (is_direct_ ? direct_ : end_) += count; }

WebSocketReader::Event WebSocketReader::next(uint64_t most) {
  for (;;) {
    if (!header_) {
      if (!begin_frame()) return Event::more;
      if (!header_->is_control() && (left_ > most || size_ > most - left_)) return Event::too_big;
    }
    if (header_->is_control()) return take_control() ? Event::control : Event::more;
    grown_ = take_data();
    if (left_ == 0) {
      is_whole_ = header_->is_last;
      header_.reset();
    }
    if (grown_ > 0 || is_whole_) return Event::data;
    if (header_) return Event::more;
  }
}

bool WebSocketReader::begin_frame() {
  header_ = read_websocket_header(pending(), in_message_);
  if (!header_) return false;
  begin_ += header_->header_bytes;
  left_ = header_->payload_bytes;
  opcode_ = header_->opcode;
  if (header_->is_control()) return true;
  if (!in_message_) is_text_ = header_->opcode == WebSocketOpcode::text;
  in_message_ = !header_->is_last;
  return true;
}

bool WebSocketReader::take_control() {
  if (pending().size() < left_) return false;
  const std::span payload(buffer_.data() + begin_, static_cast<size_t>(left_));
  unmask(payload);
  control_ = payload;
  begin_ += payload.size();
  header_.reset();
  return true;
}

size_t WebSocketReader::take_data() {
  size_t count = std::exchange(direct_, 0);
  if (count == 0) {
    count = std::min<uint64_t>(left_, end_ - begin_);
    if (message_.size() < size_ + count) message_.resize(size_ + count);
    std::copy_n(buffer_.data() + begin_, count, message_.data() + size_);
    begin_ += count;
  }
  unmask({message_.data() + size_, count});
  size_ += count;
  left_ -= count;
  return count;
}

/// `bytes` follow the unmasked part of the payload. Rotates the mask for the bytes after them.
void WebSocketReader::unmask(std::span<std::byte> bytes) {
  auto& mask = header_->mask;
  std::array<std::byte, 8> twice;
  std::ranges::copy(mask, twice.begin());
  std::ranges::copy(mask, twice.begin() + kMaskBytes);
  uint64_t wide = 0, some = 0;
  std::memcpy(&wide, twice.data(), sizeof wide);
  if (wide == 0) return;
  size_t i = 0;
  for (; i + sizeof some <= bytes.size(); i += sizeof some) {
    std::memcpy(&some, bytes.data() + i, sizeof some);
    some ^= wide;
    std::memcpy(bytes.data() + i, &some, sizeof some);
  }
  for (; i < bytes.size(); ++i) bytes[i] ^= twice[i % kMaskBytes];
  std::rotate(mask.begin(), mask.begin() + static_cast<ptrdiff_t>(bytes.size() % kMaskBytes),
              mask.end());
}

void WebSocketReader::clear() {
  size_ = 0;
  is_whole_ = false;
  if (message_.size() > kKeptBytes) message_ = {};
}

}  // namespace kaiseki::dist
