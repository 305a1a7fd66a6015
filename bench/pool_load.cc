// SPDX-License-Identifier: MIT
// pool_load [echo|tickets|idle|storm|slow|pings] [--connections N] [--seconds S] [--bytes B]:
// measures a coordinator in this process with nodes in another process.
//   echo: the nodes send requests as fast as they can.
//   tickets: the nodes compute tickets.
//   idle: the nodes do nothing.
//   storm: all nodes lose their connections while they hold tickets, and reconnect at once.
//   slow: the nodes compute tickets, first alone, then beside a thousand slow peers, which send
//     one byte per second.
//   pings: the nodes compute tickets, first alone, then beside a thousand volunteers, each at its
//     own address. Each volunteer sends 30 pings a second, and reconnects when it is closed.
// Prints one JSON line. It has the coordinator's throughput per second of its CPU time and of wall
// time. It also has the memory per node.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/json_line.h"
#include "base/median.h"
#include "bench/pool_load_node.h"
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

constexpr double kStormSeconds = 120;  // maximum time for the storm
constexpr int kPeers = 1000;           // slow ones, or ones that ping
constexpr int kPings = 30;             // per second and peer

struct Settings {
  std::string what = "echo";
  int connections = 50;
  double seconds = 5;
  size_t bytes = 1024;
};

double cpu_seconds(std::thread& thread) {
  clockid_t clock;
  timespec time{};
  pthread_getcpuclockid(thread.native_handle(), &clock);
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Calls `answer` with each arriving message and adds up the returned values. Stops after
/// `seconds`, or when the sum reaches `most`. Returns the sum.
int64_t drive(const Nodes& nodes, double seconds,
              const std::function<int(LoadNode&, const std::string&)>& answer,
              int64_t most = INT64_MAX) {
  const int poll = epoll_create1(0);
  for (const auto& node : nodes) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = node.get()}};
    epoll_ctl(poll, EPOLL_CTL_ADD, node->socket(), &event);
  }
  int64_t done = 0;
  std::vector<epoll_event> events(256);
  std::string message;
  for (const double end = steady_seconds() + seconds; steady_seconds() < end && done < most;) {
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < count; ++i) {
      LoadNode& node = *static_cast<LoadNode*>(events[static_cast<size_t>(i)].data.ptr);
      node.fill();
      while (node.next(message)) done += answer(node, message);
    }
  }
  close(poll);
  return done;
}

int64_t echo(const Nodes& nodes, const Settings& settings) {
  const ByteVector payload(settings.bytes - kFrameHeaderBytes);
  const std::string message =
      websocket_message(encode_frame({FrameType::echo, 0, Json::object(), payload}));
  for (const auto& node : nodes) node->write(message);
  return drive(nodes, settings.seconds, [&](LoadNode& node, const std::string&) {
    node.write(message);
    return 1;
  });
}

void say_ready(const Nodes& nodes, int slots) {
  Frame ready{FrameType::ready};
  ready.control.set("slots", slots);
  for (const auto& node : nodes) node->say(ready);
}

/// Answers a ticket. Returns 1 for a verdict that accepts a result, else 0.
int answer(LoadNode& node, const std::string& message) {
  const Frame frame = decode_frame(as_bytes(message));
  if (frame.type == FrameType::verdict)
    return frame.control.find("verdict")->string == "accepted" ? 1 : 0;
  if (frame.type == FrameType::cancel) return 0;  // the ticket was answered before
  Frame result{FrameType::result, frame.ticket};
  result.control.set("token", *frame.control.find("token"));
  result.payload = frame.payload;
  node.say(result);
  return 0;
}

int64_t tickets(const Nodes& nodes, const Settings& settings) {
  say_ready(nodes, 8);
  return drive(nodes, settings.seconds, answer);
}

/// Waits until each node holds a ticket. The nodes do not answer it.
void hold(const Nodes& nodes) {
  say_ready(nodes, 1);
  for (const auto& node : nodes)
    if (node->hear().type != FrameType::ticket) throw std::runtime_error("expected a ticket");
}

/// Runs until all nodes are back, and all tickets that they held are done by some node.
int64_t storm(const Nodes& nodes) {
  for (const auto& node : nodes) node->leave();
  join(nodes);
  say_ready(nodes, 1);
  return drive(nodes, kStormSeconds, answer, static_cast<int64_t>(nodes.size()));
}

/// Accepted results, and the coordinator's CPU time for them.
struct Rate {
  int64_t done = 0;
  double cpu = 0;  // seconds
  double per_cpu_second() const { return static_cast<double>(done) / cpu; }
};

/// The report that the nodes' process sends at its end.
struct Report {
  int64_t done = 0;
  double seconds = 0;
  double p99 = 0, p99_with_slow = 0;  // seconds
  int64_t closed = 0;                 // connections of peers
  int64_t pings = 0;
  Rate alone = {}, beside = {};
};

/// The seconds within which 99 % of the results get their verdict.
double p99_of_verdicts(const Nodes& nodes, double seconds, int64_t& done) {
  std::map<uint64_t, double> said;
  std::vector<double> took;
  done += drive(nodes, seconds, [&](LoadNode& node, const std::string& message) {
    const Frame frame = decode_frame(as_bytes(message));
    if (frame.type == FrameType::cancel) return 0;
    const uint64_t ticket = frame.ticket;
    const int counts = answer(node, message);
    const auto found = said.find(ticket);
    if (!counts)
      said[ticket] = steady_seconds();
    else if (found != said.end())
      took.push_back(steady_seconds() - found->second);
    return counts;
  });
  if (took.empty()) throw std::runtime_error("expected verdicts, got none");
  return quantile(took, 0.99);
}

/// Sends a message of each node, one byte per second. Closed nodes reconnect. Returns the number of
/// closed connections.
int64_t drip(Nodes& nodes, const std::stop_token& stop) {
  const std::string begun = websocket_message(ByteView(ByteVector(10000))).substr(0, 8);
  for (const auto& node : nodes) node->write(begun);
  int64_t closed = 0;
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto gone = std::partition(nodes.begin(), nodes.end(),
                                     [](const auto& node) { return node->try_write("K"); });
    for (auto at = gone; at != nodes.end(); ++at) (*at)->leave();
    join({gone, nodes.end()});
    for (auto at = gone; at != nodes.end(); ++at) (*at)->write(begun);
    closed += nodes.end() - gone;
  }
  return closed;
}

Report slow(const Nodes& nodes, const Settings& settings, uint16_t port) {
  Report report{.seconds = 2 * settings.seconds};
  say_ready(nodes, 1);
  report.p99 = p99_of_verdicts(nodes, settings.seconds, report.done);
  Nodes others = joined(kPeers, port);
  std::jthread dripping([&](std::stop_token stop) { report.closed = drip(others, stop); });
  report.p99_with_slow = p99_of_verdicts(nodes, settings.seconds, report.done);
  dripping.request_stop();
  dripping.join();
  return report;
}

/// Sends the pings of all peers, and connects closed ones again, until `stop`.
void ping(const Nodes& peers, const std::stop_token& stop, Report& report) {
  const std::string ping("\x89\x80\0\0\0\0", 6);
  for (double next = steady_seconds(); !stop.stop_requested(); next += 1.0 / kPings) {
    std::this_thread::sleep_for(std::chrono::duration<double>(next - steady_seconds()));
    for (const auto& peer : peers) {
      if (peer->discard()) {
        report.pings += peer->write_at_once(ping);
        continue;
      }
      ++report.closed;
      peer->leave();
      try {
        join(std::span(&peer, 1));
      } catch (const std::runtime_error&) {  // the gate refused the peer, which tries again
      }
    }
  }
}

/// The CPU time of the coordinator's process, which started this one.
double coordinator_seconds() {
  clockid_t clock;
  timespec time{};
  clock_getcpuclockid(getppid(), &clock);
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Alternates time without and with the pings, so that other programs disturb both alike.
Report pings(const Nodes& nodes, const Settings& settings, uint16_t port) {
  constexpr int kRounds = 4;
  const double seconds = settings.seconds / kRounds;
  Report report{.seconds = 2 * settings.seconds};
  Nodes peers;
  for (int i = 0; i < kPeers; ++i)
    peers.push_back(
        std::make_unique<LoadNode>(port, INADDR_LOOPBACK + ((1 + static_cast<in_addr_t>(i)) << 8)));
  for (const auto& peer : peers) join(std::span(&peer, 1));
  say_ready(nodes, 8);
  auto measure = [&](Rate& rate) {
    const double cpu = coordinator_seconds();
    const int64_t done = drive(nodes, seconds, answer);
    rate.cpu += coordinator_seconds() - cpu;
    rate.done += done;
    report.done += done;
  };
  for (int round = 0; round < kRounds; ++round) {
    measure(report.alone);
    std::jthread pinging([&](std::stop_token stop) { ping(peers, stop, report); });
    measure(report.beside);
  }
  return report;
}

Report work(const Nodes& nodes, const Settings& settings, uint16_t port) {
  if (settings.what == "slow") return slow(nodes, settings, port);
  if (settings.what == "pings") return pings(nodes, settings, port);
  if (settings.what == "storm") hold(nodes);
  const double start = steady_seconds();
  int64_t done = 0;
  if (settings.what == "storm") {
    done = storm(nodes);
  } else if (settings.what == "idle") {
    drive(nodes, settings.seconds, [](LoadNode&, const std::string&) { return 0; });
  } else {
    done = settings.what == "echo" ? echo(nodes, settings) : tickets(nodes, settings);
  }
  return {.done = done, .seconds = steady_seconds() - start};
}

/// Connects the two processes.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  template <class Value>
  void put(const Value& value) {
    if (::write(ends_[1], &value, sizeof value) != sizeof value) std::abort();
  }
  template <class Value>
  Value get() {
    Value value{};
    if (::read(ends_[0], &value, sizeof value) != sizeof value)
      throw std::runtime_error("the nodes' process has ended");
    return value;
  }
  void only_read() { ::close(ends_[1]); }

 private:
  int ends_[2];
};

[[noreturn]] void be_nodes(const Settings& settings, uint16_t port, Pipe& from, Pipe& to) {
  try {
    const Nodes nodes = joined(settings.connections, port);
    to.put('c');
    from.get<char>();
    to.put(work(nodes, settings, port));
    from.get<char>();
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pool_load: %s\n", error.what());
    _exit(1);
  }
}

Settings read_settings(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    const char* value = i + 1 < count ? arguments[i + 1] : "0";
    if (option == "--connections")
      settings.connections = std::atoi(value), ++i;
    else if (option == "--seconds")
      settings.seconds = std::atof(value), ++i;
    else if (option == "--bytes")
      settings.bytes = static_cast<size_t>(std::atoi(value)), ++i;
    else
      settings.what = option;
  }
  if (settings.connections < 1 || settings.seconds <= 0 || settings.bytes < kFrameHeaderBytes ||
      (settings.what != "echo" && settings.what != "tickets" && settings.what != "idle" &&
       settings.what != "storm" && settings.what != "slow" && settings.what != "pings"))
    throw std::runtime_error(
        "usage: pool_load [echo|tickets|idle|storm|slow|pings] [--connections N] [--seconds S] "
        "[--bytes B]");
  return settings;
}

void add_tickets(Pool& pool, int count) {
  if (pool.tasks().empty())
    pool.create_task(pool.create_project("load"), {.name = "f", .function = "f"});
  TicketSpec ticket;
  ticket.input.resize(16);
  pool.add_tickets(pool.tasks()[0].id, std::vector<TicketSpec>(static_cast<size_t>(count), ticket));
}

/// Checks that each of `count` tickets was leased again after its node left, and was done once.
void expect_each_once(const Pool& pool, int64_t count) {
  const auto accepted = static_cast<int64_t>(pool.counted(PoolEvent::accepted));
  const Progress progress = pool.progress(pool.tasks()[0].id);
  const auto leases = static_cast<int64_t>(pool.counted(PoolEvent::leases));
  if (progress != Progress{.done = count} || accepted != count || leases < 2 * count)
    throw std::runtime_error("expected each ticket to be given out twice and done once, got " +
                             std::to_string(leases) + " leases and " + std::to_string(accepted) +
                             " results of " + std::to_string(count));
}

void run(const Settings& settings) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("pool_load." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  std::atomic<bool> stop = false;
  ServerOptions how;
  how.stop = [&] { return stop.load(); };
  how.origins = {kVolunteerOrigin};
  // Allows many nodes from one address (docs/serve.md).
  const bool with_slow = settings.what == "slow", with_pings = settings.what == "pings";
  how.limits.sockets_per_address = 2.0 * (settings.connections + (with_slow ? kPeers : 0));
  how.limits.sockets = std::max(how.limits.sockets, how.limits.sockets_per_address);
  if (settings.what != "idle" && settings.what != "storm")
    how.limits.messages_per_second = how.limits.bytes_per_second = 1e9;
  if (with_slow) how.limits.connections_per_second = 1e9;
  how.limits.drain_seconds = 0.1;
  ServerMetrics metrics;
  EventLog log({}, 1);
  Server server(how, metrics, log);
  const auto store = open_sqlite_store(folder / "pool.sqlite");
  BlobStore blobs(folder / "blobs");
  Coordinator coordinator(
      {.store = *store, .blobs = blobs, .server = server, .metrics = metrics, .log = log},
      {.author_token = "", .node_token = "token", .limits = how.limits});
  if (settings.what == "tickets" || with_slow || with_pings)
    for (int i = 0;
         i < std::max(1, static_cast<int>((settings.what == "tickets" ? 1 : 2) * settings.seconds));
         ++i)
      add_tickets(coordinator.pool(), 20000);
  if (settings.what == "storm") add_tickets(coordinator.pool(), settings.connections);
  Pipe to_nodes, from_nodes;
  const pid_t child = fork();  // fork before any thread starts
  if (child == 0) be_nodes(settings, server.port(), to_nodes, from_nodes);
  from_nodes.only_read();
  const int64_t before = resident_bytes();
  std::thread thread([&] { server.run(coordinator); });
  from_nodes.get<char>();
  const int64_t each = (resident_bytes() - before) / settings.connections;
  const double cpu = cpu_seconds(thread);
  to_nodes.put('g');
  const auto report = from_nodes.get<Report>();
  const double spent = cpu_seconds(thread) - cpu;
  const auto done = static_cast<double>(report.done);
  JsonLine line;
  line.add("bench", "pool_load").add("case", settings.what).add("bytes", settings.bytes);
  line.add("connections", settings.connections).add("done", report.done);
  line.add("seconds", report.seconds).add("per_second", done / report.seconds);
  line.add("per_cpu_second", done / spent).add("cpu_share", spent / report.seconds);
  line.add("resident_bytes_per_node", each);
  if (with_slow) {
    line.add("slow", kPeers).add("slow_closed", report.closed);
    line.add("p99_ms", 1e3 * report.p99).add("p99_ms_with_slow", 1e3 * report.p99_with_slow);
    line.add("ratio", report.p99_with_slow / report.p99);
  }
  if (with_pings) {
    line.add("peers", kPeers).add("pings", report.pings).add("peers_closed", report.closed);
    line.add("alone", report.alone.done).add("beside", report.beside.done);
    line.add("ratio",
             static_cast<double>(report.beside.done) / static_cast<double>(report.alone.done));
    line.add("cpu_alone", report.alone.cpu).add("cpu_beside", report.beside.cpu);
    line.add("ratio_per_cpu_second",
             report.beside.per_cpu_second() / report.alone.per_cpu_second());
  }
  std::printf("%s\n", line.str().c_str());
  stop = true;
  thread.join();
  to_nodes.put('q');
  waitpid(child, nullptr, 0);
  if (settings.what == "storm") expect_each_once(coordinator.pool(), settings.connections);
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(read_settings(count, arguments));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pool_load: %s\n", error.what());
    return 1;
  }
}
