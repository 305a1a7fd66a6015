// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "dist/train/samples.h"
#include "dist/train/training_node.h"
#include "dist/wire/delta.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/elementwise.h"
#include "nn/data/dataset.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/read_batch.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};

struct Blobs {
  std::map<std::string, ByteVector> all;
  int asked = 0;
  std::string add(ByteVector bytes) {
    std::string hash = sha256(bytes);
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

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Work1 {
  Blobs blobs;
  nn::Network network = nn::Network::parse(kSmall, "test", Device::cpu());
  nn::Batch batch;
  TrainingTicket ticket;

  Work1() {
    network.initialize(3);
    const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5};
    batch = test::read_batch(*small_digits(10), indices);
    const std::string json = network.json();
    const ByteView text = as_bytes(json);
    ticket.network = blobs.add({text.begin(), text.end()});
    ticket.weights = blobs.add(weights_of(network));
    ticket.samples = blobs.add(pack_samples({batch.images, {}}));
    ticket.seed = 3;
    ticket.position = 17;
    ticket.gradients = static_cast<int64_t>(network.parameters().size());
    ticket.output = true;
    ticket.labels = batch.labels;
  }
};

}  // namespace

TEST_CASE("a node refuses a network that would take minutes for a sample") {
  Work1 work;
  const auto refuses = [&](const std::string& shape, const std::string& layers) {
    const std::string json =
        R"({"inputs": {"x": {"shape": )" + shape + R"(}}, "layers": [)" + layers + "]}";
    const ByteView text = as_bytes(json);
    work.ticket.network = work.blobs.add({text.begin(), text.end()});
    TrainingNode node(Device::cpu());
    CHECK_THROWS_WITH_AS(node.run(encode_ticket(work.ticket), work.blobs.getter()),
                         doctest::Contains("at most 1e+12 operations for a sample, got "), Error);
  };
  // 1001 x 1001 windows that read up to 1000 x 1000 values.
  for (const std::string type : {"average_pooling", "max_pooling"})
    refuses("[2, 1000, 1000]",
            R"({"type": ")" + type + R"(", "kernel_size": 1000, "stride": 1, "padding": 500})");
  // 5e7 elements that each read 5000 channels.
  refuses("[5000, 100, 100]", R"({"type": "local_response_normalization", "size": 10001})");
}

TEST_CASE("a ticket survives a round trip") {
  Work1 work;
  const TrainingTicket found = decode_ticket(encode_ticket(work.ticket));
  CHECK(found.network == work.ticket.network);
  CHECK(found.seed == 3);
  CHECK(found.position == 17);
  CHECK(found.output);
  CHECK(found.labels.to_vector<int32_t>() == work.batch.labels.to_vector<int32_t>());
}

TEST_CASE("a node computes the gradients of the network, dropout included") {
  test::WithTunePolicy policy(kSame);
  Work1 work;
  TrainingNode node(Device::cpu());
  const TensorMessage result =
      decode_tensors(node.run(encode_ticket(work.ticket), work.blobs.getter()));
  CHECK(work.blobs.asked == 3);
  work.network.set_random_position(17);
  work.network.zero_grad();
  const auto loss = work.network.forward_loss(work.batch.inputs(Device::cpu()), work.batch.labels);
  work.network.backward();
  REQUIRE(result.tensors.size() == 2 + work.network.parameters().size());
  CHECK(result.tensors[0].value.item() == loss.loss.item());
  CHECK(result.tensors[1].value.to_vector() == loss.output.to_vector());
  for (size_t i = 0; i < work.network.parameters().size(); ++i) {
    CHECK(result.tensors[2 + i].name == work.network.parameters()[i].name);
    CHECK(result.tensors[2 + i].value.to_vector() ==
          work.network.gradients().values[i].to_vector());
  }
}

TEST_CASE("a network that needs more than the ticket's memory is refused before it is built") {
  constexpr uint64_t kMemory = uint64_t{64} << 20;
  Blobs blobs;
  TrainingTicket ticket;
  const std::string json = R"({"inputs": {"x": {"shape": [1, 28, 28]}}, "layers": [
      {"name": "fc", "type": "fully_connected", "output_size": 200000}]})";
  const ByteView text = as_bytes(json);
  ticket.network = blobs.add({text.begin(), text.end()});
  const ByteView rest = as_bytes("not needed");
  ticket.weights = ticket.samples = blobs.add({rest.begin(), rest.end()});
  ticket.labels = Tensor::zeros({1}, DType::i32, Device::cpu());
  TrainingNode node(Device::cpu());
  Device::cpu().memory().reset_peak();
  const uint64_t before = Device::cpu().memory().account().peak;
  const std::string error =
      error_of([&] { node.run(encode_ticket(ticket), blobs.getter(), kMemory); });
  INFO(error);
  CHECK(has(error, "expected a ticket that needs at most 64.0 MiB (memory_bytes)"));
  CHECK(has(error, "GiB"));
  CHECK(Device::cpu().memory().account().peak - before < kMemory);
}

TEST_CASE("samples, weights and tickets that need more than the ticket's memory are refused") {
  Work1 work;
  const ByteVector ticket = encode_ticket(work.ticket);
  TrainingNode node(Device::cpu());
  node.run(ticket, work.blobs.getter(), uint64_t{32} << 20);
  CHECK(has(error_of([&] { node.run(ticket, uint64_t{16} << 20); }), "a network that needs"));
  CHECK(has(error_of([&] { node.run(ticket, 100); }), "expected data of at most 25 B"));
  TrainingTicket wide = work.ticket;
  wide.samples = work.blobs.add(ByteVector(uint64_t{9} << 20));
  CHECK(
      has(error_of([&] { node.run(encode_ticket(wide), work.blobs.getter(), uint64_t{32} << 20); }),
          "expected data of at most 8.0 MiB"));
  wide.samples = work.ticket.samples;
  wide.weights = work.blobs.add(ByteVector(uint64_t{9} << 20));
  CHECK(
      has(error_of([&] { node.run(encode_ticket(wide), work.blobs.getter(), uint64_t{32} << 20); }),
          "expected data of at most 8.0 MiB"));
}

TEST_CASE("two halves of a batch have the same dropout as the whole batch") {
  test::WithTunePolicy policy(kSame);
  Work1 work;
  work.network.set_random_position(5);
  const std::vector<float> whole =
      work.network.forward(work.batch.inputs(Device::cpu()), nn::Phase::train).to_vector();
  std::vector<float> halves;
  for (int64_t first : {0, 2}) {
    work.network.set_random_position(5);
    work.network.set_first_sample(first);
    const Tensor part =
        work.batch.inputs(Device::cpu()).slice(0, first, first ? 4 : 2).contiguous();
    for (float value : work.network.forward(part, nn::Phase::train).to_vector())
      halves.push_back(value);
  }
  REQUIRE(halves.size() == whole.size());
  double worst = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(whole[i]) - halves[i]));
  CHECK(worst < 1e-6);
}

TEST_CASE("blobs are fetched once, checked by hash, and evicted if there are too many") {
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
    node.add_blob(sha256(other), other);
  }
  CHECK(node.missing(ticket) == std::vector<std::string>{work.ticket.samples});
}

TEST_CASE("a node with the weights of the last step fetches a delta, and computes the same") {
  test::WithTunePolicy policy(kSame);
  Work1 work;
  const auto halves = [&] {
    std::vector<WireTensor> tensors;
    for (nn::Parameter& one : work.network.parameters())
      tensors.push_back({one.name, one.value, WireType::f16});
    return encode_tensors(tensors);
  };
  const ByteVector before = halves();
  for (nn::Parameter& one : work.network.parameters()) update("x = 1.001*x", {{"x", one.value}});
  const ByteVector after = halves();
  TrainingTicket first = work.ticket, second = work.ticket;
  first.weights = work.blobs.add(before);
  second.weights = work.blobs.add(after);
  second.base = first.weights;
  second.delta = work.blobs.add(encode_delta(before, after).value());
  second.position = 18;
  TrainingNode node(Device::cpu()), fresh(Device::cpu());
  const ByteVector ticket = encode_ticket(second);
  CHECK(fresh.missing(ticket)[1] == second.weights);
  node.run(encode_ticket(first), work.blobs.getter());
  CHECK(node.missing(ticket) == std::vector<std::string>{second.delta});
  CHECK(node.run(ticket, work.blobs.getter()) == fresh.run(ticket, work.blobs.getter()));
  CHECK(node.missing(ticket).empty());

  // The delta of other weights: refused by the hash. Then the node fetches all weights.
  second.weights = work.blobs.add(
      encode_tensors(std::vector<WireTensor>{{"w", work.batch.labels, WireType::i32}}));
  second.base = sha256(after);
  second.delta = work.blobs.add(encode_delta(after, before).value());
  CHECK_THROWS_WITH_AS(node.run(encode_ticket(second), work.blobs.getter()),
                       doctest::Contains("SHA-256"), Error);
  CHECK(node.missing(encode_ticket(second)) == std::vector<std::string>{second.weights});
}

TEST_CASE("a backward pass with a kept or a repeated forward pass gives the same bits") {
  test::WithTunePolicy policy(kSame);
  Work1 work;
  const NetworkSplit split = split_network(work.network.spec());
  nn::Network backbone = nn::Network::build(split.backbone, Device::cpu());
  share_tensors(work.network, backbone);
  const std::string json = backbone.json();
  const ByteView text = as_bytes(json);
  TrainingTicket forward = work.ticket;
  forward.work = Work::forward;
  forward.network = work.blobs.add({text.begin(), text.end()});
  forward.weights = work.blobs.add(weights_of(backbone));
  forward.gradients = 0;
  forward.labels = {};
  TrainingNode one(Device::cpu()), two(Device::cpu());
  const Tensor output =
      decode_tensors(one.run(encode_ticket(forward), work.blobs.getter())).tensors[0].value;
  CHECK(output.shape() == Shape{6, 8, 4, 4});
  TrainingTicket backward = forward;
  backward.work = Work::backward;
  backward.output = false;
  backward.gradients = static_cast<int64_t>(backbone.parameters().size());
  backward.grad_output = output;
  const ByteVector kept = one.run(encode_ticket(backward), work.blobs.getter());
  CHECK(two.run(encode_ticket(backward), work.blobs.getter()) == kept);
  CHECK(one.run(encode_ticket(backward), work.blobs.getter()) == kept);
}

TEST_CASE("invalid tickets and blobs are errors with the cause") {
  Work1 work;
  TrainingNode node(Device::cpu());
  auto run = [&](const TrainingTicket& ticket) {
    node.run(encode_ticket(ticket), work.blobs.getter());
  };
  TrainingTicket many = work.ticket;
  many.gradients = 100;
  CHECK_THROWS_WITH_AS(run(many), doctest::Contains("gradients at most, got 100"), Error);
  TrainingTicket none = work.ticket;
  none.weights = work.blobs.add(encode_tensors({}));
  CHECK_THROWS_WITH_AS(run(none), doctest::Contains("expected weights conv1.weight"), Error);
  TrainingTicket labels = work.ticket;
  labels.labels = labels.labels.slice(0, 0, 2).contiguous();
  CHECK_THROWS_AS(run(labels), Error);
  TrainingTicket samples = work.ticket;
  samples.samples = samples.weights;
  CHECK_THROWS_WITH_AS(run(samples), doctest::Contains("expected the tensor samples"), Error);
  CHECK_THROWS_AS(node.run(work.blobs.all[work.ticket.weights]), ParseError);
  TrainingTicket negative = work.ticket;
  negative.first = -1;
  CHECK_THROWS_AS(run(negative), ParseError);
  run(work.ticket);
}

}  // namespace kaiseki::dist
