// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "dist/train/samples.h"
#include "dist/train/training_node.h"
#include "matrix/error.h"
#include "nn/data/dataset.h"
#include "nn/io/sha256.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/conv_policy.h"

namespace kaiseki::dist {
namespace {

const ConvPolicy kSame = {.mode = TuneMode::off, .deterministic = true};

struct Blobs {
  std::map<std::string, ByteVector> all;
  int asked = 0;
  std::string add(ByteVector bytes) {
    std::string hash = nn::sha256(bytes);
    all[hash] = std::move(bytes);
    return hash;
  }
  TrainingNode::Getter getter() {
    return [this](const std::string& hash) { return ++asked, all.at(hash); };
  }
};

ByteVector weights_of(nn::Network& network) {
  std::vector<WireTensor> tensors;
  for (nn::Parameter& one : network.parameters()) tensors.push_back({one.name, one.value});
  for (nn::State& one : network.states()) tensors.push_back({one.name, one.value});
  return encode_tensors(tensors);
}

struct Work1 {
  Blobs blobs;
  nn::Network network = nn::Network::parse(kSmall, "test", Device::cpu());
  nn::Batch batch;
  Ticket ticket;

  Work1() {
    network.initialize(3);
    const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5};
    batch = nn::read_batch(*small_digits(10), indices);
    const std::string json = network.json();
    const ByteView text = nn::as_bytes(json);
    ticket.network = blobs.add({text.begin(), text.end()});
    ticket.weights = blobs.add(weights_of(network));
    ticket.samples = blobs.add(pack_samples(batch.images, {}));
    ticket.seed = 3;
    ticket.position = 17;
    ticket.gradients = static_cast<int64_t>(network.parameters().size());
    ticket.output = true;
    ticket.labels = batch.labels;
  }
};

}  // namespace

TEST_CASE("a ticket says all that a node needs, and comes back as it was") {
  Work1 work;
  const Ticket found = decode_ticket(encode_ticket(work.ticket));
  CHECK(found.network == work.ticket.network);
  CHECK(found.seed == 3);
  CHECK(found.position == 17);
  CHECK(found.output);
  CHECK(found.labels.to_vector<int32_t>() == work.batch.labels.to_vector<int32_t>());
}

TEST_CASE("a node's gradients are those of the network, dropout included") {
  test::WithConvPolicy policy(kSame);
  Work1 work;
  TrainingNode node(Device::cpu());
  const TensorMessage result =
      decode_tensors(node.run(encode_ticket(work.ticket), work.blobs.getter()));
  CHECK(work.blobs.asked == 3);
  work.network.set_random_position(17);
  work.network.zero_grad();
  const auto loss = work.network.forward_loss(work.batch.images, work.batch.labels);
  work.network.backward();
  REQUIRE(result.tensors.size() == 2 + work.network.parameters().size());
  CHECK(result.tensors[0].value.item() == loss.loss.item());
  CHECK(result.tensors[1].value.to_vector() == loss.output.to_vector());
  for (size_t i = 0; i < work.network.parameters().size(); ++i) {
    CHECK(result.tensors[2 + i].name == work.network.parameters()[i].name);
    CHECK(result.tensors[2 + i].value.to_vector() == work.network.parameters()[i].grad.to_vector());
  }
}

TEST_CASE("two halves of a batch draw the dropout of the whole") {
  test::WithConvPolicy policy(kSame);
  Work1 work;
  work.network.set_random_position(5);
  const std::vector<float> whole =
      work.network.forward(work.batch.images, nn::Phase::train).to_vector();
  std::vector<float> halves;
  for (int64_t first : {0, 2}) {
    work.network.set_random_position(5);
    work.network.set_first_sample(first);
    const Tensor part = work.batch.images.slice(0, first, first ? 4 : 2).contiguous();
    for (float value : work.network.forward(part, nn::Phase::train).to_vector())
      halves.push_back(value);
  }
  REQUIRE(halves.size() == whole.size());
  double worst = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(whole[i]) - halves[i]));
  CHECK(worst < 1e-6);
}

TEST_CASE(
    "blobs are fetched once, checked against their hash, and dropped when there are too many") {
  Work1 work;
  TrainingNode node(Device::cpu(), 5000);
  const ByteVector ticket = encode_ticket(work.ticket);
  CHECK(node.missing(ticket).size() == 3);
  CHECK_THROWS_WITH_AS(node.run(ticket), doctest::Contains("expected the blob"), Error);
  node.run(ticket, work.blobs.getter());
  CHECK(node.missing(ticket).empty());
  CHECK_THROWS_WITH_AS(node.add_blob(work.ticket.weights, ByteVector(3)),
                       doctest::Contains("SHA-256"), Error);
  for (int i = 0; i < 20; ++i) {
    ByteVector other(1000, static_cast<std::byte>(i));
    node.add_blob(nn::sha256(other), other);
  }
  CHECK(node.missing(ticket) == std::vector<std::string>{work.ticket.samples});
}

TEST_CASE("a forward pass is kept for its backward pass, or done again elsewhere: the same bits") {
  test::WithConvPolicy policy(kSame);
  Work1 work;
  const NetworkSplit split = split_network(work.network.json());
  nn::Network head = nn::Network::parse(split.head, "head", Device::cpu());
  share_tensors(work.network, head);
  const ByteView text = nn::as_bytes(split.head);
  Ticket forward = work.ticket;
  forward.work = Work::forward;
  forward.network = work.blobs.add({text.begin(), text.end()});
  forward.weights = work.blobs.add(weights_of(head));
  forward.gradients = 0;
  forward.labels = {};
  TrainingNode one(Device::cpu()), two(Device::cpu());
  const Tensor output =
      decode_tensors(one.run(encode_ticket(forward), work.blobs.getter())).tensors[0].value;
  CHECK(output.shape() == Shape{6, 8, 4, 4});
  Ticket backward = forward;
  backward.work = Work::backward;
  backward.output = false;
  backward.gradients = static_cast<int64_t>(head.parameters().size());
  backward.grad_output = output;
  const ByteVector kept = one.run(encode_ticket(backward), work.blobs.getter());
  CHECK(two.run(encode_ticket(backward), work.blobs.getter()) == kept);
  CHECK(one.run(encode_ticket(backward), work.blobs.getter()) == kept);
}

TEST_CASE("tickets and blobs that do not fit are errors that name what is wrong") {
  Work1 work;
  TrainingNode node(Device::cpu());
  auto run = [&](const Ticket& ticket) { node.run(encode_ticket(ticket), work.blobs.getter()); };
  Ticket many = work.ticket;
  many.gradients = 100;
  CHECK_THROWS_WITH_AS(run(many), doctest::Contains("gradients at most, got 100"), Error);
  Ticket none = work.ticket;
  none.weights = work.blobs.add(encode_tensors({}));
  CHECK_THROWS_WITH_AS(run(none), doctest::Contains("expected weights conv1.weight"), Error);
  Ticket labels = work.ticket;
  labels.labels = labels.labels.slice(0, 0, 2).contiguous();
  CHECK_THROWS_AS(run(labels), Error);
  Ticket samples = work.ticket;
  samples.samples = samples.weights;
  CHECK_THROWS_WITH_AS(run(samples), doctest::Contains("expected bytes or floats of samples"),
                       Error);
  CHECK_THROWS_AS(node.run(work.blobs.all[work.ticket.weights]), ParseError);
  Ticket negative = work.ticket;
  negative.first = -1;
  CHECK_THROWS_AS(run(negative), ParseError);
  run(work.ticket);
}

}  // namespace kaiseki::dist
