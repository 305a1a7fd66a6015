// SPDX-License-Identifier: MIT
// Project and Task, with a coordinator and a native node in this process.
#include "dist/net/task.h"

#include "base/clock.h"
#include "dist/net/author.h"
#include "dist/node/node.h"
#include "dist/samples/samples.h"
#include "tests/dist/net/computing.h"
#include "tests/dist/net/fake.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

namespace kaiseki::test {
namespace {

NodeFunctions functions() {
  NodeFunctions all = sample_functions();
  all["twice"] = [](ByteView input, const TicketContext& context) {
    std::string read = text(input);
    for (const BlobHash& blob : context.blobs) read += text(context.fetch(blob));
    return bytes(read + read);
  };
  all["unless 13"] = [](ByteView input, const TicketContext&) {
    if (text(input) == "13") throw Error("13 brings bad luck");
    return bytes(text(input));
  };
  return all;
}

struct Fixture : Running {
  explicit Fixture(const ServerOptions& how = {}) : Running({}, how) {}
  WireOptions author{
      .url = parse_coordinator_url(server.url()), .token = "author", .certificates = {}};
  size_t projects() {
    size_t count = 0;
    on([&] { count = coordinator.pool().projects().size(); });
    return count;
  }
};

std::vector<std::string> numbers(int first, int last) {
  std::vector<std::string> all;
  for (int n = first; n <= last; ++n) all.push_back(std::to_string(n));
  return all;
}

std::vector<std::string> texts(const std::vector<ByteVector>& results) {
  std::vector<std::string> all;
  for (const ByteVector& one : results) all.push_back(text(one));
  return all;
}

TEST_CASE("task: the primes to 1000, one per ticket, in any order") {
  Fixture at;
  Computing node(at.server.url(), functions());
  {
    Project project(at.author, "primes");
    Task task(project, {.name = "is it prime?", .function = "sample.primes"});
    CHECK(task.calculate(numbers(1, 600)) == 0);
    CHECK(task.calculate(numbers(601, 1000)) == 600);
    std::vector<int> given(1000);
    int primes = 0;
    task.for_each_finished([&](size_t input, ByteVector result) {
      ++given.at(input);
      primes += text(result) == "true";
      const bool small = input == 1 || input == 2 || input == 4;
      if (input < 6) CHECK((text(result) == "true") == small);
    });
    CHECK(primes == 168);
    CHECK(given == std::vector<int>(1000, 1));
    CHECK(task.progress() == Progress{.done = 1000});
  }
  CHECK(at.projects() == 0);
}

TEST_CASE("task: a new iteration reuses the task, and the earlier tickets are deleted") {
  Fixture at;
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  CHECK(task.block().empty());
  std::vector<std::string> state = numbers(1, 3);
  for (int iteration = 0; iteration < 3; ++iteration) {
    CHECK(task.calculate(state) == 0);
    state = texts(task.block());
  }
  CHECK(state == std::vector<std::string>{"11111111", "22222222", "33333333"});
  CHECK(task.progress() == Progress{.done = 3});
}

TEST_CASE("task: `take` may add inputs, and their numbers continue") {
  Fixture at;
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  task.calculate(numbers(1, 2));
  std::map<size_t, std::string> given;
  task.for_each_finished([&](size_t input, ByteVector result) {
    given[input] = text(result);
    if (given.size() > 3) return;
    const std::vector<std::string> next = {text(result)};
    CHECK(task.calculate(next) == given.size() + 1);
  });
  CHECK(given.size() == 5);
  CHECK(given[0] == "11");
  CHECK(given[1] == "22");
}

TEST_CASE("task: blobs as inputs, and large results") {
  Fixture at;
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  const std::string large(30000, '\xff');
  const BlobHash blob = project.put_blob(bytes(large));
  const std::vector<TicketSpec> inputs = {{.input = bytes("a"), .blobs = {blob}},
                                          {.input = bytes("b")}};
  task.calculate(inputs);
  const auto results = task.block();
  REQUIRE(results.size() == 2);
  CHECK(text(results[0]) == "a" + large + "a" + large);
  CHECK(text(results[1]) == "bb");
}

TEST_CASE("task: more inputs than fit into a request") {
  ServerOptions how;
  how.limits.json_bytes = 1.5e6;
  Fixture at(how);
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  std::vector<std::string> inputs;
  for (char c = 'a'; c <= 'z'; ++c) inputs.emplace_back(60000, c);
  task.calculate(inputs);
  const auto results = texts(task.block());
  REQUIRE(results.size() == inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) CHECK((results[i] == inputs[i] + inputs[i]));
}

TEST_CASE("task: if calculate() fails half way, none of its inputs count, and numbers are reused") {
  ServerOptions how;
  how.limits.json_bytes = 1.5e6;
  Fixture at(how);
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  CHECK(task.calculate(numbers(1, 2)) == 0);
  std::vector<std::string> inputs(20, std::string(60000, 'a'));
  inputs.emplace_back(2000000, 'b');
  CHECK(has(error_of([&] { task.calculate(inputs); }), "got status 413"));
  CHECK(task.progress().free > 2);
  CHECK(task.calculate(numbers(3, 4)) == 2);
  Computing node(at.server.url(), functions());
  CHECK(texts(task.block()) == std::vector<std::string>{"11", "22", "33", "44"});
  CHECK(task.calculate(numbers(5, 5)) == 0);
  CHECK(texts(task.block()) == numbers(55, 55));
  CHECK(task.progress() == Progress{.done = 1});
}

TEST_CASE("task: if calculate() fails half way and nothing else is open, block() returns at once") {
  ServerOptions how;
  how.limits.json_bytes = 1.5e6;
  std::vector<std::string> inputs(20, std::string(60000, 'a'));
  inputs.emplace_back(2000000, 'b');
  for (const bool with_others : {false, true}) {
    CAPTURE(with_others);
    Fixture at(how);
    Project project(at.author, "p");
    {
      Task task(project, {.name = "t", .function = "twice"});
      if (with_others) task.calculate(numbers(1, 2));
      CHECK(has(error_of([&] { task.calculate(inputs); }), "got status 413"));
      if (with_others) {
        Computing node(at.server.url(), functions());
        CHECK(texts(task.block()) == std::vector<std::string>{"11", "22"});
      } else {
        CHECK(task.progress().free > 0);
        CHECK(task.calculate(numbers(3, 4)) == 0);
        CHECK(task.progress() == Progress{.free = 2});
        Computing node(at.server.url(), functions());
        CHECK(task.block().size() == 2);
        CHECK(has(error_of([&] { task.calculate(inputs); }), "got status 413"));
        CHECK(task.block().empty());
      }
    }
    at.on([&] { CHECK(at.coordinator.pool().tasks()[0].state == TaskState::cancelled); });
  }
}

TEST_CASE("task: a ticket with a lost number does not block, and is deleted with its iteration") {
  Fixture at;
  NodeFunctions all = functions();
  all["not 13"] = [](ByteView input, const TicketContext& context) {
    if (text(input) == "13") wait_until([&] { return context.cancelled(); });
    return bytes(text(input));
  };
  Computing node(at.server.url(), all);
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "not 13"});
  task.calculate(numbers(1, 2));
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    pool.add_tickets(pool.tasks()[0].id, std::vector<TicketSpec>{{.input = bytes("13")}});
  });
  CHECK(texts(task.block()) == numbers(1, 2));
  CHECK(task.progress().open() == 1);
  task.calculate(numbers(3, 4));
  CHECK(texts(task.block()) == numbers(3, 4));
  CHECK(task.progress() == Progress{.done = 2});
}

TEST_CASE("task: dead inputs are reported with reasons after all other results") {
  Fixture at;
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "unless 13", .max_attempts = 1});
  task.calculate(numbers(12, 14));
  std::set<std::string> given;
  const std::string error = error_of([&] {
    task.for_each_finished([&](size_t, ByteVector result) { given.insert(text(result)); });
  });
  CHECK(given == std::set<std::string>{"12", "14"});
  CHECK(has(error, "got 1 of 3 that none could; input 1: 13 brings bad luck"));
  task.calculate(numbers(1, 2));
  CHECK(texts(task.block()) == numbers(1, 2));
}

TEST_CASE("task: after `take` throws, the next call returns the remaining results") {
  Fixture at;
  Computing node(at.server.url(), functions());
  Project project(at.author, "p");
  Task task(project, {.name = "t", .function = "twice"});
  task.calculate(numbers(1, 5));
  CHECK(error_of([&] {
          task.for_each_finished([](size_t, ByteVector) { throw Error("enough"); });
        }) == "enough");
  CHECK_THROWS_AS(task.for_each_finished([](size_t, ByteVector) { throw AuthorLost("another's"); }),
                  AuthorLost);
  int rest = 0;
  task.for_each_finished([&](size_t, ByteVector) { ++rest; });
  CHECK(rest == 3);
  CHECK(task.block().empty());
}

TEST_CASE("task: canceling by the program or an operator ends block() with an error") {
  for (const bool program : {true, false}) {
    Fixture at;
    Project project(at.author, "p");
    Task task(project, {.name = "t", .function = "nobody has it"});
    task.calculate(numbers(1, 3));
    CHECK(task.progress() == Progress{.free = 3});
    auto error = std::async(std::launch::async, [&] { return error_of([&] { task.block(); }); });
    CHECK(error.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout);
    if (program)
      task.cancel();
    else
      at.on([&] { at.coordinator.pool().cancel(at.coordinator.pool().tasks()[0].id); });
    CHECK(has(error.get(), "the task was cancelled; 3 results are missing"));
    CHECK(has(error_of([&] { task.calculate(numbers(4, 4)); }), "was cancelled"));
  }
}

TEST_CASE("task: a running native function sees cancelled(), and its node continues") {
  Fixture at;
  std::atomic<bool> begun = false, ended = false;
  NodeFunctions all = functions();
  all["endless"] = [&](ByteView, const TicketContext& context) -> ByteVector {
    begun = true;
    ended = wait_until([&] { return context.cancelled(); });
    throw Error("cancelled");
  };
  Computing node(at.server.url(), all);
  Project project(at.author, "p");
  Task endless(project, {.name = "t", .function = "endless"});
  endless.calculate(numbers(1, 9));
  REQUIRE(wait_until([&] { return begun.load(); }));
  endless.cancel();
  REQUIRE(wait_until([&] { return ended.load(); }));
  Task task(project, {.name = "t", .function = "twice"});
  task.calculate(numbers(1, 2));
  CHECK(texts(task.block()) == std::vector<std::string>{"11", "22"});
  const NodeCounts counts = node.end();
  CHECK(counts.accepted == 2);
  CHECK(counts.failed == 0);
}

TEST_CASE("task: the coordinator gets the priority, and the destructor cancels open tickets") {
  Fixture at;
  Project project(at.author, "p");
  {
    Task task(project, {.name = "t", .function = "f", .priority = 1});
    task.set_priority(7);
    at.on([&] { CHECK(at.coordinator.pool().tasks()[0].spec.priority == 7); });
    task.calculate(numbers(1, 1));
  }
  at.on([&] { CHECK(at.coordinator.pool().tasks()[0].state == TaskState::cancelled); });
}

TEST_CASE("task: block() waits for a coordinator that restarts") {
  Fixture at;
  Computing node(at.server.url(), functions());
  std::optional<Server> server;
  std::optional<Coordinator> coordinator;
  std::thread thread;
  std::atomic<bool> stop = false;
  std::vector<int> given(300);
  {
    Project project(at.author, "p");
    Task task(project, {.name = "t", .function = "twice"});
    task.calculate(numbers(1, 300));
    task.for_each_finished([&](size_t input, ByteVector) {
      ++given.at(input);
      if (server) return;
      ServerOptions how;
      how.port = at.server.port(), how.stop = [&] { return stop.load(); };
      at.end();
      how.limits.drain_seconds = 0.1;
      server.emplace(how, at.metrics, at.log);
      coordinator.emplace(CoordinatorParts{.store = *at.store,
                                           .blobs = at.blobs,
                                           .server = *server,
                                           .metrics = at.metrics,
                                           .log = at.log},
                          CoordinatorOptions{.author_token = "author", .node_token = "token"});
      thread = std::thread([&] { server->run(*coordinator); });
    });
    CHECK(given == std::vector<int>(300, 1));
  }
  CHECK(coordinator->pool().projects().empty());
  stop = true;
  thread.join();
}

/// The answers of a coordinator with one project and this task.
std::string one_of_each(const std::string& task_state) {
  const std::string body =
      R"({"project": 1, "task": 1, "first": 1, "free": 1, "state": ")" + task_state + "\"}";
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

TEST_CASE("task: missing results end block(), though the coordinator answers other requests") {
  int asked = 0;
  Fake fake([&](int socket) {
    const bool results = has(Fake::head(socket), "/results?");
    asked += results;
    Fake::say(socket, results ? "HTTP/1.1 503 Unavailable\r\nConnection: close\r\n\r\n"
                              : one_of_each(asked > 50 ? "cancelled" : "running"));
  });
  Project project({.url = parse_coordinator_url(fake.url), .token = "", .silence = 1}, "p");
  Task task(project, {.name = "t", .function = "f"});
  task.calculate(numbers(1, 1));
  CHECK_THROWS_AS(task.block(), AuthorLost);
}

TEST_CASE("task: a silent stream of results is closed and requested again") {
  int asked = 0;
  Fake fake([&](int socket) {
    const std::string results = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    if (!has(Fake::head(socket), "/results?")) {
      Fake::say(socket, one_of_each("running"));
    } else if (++asked == 1) {
      Fake::say(socket, results + "\n");
      Fake::head(socket);
    } else {
      Fake::say(socket, results + R"({"sequence": 1, "ticket": 1, "result": "seven"})" + "\n");
    }
  });
  Project project({.url = parse_coordinator_url(fake.url), .token = "", .silence = 1}, "p");
  Task task(project, {.name = "t", .function = "f"});
  task.calculate(numbers(1, 1));
  const double begun = steady_seconds();
  CHECK(texts(task.block()) == std::vector<std::string>{"seven"});
  CHECK(steady_seconds() - begun < 15);
}

TEST_CASE("task: refusals and unknown tasks throw at once") {
  Fixture at;
  WireOptions viewer = at.author;
  viewer.token = "viewer";
  CHECK(has(error_of([&] { Project project(viewer, "p"); }), "got status 40"));
  Project project(at.author, "p");
  CHECK(has(error_of([&] { Task task(project, {.name = "t"}); }), "expected a function"));
  Task task(project, {.name = "t", .function = "f"});
  task.calculate(numbers(1, 2));
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    pool.abandon(pool.tasks()[0].id, INT64_MAX);
  });
  CHECK(has(error_of([&] { task.block(); }), "2 results more, got none"));
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    pool.remove_project(pool.projects()[0].id);
  });
  CHECK(has(error_of([&] { task.block(); }), "got status 404"));
  at.end();
  CHECK_THROWS_AS(project.put_blob(bytes("b")), AuthorLost);
  CHECK_THROWS_AS(task.calculate(numbers(1, 1)),
                  AuthorLost);  // only block() and for_each_finished() wait
  CHECK_THROWS_AS(task.progress(), AuthorLost);
  CHECK_THROWS_AS(Task(project, {.name = "t", .function = "f"}), AuthorLost);
}

}  // namespace
}  // namespace kaiseki::test
