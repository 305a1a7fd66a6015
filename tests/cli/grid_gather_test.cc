// SPDX-License-Identifier: MIT
// GridGather with nodes in this process: honest, lying, failing and silent ones.
#include "cli/grid_gather.h"

#include <doctest/doctest.h>

#include <deque>

#include "base/error.h"
#include "cli/grid_ticket.h"
#include "ml/progress.h"
#include "tests/cli/grid_cases.h"

using namespace kaiseki;
using namespace kaiseki::cli;
using namespace kaiseki::test;

namespace {

/// Returns a node's result. No bytes: all attempts failed.
using Answer = std::function<ByteVector(const GridTicket& ticket, double score)>;

ByteVector honest(const GridTicket&, double score) { return encode_score(score); }

class Nodes final : public dist::Channel {
 public:
  explicit Nodes(std::map<std::string, Answer> answers) : answers_(std::move(answers)) {}

  std::vector<dist::NodeRate> nodes() override {
    std::vector<dist::NodeRate> rates;
    for (const auto& [name, answer] : answers_) rates.push_back({.name = name});
    return rates;
  }
  void put_blob(dist::BlobKind, const std::string&,
                std::shared_ptr<const ByteVector> bytes) override {
    blob_ = std::move(bytes);
    ++blobs;
  }
  void drop_blob(const std::string&) override { --blobs; }
  void submit(uint64_t id, const dist::Submission& ticket) override {
    open_[id] = ticket.ticket;
    most_open = std::max(most_open, open_.size());
  }
  void close(uint64_t id) override { open_.erase(id); }
  std::optional<dist::TicketResult> receive(double) override {
    if (answers_.empty() || silent || open_.empty()) return std::nullopt;
    auto node = answers_.begin();
    std::advance(node, turn_++ % answers_.size());
    const auto& [id, bytes] = *open_.begin();
    const dist::TicketContext context{.blobs = {},
                                      .fetch = [this](const auto&) { return *blob_; },
                                      .cancelled = [] { return false; }};
    const double score = decode_score(compute_(bytes, context));
    ByteVector result = node->second(decode_grid_ticket(bytes), score);
    const bool dead = result.empty();
    return dist::TicketResult{id, node->first, std::move(result), dead};
  }
  void expel(const std::string& node, const dist::ExpulsionReason& reason) override {
    expelled[node] = reason.kind;
    answers_.erase(node);
  }

  bool silent = false;
  int blobs = 0;
  size_t most_open = 0;
  std::map<std::string, dist::ExpulsionKind> expelled;
  size_t open() const { return open_.size(); }

 private:
  std::map<std::string, Answer> answers_;
  std::shared_ptr<const ByteVector> blob_;
  std::map<uint64_t, ByteVector> open_;
  size_t turn_ = 0;
  dist::NodeFunction compute_ = fit_function(Device::cpu());
};

constexpr const char* kModel = "KNeighborsClassifier";

struct Search {
  explicit Search(Nodes& nodes, GridGatherOptions options = {}) {
    options.trust.seed = 7;
    const GridSamples samples = iris_like();
    const GridData data{samples.x, samples.y, true, 5};
    const auto candidates = grid_candidates(Json::object(), {"n_neighbors=1,3,5,9,21,33"});
    const auto expected = search_grid(kModel, candidates, data);
    {
      GridGather gather(nodes, kModel, candidates, data, options);
      const auto results = gather.run();
      REQUIRE(results.size() == expected.size());
      for (size_t i = 0; i < results.size(); ++i) {
        CHECK(results[i].split_test_scores == expected[i].split_test_scores);
        CHECK(results[i].rank_test_score == expected[i].rank_test_score);
        CHECK(results[i].params == expected[i].params);
      }
      counts = gather.counts();
    }
    CHECK(counts.by_nodes + counts.here == 30);
    CHECK(nodes.open() == 0);
    CHECK(nodes.blobs == 0);
  }
  GridCounts counts;
};

}  // namespace

TEST_CASE("grid over a pool: the scores of nodes are those of a local search") {
  Nodes nodes({{"a", honest}, {"b", honest}});
  int64_t last = -1;
  const ml::ProgressScope scope([&](std::string_view step, int64_t done, int64_t most) {
    if (most != 30 || !step.starts_with("fits, 2 nodes, ")) return;  // of the local search
    CHECK(step.ends_with(" fits/s"));
    CHECK(done >= last);
    last = done;
  });
  const Search search(nodes);
  CHECK(last == 29);
  CHECK(search.counts.by_nodes == 30);
  CHECK(search.counts.checked >= 5 + 2);  // those of the best, and one of each node
  CHECK(search.counts.checked < 25);
  CHECK(search.counts.expelled == 0);
}

TEST_CASE("grid over a pool: without nodes, this machine computes alone") {
  Nodes none({});
  CHECK(Search(none).counts.here == 30);
  Nodes silent({{"a", honest}});
  silent.silent = true;
  CHECK(Search(silent, {.patience = 0.05}).counts.here == 30);
  Nodes failing({{"a", [](const auto&, double) { return ByteVector(); }}});
  CHECK(Search(failing).counts.here == 30);
}

TEST_CASE("grid over a pool: a node that lies from the start is expelled") {
  for (const double lie : {1.0, 0.0, -5.0, std::nan("")}) {
    CAPTURE(lie);
    Nodes nodes({{"a", honest}, {"liar", [&](const auto&, double) { return encode_score(lie); }}});
    const Search search(nodes);
    CHECK(nodes.expelled.at("liar") == dist::ExpulsionKind::wrong_value);
    CHECK(search.counts.expelled == 1);
  }
}

TEST_CASE("grid over a pool: results that are no scores expel their node") {
  for (const char* text : {"", "nonsense", "{}", R"({"score": true})"}) {
    CAPTURE(text);
    const ByteView bytes = as_bytes(std::string_view(text[0] ? text : "["));
    Nodes nodes({{"a", honest}, {"liar", [&](const auto&, double) {
                                   return ByteVector(bytes.begin(), bytes.end());
                                 }}});
    Search{nodes};
    CHECK(nodes.expelled.at("liar") == dist::ExpulsionKind::wrong_form);
  }
}

TEST_CASE("grid over a pool: lies about one candidate do not make it the best") {
  const auto praises_33 = [](const GridTicket& ticket, double score) {
    return encode_score(ticket.settings.find("n_neighbors")->number == 33 ? 1 : score);
  };
  Nodes nodes({{"a", honest}, {"liar", praises_33}});
  GridGatherOptions options;
  options.trust.checks.check_share = 0;  // only the scores of the best one are checked
  options.trust.checks.newcomer_checks = 0;
  const Search search(nodes, options);
  CHECK(nodes.expelled.contains("liar"));
  CHECK_FALSE(nodes.expelled.contains("a"));
}

TEST_CASE("grid over a pool: all nodes lie") {
  const auto lies = [](const auto&, double) { return encode_score(-3); };
  Nodes nodes({{"a", lies}, {"b", lies}, {"c", lies}});
  CHECK(Search(nodes).counts.here == 30);
  CHECK(nodes.expelled.size() == 3);
}

TEST_CASE("grid over a pool: it stops, and closes its tickets") {
  Nodes nodes({{"a", honest}});
  const GridSamples samples = iris_like();
  const auto candidates = grid_candidates(Json::object(), {"n_neighbors=1,3"});
  int asked = 0;
  {
    GridGather gather(nodes, kModel, candidates, {samples.x, samples.y, false, 5},
                      {.stop = [&] { return ++asked > 3; }});
    CHECK_THROWS_WITH_AS(gather.run(), "[fit] interrupted after 3 of 10 fits", Error);
  }
  CHECK(nodes.open() == 0);
  CHECK(nodes.blobs == 0);
}

TEST_CASE("grid over a pool: a fit that fails here ends the search with its error") {
  Nodes nodes({{"a", [](const auto&, double) { return ByteVector(); }}});
  const GridSamples samples = iris_like();
  const auto candidates = grid_candidates(Json::object(), {"n_neighbors=1,60"});
  Nodes none({});
  GridGather gather(none, kModel, candidates, {samples.x, samples.y, false, 5});
  CHECK_THROWS_WITH_AS(gather.run(), doctest::Contains("neighbors"), Error);
}

TEST_CASE("grid over a pool: a large grid has a bounded number of open tickets") {
  Nodes nodes({{"a", honest}});
  const GridSamples samples = iris_like();
  std::string values = "n_neighbors=1";
  for (int i = 0; i < 150; ++i) values += ",1";
  const auto candidates = grid_candidates(Json::object(), {values});
  GridGather gather(nodes, kModel, candidates, {samples.x, samples.y, false, 5});
  CHECK(gather.run().size() == 151);
  CHECK(nodes.most_open == 500);
}

TEST_CASE("grid over a pool: the tolerance of scores") {
  CHECK(scores_agree(0.9, 0.9, 1000));
  CHECK(scores_agree(0.9, 0.91, 1000));
  CHECK_FALSE(scores_agree(0.9, 0.92, 1000));
  CHECK(scores_agree(14.0 / 15, 1, 15));        // one of the test samples
  CHECK_FALSE(scores_agree(13.0 / 15, 1, 15));  // two
  CHECK(scores_agree(-1005, -1000, 1000));      // R^2 may be far below 0
  CHECK_FALSE(scores_agree(-1020, -1000, 1000));
  CHECK(scores_agree(std::nan(""), std::nan(""), 10));
  CHECK_FALSE(scores_agree(std::nan(""), 1, 10));
  CHECK_FALSE(scores_agree(1, std::nan(""), 10));
}
