// SPDX-License-Identifier: MIT
// Nodes with all kinds of faults work on many tickets in simulated time. They crash, hang, are
// late, repeat results, lie, fail and rejoin. The coordinator restarts now and then. A checker that
// does not know the pool's rules reads the history. Each ticket is accepted exactly once with the
// right result, and no acknowledged result is lost.
#include <map>
#include <queue>
#include <unordered_map>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

#ifdef KAISEKI_SLOW_BUILD
constexpr int kTickets = 10000;
#else
constexpr int kTickets = 100000;
#endif

/// The right result.
std::string right(std::string_view input) { return "f(" + std::string(input) + ")"; }

class Simulation {
 public:
  explicit Simulation(unsigned seed, int tickets)
      : at_("pool.db",
            [](const Check& check) { return text(check.result) == right(text(check.input)); }),
        random_(seed),
        tickets_(tickets) {
    at_.options.on_finished = [this](const Finished& finished) {
      CHECK(!finished.dead);
      ++told_[finished.ticket];
    };
    at_.restart();
    task_ = at_.task(tickets, {.name = "t",
                               .function = "f",
                               .verification = Verification::adaptive,
                               .max_attempts = 1000});
  }

  void run() {
    for (int i = 0; i < 40; ++i) join();
    int rounds = 0;
    while (at_.pool->progress(task_).open() > 0) {
      REQUIRE(++rounds < 1000000);
      at_.now += chance(0.001) ? 300 : 0.5;
      at_.pool->batch([&] { round(); });
      for (const auto& [ticket, result] : acknowledged_now_)
        CHECK(acknowledged_.emplace(ticket, result).second);
      acknowledged_now_.clear();
      if (chance(0.01)) {
        at_.restart();
        ++happened_["restart"];
      }
      while (nodes_.size() < 40) join();
    }
  }

  void check() {
    const Progress progress = at_.pool->progress(task_);
    CHECK(progress == Progress{.done = tickets_});
    std::map<TicketId, std::string> kept;
    for (TicketId after = 0;;) {
      const auto page = at_.pool->finished(task_, after, 5000);
      if (page.empty()) break;
      for (const Finished& finished : page)
        CHECK(kept.emplace(finished.ticket, text(at_.pool->result(finished))).second);
      after = page.back().ticket;
    }
    CHECK(kept.size() == static_cast<size_t>(tickets_));
    int wrong = 0, number = 0, twice = 0;
    for (const auto& [ticket, result] : kept) {
      // A liar is caught when it is checked. Its earlier wrong results are counted here.
      wrong += result != right(std::to_string(number++));
      twice += told_[ticket] != 1;
      auto known = acknowledged_.find(ticket);
      CHECK(known != acknowledged_.end());
      if (known != acknowledged_.end()) CHECK(known->second == result);
    }
    CHECK(acknowledged_.size() == kept.size());
    CHECK(twice == 0);
    CHECK(wrong <= unseen_lies_);
  }

  /// Enough tickets for all faults to happen.
  void check_faults() {
    for (const std::string fault :
         {"disconnect", "expelled", "failure", "hang", "late", "restart", "twice"}) {
      INFO(fault);
      CHECK(happened_[fault] > 0);
    }
  }

 private:
  enum Kind { kGood, kSlow, kCrasher, kHanger, kTwice, kLate, kLiar, kFailing, kKinds };
  struct Worker {
    NodeIdentity identity;
    Kind kind;
    int threads;
    double speed;
    int answers = 0;
    int at_work = 0;  // leases without an answer
  };
  struct Due {
    double time;
    uint64_t worker;
    Lease lease;
    bool hangs = false;
    int sent = 0;
    bool operator<(const Due& other) const { return time > other.time; }
  };

  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  double between(double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random_);
  }

  NodeInfo info(const Worker& worker) {
    return {.threads = worker.threads, .gflops = worker.speed, .functions = {"f"}};
  }

  void join() {
    Worker worker{{},
                  static_cast<Kind>(random_() % kKinds),
                  1 + static_cast<int>(random_() % 16),
                  between(0.5, 20)};
    worker.identity = at_.pool->join(info(worker));
    nodes_.emplace(++last_, worker);
  }

  void round() {
    while (!due_.empty() && due_.top().time <= at_.now) {
      Due due = due_.top();
      due_.pop();
      if (auto found = nodes_.find(due.worker); found != nodes_.end()) {
        found->second.at_work -= due.sent == 0;
        if (!due.hangs) answer(due, found->second);
      }
    }
    for (auto entry = nodes_.begin(); entry != nodes_.end();) {
      Worker& worker = entry->second;
      const bool goes = worker.kind == kCrasher && chance(0.02);
      happened_["disconnect"] += goes;
      if (goes && chance(0.5)) {  // and never rejoins
        at_.pool->disconnected(worker.identity.id);
        entry = nodes_.erase(entry);
        continue;
      }
      if (goes) at_.pool->disconnected(worker.identity.id);
      if (!at_.pool->node(worker.identity.id)->connected &&
          !at_.pool->rejoin(worker.identity, info(worker))) {
        entry = nodes_.erase(entry);
        continue;
      }
      const int free = worker.threads * 2 - worker.at_work;
      for (const Lease& lease : at_.pool->lease(worker.identity.id, free))
        start(entry->first, worker, lease);
      ++entry;
    }
    at_.pool->tick();
  }

  void start(uint64_t id, Worker& worker, const Lease& lease) {
    ++worker.at_work;
    double seconds = between(6, 18) / worker.speed;
    if (worker.kind == kSlow) seconds *= 30;
    if (worker.kind == kLate && chance(0.3)) seconds = lease.deadline - at_.now + between(0, 100);
    const bool hangs = worker.kind == kHanger && chance(0.2);
    if (hangs) seconds = lease.deadline - at_.now;
    happened_["hang"] += hangs;
    due_.push({at_.now + seconds, id, lease, hangs});
  }

  void answer(Due& due, Worker& worker) {
    const NodeId& id = worker.identity.id;
    if (worker.kind == kFailing && chance(0.3)) {
      at_.pool->give_back(id, due.lease.token, "failed");
      ++happened_["failure"];
      return;
    }
    // A liar sends 12 right results first. After that the pool checks only some of them.
    const bool lie = worker.kind == kLiar && ++worker.answers > 12 && chance(0.2);
    const std::string result = lie ? "a lie" : right(text(due.lease.input));
    const Outcome outcome = at_.answer(id, due.lease, result);
    CHECK(outcome != Outcome::pending);
    if (outcome == Outcome::accepted) {
      CHECK(acknowledged_now_.emplace(due.lease.ticket, result).second);
      unseen_lies_ += lie;
    }
    happened_["expelled"] += lie && outcome == Outcome::refused;
    happened_["late"] += outcome == Outcome::accepted && at_.now > due.lease.deadline;
    // Repeated, as after a lost acknowledgement, at once or much later.
    if (worker.kind == kTwice && due.sent++ < 2) {
      const Outcome again = at_.answer(id, due.lease, result);
      CHECK(again != Outcome::accepted);
      due.time = at_.now + between(0, 50);
      ++happened_["twice"];
      due_.push(due);
    }
  }

  TestPool at_;
  std::mt19937 random_;
  int64_t tickets_;
  TaskId task_ = 0;
  uint64_t last_ = 0;
  std::map<uint64_t, Worker> nodes_;
  std::priority_queue<Due> due_;
  std::map<TicketId, std::string> acknowledged_now_;
  std::unordered_map<TicketId, std::string> acknowledged_;
  std::unordered_map<TicketId, int> told_;
  std::map<std::string, int> happened_;
  int unseen_lies_ = 0;
};

}  // namespace

TEST_CASE("history: many tickets under random faults are each accepted exactly once") {
  Simulation simulation(1, kTickets);
  simulation.run();
  simulation.check();
  simulation.check_faults();
}

TEST_CASE("history: the same holds for other seeds") {
  for (unsigned seed = 2; seed < 12; ++seed) {
    INFO("seed ", seed);
    Simulation simulation(seed, 1000);
    simulation.run();
    simulation.check();
  }
}
