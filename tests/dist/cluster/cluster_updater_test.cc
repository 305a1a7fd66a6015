// SPDX-License-Identifier: MIT
#include "dist/cluster/cluster_updater.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "dist/cluster/cluster_evaluator.h"
#include "dist/cluster/local_ranks.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::dist {
namespace {

constexpr const char* kPlain = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
    {"type": "relu"}, {"type": "dropout", "ratio": 0.25},
    {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})";
/// A bias before the normalization has no effect: its gradient is the rounding of zero.
constexpr const char* kNormalized = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6,
     "bias": false},
    {"type": "batch_normalization"}, {"type": "relu"},
    {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})";

/// The weight of the first layer has 40,000 values, and its factors 8 x 2020. The second layer has
/// 6000 values, and its factors 8 x 2003 are no saving.
constexpr const char* kWide = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"type": "fully_connected", "output_size": 2000}, {"type": "tanh"},
    {"type": "fully_connected", "output_size": 3, "bias": false}, {"type": "softmax"}]})";

struct Case {
  const char* network = kPlain;
  const char* rule = "momentum";
  int64_t batch = 8, samples = 50;
  int steps = 20;
  ExchangeOptions exchange = {};
  bool sync_batch_norm = false;
};

struct Trained {
  std::vector<float> losses;
  std::vector<std::vector<float>> values;  // weights, states of layers, states of the optimizer
  std::vector<int64_t> labels;             // in the order of the steps
  bool operator==(const Trained&) const = default;
};

struct Parts {
  nn::Network network;
  nn::Optimizer optimizer;
  nn::Iterator iterator;

  Parts(const Case& of, const nn::BatchShare& share, uint64_t seed)
      : network(nn::Network::parse(of.network, "test", Device::cpu())),
        optimizer(nn::OptimizerOptions{.name = of.rule, .weight_decay = 0.001}),
        iterator(std::make_shared<nn::Patterns>(of.samples),
                 {.batch_size = of.batch, .seed = 4, .workers = 1, .share = share}) {
    network.initialize(seed);
  }
};

Trained train(Parts& parts, nn::Updater& updater, int steps) {
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const nn::Updater::Result result = updater.update();
    trained.losses.push_back(result.loss.item());
    for (const int32_t label : result.labels.to_vector<int32_t>()) trained.labels.push_back(label);
    CHECK(result.output.shape() == Shape{result.labels.dim(0), 3});
  }
  trained.values = nn::all_values(parts.network, parts.optimizer);
  return trained;
}

Trained train_alone(const Case& of) {
  Parts parts(of, {}, 9);
  nn::Updater updater(parts.network, parts.optimizer, parts.iterator, {.base = 0.05});
  return train(parts, updater, of.steps);
}

/// A communicator that belongs to another object.
class Borrowed : public Communicator {
 public:
  explicit Borrowed(Communicator& of) : of_(of) {}
  int rank() const override { return of_.rank(); }
  int size() const override { return of_.size(); }
  std::string host(int rank) const override { return of_.host(rank); }
  std::unique_ptr<Transfer> send(int to, ByteView bytes) override { return of_.send(to, bytes); }
  std::unique_ptr<Transfer> receive(int from, std::span<std::byte> memory) override {
    return of_.receive(from, memory);
  }
  std::unique_ptr<Communicator> split(int group, int order) override {
    return of_.split(group, order);
  }
  void cancel() noexcept override { of_.cancel(); }

 private:
  Communicator& of_;
};

/// Records when the first message leaves by the communicator of another thread.
class Watched : public Borrowed {
 public:
  Watched(Communicator& of, std::atomic<double>& first) : Borrowed(of), first_(first) {}
  std::unique_ptr<Communicator> split(int group, int order) override {
    class Recorded : public Borrowed {
     public:
      Recorded(std::unique_ptr<Communicator> of, std::atomic<double>& first)
          : Borrowed(*of), of_(std::move(of)), first_(first) {}
      std::unique_ptr<Transfer> send(int to, ByteView bytes) override {
        if (first_ == 0) first_ = steady_seconds();
        return Borrowed::send(to, bytes);
      }

     private:
      std::unique_ptr<Communicator> of_;
      std::atomic<double>& first_;
    };
    return std::make_unique<Recorded>(Borrowed::split(group, order), first_);
  }

 private:
  std::atomic<double>& first_;
};

/// Ranks on several machines. Counts the bytes that they send.
class Counted : public Borrowed {
 public:
  Counted(Communicator& of, int machines, std::atomic<uint64_t>& bytes)
      : Borrowed(of), machines_(machines), bytes_(bytes) {}
  std::string host(int rank) const override { return "node" + std::to_string(rank % machines_); }
  std::unique_ptr<Transfer> send(int to, ByteView bytes) override {
    bytes_ += bytes.size();
    return Borrowed::send(to, bytes);
  }
  std::unique_ptr<Communicator> split(int group, int order) override {
    class Owned : public Counted {
     public:
      Owned(std::unique_ptr<Communicator> of, int machines, std::atomic<uint64_t>& bytes)
          : Counted(*of, machines, bytes), of_(std::move(of)) {}

     private:
      std::unique_ptr<Communicator> of_;
    };
    return std::make_unique<Owned>(Borrowed::split(group, order), machines_, bytes_);
  }

 private:
  int machines_;
  std::atomic<uint64_t>& bytes_;
};

/// Returns the results of each rank. Ranks other than 0 start with other weights. Adds the bytes
/// that they send to `bytes`.
std::vector<Trained> train_on(int ranks, const Case& of, int machines = 1,
                              std::atomic<uint64_t>* bytes = nullptr) {
  std::atomic<uint64_t> uncounted = 0;
  std::vector<Trained> all(static_cast<size_t>(ranks));
  run_local_ranks(ranks, [&](Communicator& rank) {
    Cluster cluster(std::make_unique<Counted>(rank, machines, bytes ? *bytes : uncounted));
    Parts parts(of, cluster.share(), 9 + static_cast<uint64_t>(rank.rank()));
    parts.network.initialize(9);  // the streams of dropout
    if (rank.rank() > 0)
      for (nn::Parameter& one : parts.network.parameters()) one.value.mutable_data<float>()[0] = 5;
    ClusterUpdater updater(parts.network, parts.optimizer, parts.iterator, {.base = 0.05}, cluster,
                           {.exchange = of.exchange, .sync_batch_norm = of.sync_batch_norm});
    all[static_cast<size_t>(rank.rank())] = train(parts, updater, of.steps);
  });
  return all;
}

/// The largest difference of two arrays, relative to the largest value of the first.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    size = std::max(size, std::abs(static_cast<double>(a[i])));
  }
  return size > 0 ? most / size : most;
}

void check_close(const Trained& a, const Trained& b, double tolerance) {
  CHECK(a.labels == b.labels);
  CHECK(difference(a.losses, b.losses) <= tolerance);
  REQUIRE(a.values.size() == b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i)
    CHECK(difference(a.values[i], b.values[i]) <= tolerance);
}

}  // namespace

TEST_CASE("cluster: the training of several ranks equals that of one") {
  for (const char* rule : {"momentum", "sgd", "adam"}) {
    const Case of{.rule = rule, .steps = 100};
    const Trained alone = train_alone(of);
    for (const int ranks : {1, 2, 3, 4, 7}) {
      CAPTURE(rule);
      CAPTURE(ranks);
      const std::vector<Trained> all = train_on(ranks, of);
      for (const Trained& one : all) CHECK(one == all[0]);  // the same bits
      // The sums of samples have another order. Adam's divisions enlarge this.
      check_close(alone, all[0], std::string(rule) == "adam" ? 1e-4 : 1e-5);
    }
  }
}

TEST_CASE("cluster: minibatches of fewer samples than ranks") {
  // The last of each epoch has one sample.
  for (const Case& of : {Case{.batch = 3, .samples = 10}, Case{.batch = 1, .samples = 5}}) {
    const Trained alone = train_alone(of);
    for (const int ranks : {2, 4}) {
      CAPTURE(ranks);
      const std::vector<Trained> all = train_on(ranks, of);
      for (const Trained& one : all) CHECK(one == all[0]);
      check_close(alone, all[0], 1e-5);
    }
  }
}

TEST_CASE("cluster: the size of buckets does not matter, and runs have the same bits") {
  const Case whole{};
  Case small;
  small.exchange.bucket_bytes = 1;  // each gradient alone
  const std::vector<Trained> first = train_on(3, whole);
  CHECK(train_on(3, whole) == first);
  check_close(first[0], train_on(3, small)[0], 1e-5);
}

TEST_CASE("cluster: ranks exchange the factors of a gradient if these are fewer bytes") {
  Case of{.network = kWide, .steps = 30};
  of.exchange.factors = FactorUse::never;
  const Trained alone = train_alone(of);
  for (const int ranks : {2, 3, 5}) {
    CAPTURE(ranks);
    std::atomic<uint64_t> of_sums = 0, of_factors = 0, of_one_machine = 0, of_several = 0;
    const auto train = [&](FactorUse use, int machines, std::atomic<uint64_t>& bytes) {
      of.exchange.factors = use;
      return train_on(ranks, of, machines, &bytes);
    };
    const std::vector<Trained> sums = train(FactorUse::never, 2, of_sums);
    const std::vector<Trained> factors = train(FactorUse::if_smaller, 1, of_factors);
    for (const Trained& one : factors) CHECK(one == factors[0]);
    check_close(alone, sums[0], 1e-5);
    check_close(alone, factors[0], 1e-5);
    CHECK(of_factors < of_sums / 10 * 7);  // the weights at the start are in both
    CHECK(train(FactorUse::automatic, 1, of_one_machine) == sums);
    CHECK(of_one_machine == of_sums);
    CHECK(train(FactorUse::automatic, 2, of_several) == factors);
    CHECK(of_several == of_factors);
  }
}

TEST_CASE("cluster: gradients as halves train about as well") {
  Case halves;
  halves.exchange.wire = ClusterWire::f16;
  halves.exchange.bucket_bytes = 1;
  const std::vector<Trained> all = train_on(3, halves);
  for (const Trained& one : all) CHECK(one == all[0]);
  check_close(train_alone(halves), all[0], 1e-2);
}

TEST_CASE("cluster: ranks share the running statistics of batch normalization") {
  const std::vector<Trained> all = train_on(3, {.network = kNormalized});
  for (const Trained& one : all) CHECK(one == all[0]);
  for (const float loss : all[0].losses) CHECK(std::isfinite(loss));
  CHECK(all[0].losses.back() < all[0].losses.front());
}

TEST_CASE("cluster: with synchronized batch normalization, ranks train as one machine") {
  for (const int64_t batch : {8, 7}) {
    const Case of{.network = kNormalized,
                  .batch = batch,
                  .samples = 48,  // every minibatch has a sample for each rank
                  .steps = 50,
                  .sync_batch_norm = true};
    const Trained alone = train_alone(of);
    for (const int ranks : {1, 2, 3, 4}) {
      CAPTURE(batch);
      CAPTURE(ranks);
      const std::vector<Trained> all = train_on(ranks, of);
      for (const Trained& one : all) CHECK(one == all[0]);
      check_close(alone, all[0], 1e-4);  // divisions by small variances enlarge roundings
    }
  }
}

TEST_CASE("cluster: ranks evaluate parts of the data, and get the result for all samples") {
  const auto data = std::make_shared<nn::Patterns>(47, false);
  Parts alone({}, {}, 9);
  const nn::Evaluation whole = evaluate(alone.network, data, {.batch_size = 5});
  for (const int ranks : {1, 2, 5, 60}) {
    CAPTURE(ranks);
    run_local_ranks(ranks, [&](Communicator& rank) {
      Cluster cluster(std::make_unique<Borrowed>(rank));
      Parts parts({}, cluster.share(), 9);
      const nn::Evaluation all = evaluate_on(cluster, parts.network, data, {.batch_size = 5});
      CHECK(all.samples == whole.samples);
      CHECK(all.loss == doctest::Approx(whole.loss).epsilon(1e-6));
      CHECK(all.top1 == doctest::Approx(whole.top1).epsilon(1e-6));
      CHECK(all.top5 == doctest::Approx(whole.top5).epsilon(1e-6));
      CHECK(all.confusion == whole.confusion);
    });
  }
}

TEST_CASE("cluster: one rank that wants to stop stops all of them after the same step") {
  std::mutex mutex;
  std::vector<int> steps;
  run_local_ranks(3, [&](Communicator& rank) {
    Cluster cluster(std::make_unique<Borrowed>(rank));
    Parts parts({}, cluster.share(), 9);
    int step = 0;
    ClusterUpdater updater(parts.network, parts.optimizer, parts.iterator, {.base = 0.05}, cluster,
                           {.stop = [&] { return cluster.rank() == 1 && step == 4; }});
    for (; !updater.stopped() && step < 20; ++step) updater.update();
    std::lock_guard lock(mutex);
    steps.push_back(step);
  });
  CHECK(steps == std::vector<int>{5, 5, 5});
}

TEST_CASE("cluster: an error of one rank ends the others") {
  for (int failing = 0; failing < 3; ++failing) {
    CAPTURE(failing);
    const auto program = [&](Communicator& rank) {
      Cluster cluster(std::make_unique<Borrowed>(rank));
      Parts parts({}, cluster.share(), 9);
      ClusterUpdater updater(parts.network, parts.optimizer, parts.iterator, {.base = 0.05},
                             cluster, {.stop = [&]() -> bool {
                               if (cluster.rank() == failing) throw Error("the disk is full");
                               return false;
                             }});
      for (int step = 0; step < 3; ++step) updater.update();
    };
    CHECK_THROWS_WITH_AS(run_local_ranks(3, program), "the disk is full", Error);
  }
}

TEST_CASE("cluster: an iterator without the share of the cluster") {
  CHECK_THROWS_WITH_AS(run_local_ranks(2,
                                       [](Communicator& rank) {
                                         Cluster cluster(std::make_unique<Borrowed>(rank));
                                         Parts parts({}, {}, 9);
                                         ClusterUpdater(parts.network, parts.optimizer,
                                                        parts.iterator, {.base = 0.05}, cluster);
                                       }),
                       doctest::Contains("the share of the cluster"), Error);
}

TEST_CASE("cluster: gradients leave before the backward pass ends") {
  Case of;
  of.exchange.bucket_bytes = 1;
  run_local_ranks(2, [&](Communicator& rank) {
    std::atomic<double> first_send = 0;
    Cluster cluster(std::make_unique<Watched>(rank, first_send));
    Parts parts(of, cluster.share(), 9);
    double end = 0;
    parts.network.set_layer_timer([&](const nn::LayerTime& time) {
      if (!time.backward) return;
      end = time.begin + time.seconds;
      // The last layer with gradients waits, so that the thread of the exchange has time.
      if (time.name.starts_with("fully_connected"))
        while (first_send == 0) std::this_thread::yield();
    });
    ClusterUpdater updater(parts.network, parts.optimizer, parts.iterator, {.base = 0.05}, cluster,
                           {.exchange = of.exchange});
    updater.update();
    CHECK(first_send > 0);
    CHECK(first_send < end);
    CHECK(updater.exchange_seconds().exchanging > 0);
  });
}

}  // namespace kaiseki::dist
