// SPDX-License-Identifier: MIT
#include "dist/train/ticket.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kWorks[] = {"gradients", "forward", "backward"};
constexpr std::string_view kNeeds[] = {"the work gradients needs labels",
                                       "the work forward takes no labels",
                                       "the work backward needs grad_output as f32, and no labels"};
constexpr std::string_view kTypes[] = {"f32", "f16", "i8"};

const std::string& find(const Metadata& texts, const std::string& key) {
  const auto at = texts.find(key);
  if (at == texts.end()) throw ParseError("ticket", key, "expected a text, got none");
  return at->second;
}

template <typename T>
T number(const Metadata& texts, const std::string& key) {
  const std::string& text = find(texts, key);
  const std::optional<T> value = parse_number<T>(text);
  if (!value)
    throw ParseError("ticket", key, "expected a number, got '" + text.substr(0, 32) + "'");
  return *value;
}

template <size_t N>
size_t choice(const Metadata& texts, const std::string& key, const std::string_view (&names)[N]) {
  const std::string& text = find(texts, key);
  const auto at = std::find(std::begin(names), std::end(names), text);
  if (at == std::end(names))
    throw ParseError("ticket", key, "expected a known word, got '" + text.substr(0, 32) + "'");
  return static_cast<size_t>(at - std::begin(names));
}

std::string hash(const Metadata& texts, const std::string& key) {
  const std::string& text = find(texts, key);
  if (!is_sha256(text))
    throw ParseError("ticket", key,
                     "expected 64 hexadecimal digits, got '" + text.substr(0, 64) + "'");
  return text;
}

}  // namespace

ByteVector encode_ticket(const TrainingTicket& ticket) {
  Metadata texts = {
      {"work", std::string(kWorks[static_cast<size_t>(ticket.work)])},
      {"network", ticket.network},
      {"weights", ticket.weights},
      {"samples", ticket.samples},
      {"seed", std::to_string(ticket.seed)},
      {"position", std::to_string(ticket.position)},
      {"first", std::to_string(ticket.first)},
      {"gradients", std::to_string(ticket.gradients)},
      {"output", ticket.output ? "1" : "0"},
      {"activation_type", std::string(kTypes[static_cast<size_t>(ticket.activation_type)])},
      {"gradient_type", std::string(kTypes[static_cast<size_t>(ticket.gradient_type)])}};
  if (!ticket.delta.empty()) {
    texts["base"] = ticket.base;
    texts["delta"] = ticket.delta;
  }
  std::vector<WireTensor> tensors;
  if (ticket.labels.defined())
    tensors.push_back({"labels", ticket.labels,
                       ticket.labels.dtype() == DType::i32 ? WireType::i32 : WireType::f32});
  if (ticket.grad_output.defined())
    tensors.push_back({"grad_output", ticket.grad_output, ticket.activation_type});
  return encode_tensors(tensors, texts);
}

TrainingTicket decode_ticket(ByteView bytes) {
  const TensorMessage message = decode_tensors(bytes, "ticket");
  const Metadata& texts = message.texts;
  TrainingTicket ticket;
  ticket.work = static_cast<Work>(choice(texts, "work", kWorks));
  ticket.network = hash(texts, "network");
  ticket.weights = hash(texts, "weights");
  ticket.samples = hash(texts, "samples");
  if (texts.contains("delta")) {
    ticket.base = hash(texts, "base");
    ticket.delta = hash(texts, "delta");
  }
  ticket.seed = number<uint64_t>(texts, "seed");
  ticket.position = number<uint64_t>(texts, "position");
  ticket.first = number<int64_t>(texts, "first");
  ticket.gradients = number<int64_t>(texts, "gradients");
  ticket.output = find(texts, "output") == "1";
  ticket.activation_type = static_cast<WireType>(choice(texts, "activation_type", kTypes));
  ticket.gradient_type = static_cast<WireType>(choice(texts, "gradient_type", kTypes));
  for (const auto& [name, value] : message.tensors) {
    if (name == "labels") ticket.labels = value;
    if (name == "grad_output") ticket.grad_output = value;
  }
  if (ticket.first < 0 || ticket.first > int64_t{1} << 31 || ticket.gradients < 0)
    throw ParseError("ticket", "first",
                     "expected first from 0 to 2^31 and gradients of 0 or more, got " +
                         std::to_string(ticket.first) + " and " + std::to_string(ticket.gradients));
  if (ticket.labels.defined() != (ticket.work == Work::gradients) ||
      (ticket.work == Work::backward &&
       (!ticket.grad_output.defined() || ticket.grad_output.dtype() != DType::f32)))
    throw ParseError("ticket", "tensors", kNeeds[static_cast<size_t>(ticket.work)]);
  return ticket;
}

}  // namespace kaiseki::dist
