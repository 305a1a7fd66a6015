// SPDX-License-Identifier: MIT
// How PoolUpdater makes tickets of a minibatch, and what it wants for them.
#include <algorithm>
#include <map>

#include "dist/train/pool_updater.h"
#include "matrix/ops/copy.h"

namespace kaiseki::dist {
namespace {

using nn::Network;

constexpr uint64_t kHeaderRoom = 128;  // for what a message says of a tensor beside its name

Shape with_batch(int64_t n, const Shape& sample) {
  Shape shape = {n};
  for (int64_t dim : sample) shape.push_back(dim);
  return shape;
}

Tensor rows(const Tensor& of, int64_t first, int64_t count) {
  return of.slice(0, first, count).contiguous();
}

}  // namespace

void PoolUpdater::put_weights(Cut& cut) {
  std::map<std::string, Tensor> values;
  for (const nn::Parameter& parameter : network().parameters())
    values[parameter.name] = parameter.value;
  const WireType type = options_.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  std::vector<WireTensor> tensors;
  for (const std::string& name : order_) tensors.push_back({name, values[name], type});
  Network& of = mode_ == PoolMode::border ? *head_ : network();
  for (const nn::State& state : of.states()) tensors.push_back({state.name, state.value});
  cut.weights = gather_.put(BlobKind::weights, encode_tensors(tensors));
}

/// In the mode paper the server computes with the same pictures as nodes: `images`, a view of the
/// minibatch, become what arrives.
std::string PoolUpdater::put_samples(Tensor images) {
  const bool jpeg = options_.wire != WireType::f32;
  ByteVector blob = pack_samples(images.contiguous(), options_.samples, jpeg);
  const auto bytes = static_cast<int64_t>(blob.size());
  sample_bytes_ = bytes / images.dim(0);
  const bool lost = bytes < images.size();  // less than a byte for a value: JPEG
  if (lost && mode_ == PoolMode::paper) copy(unpack_samples(blob), images);
  return gather_.put(BlobKind::samples, std::move(blob));
}

PoolUpdater::Cut PoolUpdater::cut() {
  Cut cut;
  cut.batch = next_batch();
  put_weights(cut);
  const int64_t samples = cut.batch.images.dim(0), each = ticket_samples();
  for (int64_t first = 0; first < samples; first += each) {
    cut.first.push_back(first);
    cut.count.push_back(std::min(each, samples - first));
    cut.samples.push_back(put_samples(cut.batch.images.slice(0, first, cut.count.back())));
  }
  cut.ticket.network = network_hash_;
  cut.ticket.weights = cut.weights;
  cut.ticket.seed = network().seed();
  cut.ticket.position = network().random_position();
  cut.ticket.activation_type = options_.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  cut.ticket.gradient_type = options_.wire;
  return cut;
}

Piece PoolUpdater::piece(const Ticket& ticket, int64_t samples,
                         std::vector<Piece::Wanted> wanted) const {
  static constexpr int kPasses[] = {3, 1, 2};  // of Work
  Piece piece{encode_ticket(ticket), std::move(wanted)};
  piece.work = static_cast<double>(samples * kPasses[static_cast<size_t>(ticket.work)]);
  piece.max_bytes = 2 * kHeaderRoom;
  for (const Piece::Wanted& one : piece.wanted)
    piece.max_bytes += wire_bytes(one.shape.elements(), one.type) + one.name.size() + kHeaderRoom;
  return piece;
}

std::vector<Piece::Wanted> PoolUpdater::wanted_gradients() {
  std::map<std::string, Shape> shapes;
  for (const nn::Parameter& parameter : network().parameters())
    shapes[parameter.name] = parameter.value.shape();
  std::vector<Piece::Wanted> wanted;
  for (size_t i = 0; i < gradients_; ++i)
    wanted.push_back({order_[i], shapes[order_[i]], true, options_.wire});
  return wanted;
}

Ticket PoolUpdater::Cut::part(size_t i, Work work) const {
  Ticket one = ticket;
  one.work = work;
  one.samples = samples[i];
  one.first = first[i];
  return one;
}

void PoolUpdater::add_wanted_states(std::vector<Piece::Wanted>& wanted) {
  Network& of = mode_ == PoolMode::border ? *head_ : network();
  for (const nn::State& state : of.states()) wanted.push_back({state.name, state.value.shape()});
}

/// data: of everything. paper: Algorithm 2 of the MILJS paper.
std::vector<Piece> PoolUpdater::gradient_pieces(const Cut& cut) {
  const bool data = mode_ == PoolMode::data;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < cut.first.size(); ++i) {
    Ticket ticket = cut.part(i, Work::gradients);
    ticket.gradients = static_cast<int64_t>(gradients_);
    ticket.output = data;
    ticket.labels = rows(cut.batch.labels, cut.first[i], cut.count[i]);
    std::vector<Piece::Wanted> wanted;
    if (data) {
      wanted.push_back({"loss", {1}});
      wanted.push_back({"output", with_batch(cut.count[i], network().output_shape()), false,
                        ticket.activation_type});
    }
    for (Piece::Wanted& one : wanted_gradients()) wanted.push_back(std::move(one));
    if (data) add_wanted_states(wanted);
    pieces.push_back(piece(ticket, cut.count[i], std::move(wanted)));
  }
  return pieces;
}

std::vector<Piece> PoolUpdater::forward_pieces(const Cut& cut) {
  std::vector<Piece> pieces;
  const Shape border = head_->output_shape();
  for (size_t i = 0; i < cut.first.size(); ++i) {
    Ticket ticket = cut.part(i, Work::forward);
    ticket.output = true;
    std::vector<Piece::Wanted> wanted = {
        {"output", with_batch(cut.count[i], border), false, ticket.activation_type}};
    add_wanted_states(wanted);
    pieces.push_back(piece(ticket, cut.count[i], std::move(wanted)));
  }
  return pieces;
}

std::vector<Piece> PoolUpdater::backward_pieces(const Cut& cut, const std::vector<Piece>& forward,
                                                const Tensor& gradient) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < cut.first.size(); ++i) {
    Ticket ticket = cut.part(i, Work::backward);
    ticket.gradients = static_cast<int64_t>(gradients_);
    ticket.grad_output = rows(gradient, cut.first[i], cut.count[i]);
    pieces.push_back(piece(ticket, cut.count[i], wanted_gradients()));
    pieces.back().prefer = forward[i].node;
  }
  return pieces;
}

}  // namespace kaiseki::dist
