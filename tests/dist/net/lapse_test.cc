// SPDX-License-Identifier: MIT
// Projects of a training that was killed lapse. Those of a training that lives do not.
#include "base/clock.h"
#include "base/sha256.h"
#include "dist/net/remote_author.h"
#include "dist/net/remote_pool.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// A coordinator whose pool has a clock that a test puts forward.
struct Lapsing {
  static PoolOptions options(std::atomic<double>& clock) {
    PoolOptions options;
    options.clock = [&clock] { return clock.load(); };
    return options;
  }
  WireOptions author() {
    return {.url = parse_coordinator_url(running.server.url()), .token = "author", .silence = 15};
  }
  std::vector<ProjectStatus> projects() {
    std::vector<ProjectStatus> found;
    running.on([&] { found = running.coordinator.pool().projects(); });
    return found;
  }

  /// Submits a ticket with a blob to a node that does not answer.
  void submit(Channel& channel) {
    running.on([&] { running.join(kTrainingFunction); });
    channel.put_blob(BlobKind::weights, sha256(bytes("weights")),
                     std::make_shared<const ByteVector>(bytes("weights")));
    channel.submit(1, {bytes("one"), 1000});
    REQUIRE(wait_until([&] { return projects().size() == 2; }));
  }
  uint64_t renewals() {
    uint64_t count = 0;
    running.on([&] { count = running.coordinator.pool().counted(PoolEvent::renewed); });
    return count;
  }

  std::atomic<double> clock = 1e9;
  std::mutex mutex;
  std::string logged;
  Running running{options(clock), {}, [this](const std::string& line) {
                    const std::lock_guard lock(mutex);
                    logged += line;
                  }};
};

}  // namespace

TEST_CASE("lapse: the projects of a killed training are deleted after ten minutes") {
  Lapsing at;
  {
    RemoteAuthor killed(
        at.author(), {}, [](const std::function<void()>&) {}, [](const Finished&) {});
    killed.put_blob(sha256(bytes("weights")), bytes("weights"));
    killed.add_tickets(std::vector<TicketSpec>(3), kDefaultMemory);
    killed.nodes();
  }
  REQUIRE(at.projects().size() == 2);
  for (const ProjectStatus& project : at.projects()) CHECK(project.lapse == 600);
  at.clock = at.clock + 599;
  at.running.on([&] { CHECK(at.running.coordinator.pool().tick().empty()); });
  at.clock = at.clock + 2;
  CHECK(wait_until([&] { return at.projects().empty(); }));
  at.running.on([&] { CHECK(at.running.coordinator.pool().tasks().empty()); });
  CHECK(wait_until([&] {
    const std::lock_guard lock(at.mutex);
    return has(at.logged, "project_lapsed");
  }));
}

TEST_CASE("lapse: a training that lives renews its projects, also while no ticket ends") {
  Lapsing at;
  RemotePool pool(at.author());
  at.submit(pool.channel());
  const std::vector<ProjectStatus> before = at.projects();
  for (int i = 0; i < 2; ++i) {  // renewals come every two seconds
    at.clock = at.clock + 500;
    const uint64_t renewals = at.renewals();
    REQUIRE(wait_until([&] { return at.renewals() >= renewals + 3; }));  // of both projects
  }
  at.running.on([&] { CHECK(at.running.coordinator.pool().tick().empty()); });
  REQUIRE(at.projects().size() == 2);
  for (size_t i = 0; i < 2; ++i) CHECK(at.projects()[i].id == before[i].id);
}

TEST_CASE("lapse: a training whose projects lapsed makes new ones") {
  Lapsing at;
  RemotePool pool(at.author());
  at.submit(pool.channel());
  const ProjectId first = at.projects()[0].id;
  at.running.on([&] {  // before any renewal
    at.clock = at.clock + 601;
    CHECK(at.running.coordinator.pool().tick().size() == 2);
  });
  CHECK(wait_until([&] { return at.projects().size() == 2; }));
  CHECK(at.projects()[0].id > first);
}

TEST_CASE("lapse: the blobs of projects that lapsed are deleted within two hours") {
  constexpr double kCollection = 601;
  Lapsing at;
  const BlobHash hash = sha256(bytes("weights"));
  {
    RemoteAuthor killed(
        at.author(), {}, [](const std::function<void()>&) {}, [](const Finished&) {});
    killed.put_blob(hash, bytes("weights"));
    killed.add_tickets(std::vector<TicketSpec>(3), kDefaultMemory);
  }
  const fs::path file = at.running.blobs.folder() / hash;
  const auto age = [&](double seconds) {
    fs::last_write_time(file, fs::file_time_type::clock::now() -
                                  std::chrono::seconds(static_cast<int64_t>(seconds)));
  };
  double ticks = 0;
  const auto collect = [&] {
    ticks += kCollection;
    at.running.on([&] { at.running.coordinator.tick(steady_seconds() + ticks); });
  };
  age(7200);
  collect();
  collect();
  REQUIRE(fs::exists(file));  // a project refers to it
  age(0);
  at.clock = at.clock + 601;
  collect();
  REQUIRE(at.projects().empty());
  double seconds = 0;
  while (fs::exists(file) && seconds < 9000) {
    age(seconds += kCollection);
    collect();
  }
  CHECK(seconds > 3600);  // another author may be about to refer to it
  CHECK(seconds <= 7200);
}
