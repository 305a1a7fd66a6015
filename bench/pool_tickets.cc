// SPDX-License-Identifier: MIT
// Measures ticket cycles of the pool with SQLite on disk: lease and accept. A batch is the work of
// a coordinator in one turn of its loop. Each batch is one commit with one fsync.
//   pool_tickets [--tickets 20000] [--nodes 64] [--batch 1,8,32,128] [--folder DIR]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"
#include "dist/pool/store.h"

namespace kaiseki::bench {
namespace {

constexpr double kGoal = 5000;  // cycles per second

struct Options {
  int tickets = 20000, nodes = 64;
  std::vector<int> batches = {1, 8, 32, 128};
  std::string folder = std::filesystem::temp_directory_path();
};

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void run(const Options& options, int batch, const std::filesystem::path& folder) {
  const auto store = dist::open_sqlite_store(folder / "pool.db");
  dist::BlobStore blobs(folder / "blobs");
  dist::Pool pool(*store, blobs);
  const auto task =
      pool.create_task(pool.create_project("bench"), {.name = "bench", .function = "f"});
  // A batch of one waits for the disk twice as long as it computes, so fewer tickets are enough.
  const int tickets = batch == 1 ? options.tickets / 20 : options.tickets;
  std::vector<dist::TicketSpec> specs(static_cast<size_t>(tickets));
  for (auto& spec : specs) spec.input.resize(100);
  pool.add_tickets(task, specs);
  std::vector<dist::NodeId> nodes;
  for (int i = 0; i < options.nodes; ++i)
    nodes.push_back(pool.join({.threads = 4, .gflops = 10, .functions = {"f"}}).id);

  const ByteVector result(100);
  std::vector<std::pair<dist::NodeId, std::string>> out;  // tickets leased to the nodes
  size_t next = 0;
  const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  while (pool.progress(task).open() > 0) {
    pool.batch([&] {
      for (const auto& [node, token] : out) pool.accept(node, token, result);
      out.clear();
      while (static_cast<int>(out.size()) < batch) {
        const auto leases = pool.lease(nodes[next++ % nodes.size()], 1);
        if (leases.empty()) break;
        out.emplace_back(nodes[(next - 1) % nodes.size()], leases[0].token);
      }
    });
  }
  const double wall_used = seconds_of(CLOCK_MONOTONIC) - wall;
  const double cpu_used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  if (pool.progress(task).done != tickets ||
      pool.counted(dist::PoolEvent::accepted) != specs.size())
    throw Error("[pool_tickets] expected each ticket to be accepted once");
  const double rate = tickets / wall_used;
  std::printf(
      "{\"bench\": \"pool_tickets\", \"case\": \"batch %d\", \"peer\": \"goal\", "
      "\"threads\": 1, \"ours\": %.0f, \"theirs\": %.0f, \"unit\": \"cycles/s\", "
      "\"ratio\": %.3f, \"cycles_per_cpu_second\": %.0f}\n",
      batch, rate, kGoal, rate / kGoal, tickets / cpu_used);
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--tickets") options.tickets = std::stoi(value);
    if (name == "--nodes") options.nodes = std::stoi(value);
    if (name == "--folder") options.folder = value;
    if (name == "--batch") {
      options.batches.clear();
      std::istringstream sizes(value);
      for (std::string size; std::getline(sizes, size, ',');)
        options.batches.push_back(std::stoi(size));
    }
  }
  return options;
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) try {
  const auto options = kaiseki::bench::parse(argc, argv);
  const auto folder = std::filesystem::path(options.folder) /
                      ("kaiseki_pool_tickets_" + std::to_string(::getpid()));
  for (int batch : options.batches) {
    std::filesystem::create_directories(folder);
    kaiseki::bench::run(options, batch, folder);
    std::filesystem::remove_all(folder);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pool_tickets: %s\n", error.what());
  return 1;
}
