// SPDX-License-Identifier: MIT
// The tickets of kaiseki fit --pool: written, read, computed, and refused.
#include "cli/grid_ticket.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "cli/grid_search.h"
#include "dist/wire/tensors.h"
#include "tests/cli/grid_cases.h"
#include "tests/support/devices.h"

using namespace kaiseki;
using namespace kaiseki::cli;
using namespace kaiseki::test;

namespace {

ByteVector text_bytes(std::string_view text) {
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

/// A node that answers one ticket after the other.
struct TestNode {
  explicit TestNode(Device device) : compute(fit_function(device)) {}

  double score(const GridTicket& ticket) { return decode_score(run(encode_grid_ticket(ticket))); }
  ByteVector run(const ByteVector& input) { return compute(input, context); }

  ByteVector blob = encode_grid_samples(iris_like());
  int fetched = 0;
  bool cancelled = false;
  dist::TicketContext context{.blobs = {},
                              .fetch =
                                  [this](const dist::BlobHash&) {
                                    ++fetched;
                                    return blob;
                                  },
                              .memory_bytes = uint64_t{1} << 30,
                              .cancelled = [this] { return cancelled; }};
  dist::NodeFunction compute;
};

GridTicket ticket_of(const std::string& model, const std::string& settings) {
  return {
      .data = sha256(text_bytes("any")), .model = model, .settings = parse_json(settings, "test")};
}

}  // namespace

TEST_CASE("fit tickets: a ticket and samples are read as they were written") {
  GridTicket ticket = ticket_of("SVC", R"({"C": 0.1, "class_weight": {"0": 1}})");
  ticket.fold = 3;
  ticket.folds = 7;
  ticket.scale = true;
  const GridTicket read = decode_grid_ticket(encode_grid_ticket(ticket));
  CHECK(read.data == ticket.data);
  CHECK(read.model == "SVC");
  CHECK(read.settings == ticket.settings);
  CHECK(read.fold == 3);
  CHECK(read.folds == 7);
  CHECK(read.scale);
  const GridSamples samples = iris_like();
  const GridSamples got = decode_grid_samples(encode_grid_samples(samples));
  CHECK(got.x.to_vector<float>() == samples.x.to_vector<float>());
  CHECK(got.y.to_vector<int32_t>() == samples.y.to_vector<int32_t>());
  const Tensor targets = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}, Device::cpu());
  const Tensor x = Tensor::from({1, 2, 3}, {3, 1}, Device::cpu());
  CHECK(decode_grid_samples(encode_grid_samples({x, targets})).y.shape() == Shape{3, 2});
  for (const double score : {0.1, -1e300, 2.0 / 3, 1.0})
    CHECK(decode_score(encode_score(score)) == score);
  CHECK(std::isnan(decode_score(encode_score(std::numeric_limits<double>::quiet_NaN()))));
}

TEST_CASE("fit tickets: a node's scores are those of a local search") {
  for_each_device([](Device device) {
    TestNode node(device);
    const GridSamples samples = iris_like();
    for (const bool scale : {false, true}) {
      GridScorer scorer({samples.x.to(device), samples.y, scale, 4});
      for (int64_t fold = 0; fold < 4; ++fold) {
        GridTicket ticket = ticket_of("LogisticRegression", R"({"C": 0.3})");
        ticket.folds = 4;
        ticket.fold = fold;
        ticket.scale = scale;
        CHECK(node.score(ticket) == scorer.score(ticket.model, ticket.settings, fold));
      }
    }
    CHECK(node.fetched == 1);  // the samples of all tickets
  });
}

TEST_CASE("fit tickets: a large ticket is a blob") {
  TestNode node(Device::cpu());
  const ByteVector ticket = encode_grid_ticket(ticket_of("SVC", "{}"));
  const double score = decode_score(node.run(ticket));
  CHECK_THROWS_AS(node.run({}), Error);
  node.context.blobs = {sha256(ticket)};
  node.context.fetch = [&](const dist::BlobHash& hash) {
    return hash == node.context.blobs[0] ? ticket : node.blob;
  };
  CHECK(decode_score(node.run({})) == score);
}

TEST_CASE("fit tickets: bytes that are no ticket are refused") {
  const std::string hash = sha256(text_bytes("any"));
  const std::string good =
      R"({"data": ")" + hash +
      R"(", "model": "SVC", "settings": {}, "fold": 0, "folds": 5, "scale": false})";
  CHECK(decode_grid_ticket(text_bytes(good)).model == "SVC");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text_bytes(text.replace(text.find(from), from.size(), to));
  };
  for (const ByteVector& bytes :
       {text_bytes(""), text_bytes("[]"), text_bytes(good.substr(0, 60)),
        changed(hash, "../secret"), changed("{}", "[]"), changed("{}", "3"), changed("false", "1"),
        changed("\"fold\": 0", "\"fold\": 5"), changed("\"fold\": 0", "\"fold\": -1"),
        changed("\"folds\": 5", "\"folds\": 1"), changed("\"folds\": 5", "\"folds\": 1e18")})
    CHECK_THROWS_AS(decode_grid_ticket(bytes), Error);
  for (const char* text : {"", "{}", "1", R"({"score": "1"})", R"({"score": 1e999})"})
    CHECK_THROWS_AS(decode_score(text_bytes(text)), Error);
}

TEST_CASE("fit tickets: a node refuses hostile settings and samples, and goes on") {
  TestNode node(Device::cpu());
  const auto refuses = [&](const std::string& model, const std::string& settings,
                           const char* reason) {
    CAPTURE(model);
    CHECK_THROWS_WITH_AS(node.score(ticket_of(model, settings)), doctest::Contains(reason), Error);
  };
  refuses("Oracle", "{}", "Oracle");
  refuses("SVC", R"({"D": 1})", "D");
  refuses("SVC", R"({"C": -1})", "C");
  refuses("SVC", R"({"C": "a"})", "C");
  refuses("Ridge", "{}", "expected a classification");
  refuses("KMeans", "{}", "expected a classification");
  refuses("RandomForestClassifier", R"({"n_estimators": 100000000})", "needs at most 1.0 GiB");
  refuses("KNeighborsClassifier", R"({"n_neighbors": 1000})", "neighbors");
  GridTicket many = ticket_of("SVC", "{}");
  many.folds = 1000;  // more than samples
  CHECK_THROWS_AS(node.score(many), Error);
  node.cancelled = true;
  refuses("SVC", "{}", "cancelled");
  node.cancelled = false;
  CHECK(node.score(ticket_of("SVC", "{}")) > 0.5);

  const GridSamples samples = iris_like();
  const auto encoded = [](std::vector<dist::WireTensor> tensors) {
    return dist::encode_tensors(tensors);
  };
  const Tensor cube = Tensor::zeros({4, 1, 1}, DType::f32, Device::cpu());
  const ByteVector whole = encode_grid_samples(samples);
  int n = 0;
  for (const ByteVector& blob :
       {ByteVector{}, ByteVector(whole.begin(), whole.end() - 1), encoded({{"x", samples.x}}),
        encoded({{"y", samples.x}, {"x", samples.x}}), encoded({{"x", cube}, {"y", cube}}),
        encoded({{"x", samples.x}, {"y", Tensor::zeros({3}, DType::f32, Device::cpu())}}),
        encoded({{"x", samples.y, dist::WireType::i32}, {"y", samples.y, dist::WireType::i32}})}) {
    CAPTURE(n++);
    node.blob = blob;
    GridTicket ticket = ticket_of("SVC", "{}");
    ticket.data = sha256(blob);
    CHECK_THROWS_AS(node.score(ticket), Error);
  }
  node.blob = whole;
  GridTicket ticket = ticket_of("SVC", "{}");
  ticket.data = sha256(whole);
  CHECK(node.score(ticket) > 0.5);
}

TEST_CASE("fit tickets: the estimate of memory grows with the settings and the classes") {
  const GridSamples samples = iris_like();
  const auto needed = [&](const char* model, const char* settings) {
    return memory_for_fit(model, parse_json(settings, "test"), samples);
  };
  const uint64_t room = uint64_t{64} << 20;
  CHECK(needed("GaussianNB", "{}") > room);
  CHECK(needed("GaussianNB", "{}") < 2 * room);
  CHECK(needed("RandomForestClassifier", R"({"n_estimators": 100000})") > 4 * room);
  CHECK(needed("SVC", R"({"cache_size": 1e8})") < 2 * room);  // the kernel has few elements
  CHECK(needed("RandomForestClassifier", R"({"n_estimators": 1000000000})") > uint64_t{1} << 40);
  std::vector<int32_t> labels(5000);
  std::iota(labels.begin(), labels.end(), 0);
  const GridSamples own_classes{
      Tensor::zeros({5000, 1}, DType::f32, Device::cpu()),
      Tensor::from(std::span<const int32_t>(labels), {5000}, Device::cpu())};
  const GridSamples wide{Tensor::zeros({5000, 5000}, DType::f32, Device::cpu()),
                         Tensor::zeros({5000}, DType::f32, Device::cpu())};
  for (const char* model : {"SVC", "RandomForestClassifier"})
    CHECK(memory_for_fit(model, Json::object(), own_classes) > uint64_t{10} << 30);
  CHECK(memory_for_fit("Ridge", Json::object(), wide) > uint64_t{1600} << 20);
}
