// SPDX-License-Identifier: MIT
// The program and the limits of docs/pool.md.
// clang-format off
// page: includes
#include <dist/pool/blobs.h>
#include <dist/pool/pool.h>
#include <dist/pool/store.h>
using namespace kaiseki;

// page: end
// clang-format on
#include <unistd.h>

#include <filesystem>

#include "dist/pool/rules.h"
#include "tests/docs/page.h"

namespace fs = std::filesystem;

namespace {

ByteVector bytes_of(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The number if it is prime, else nothing.
ByteVector is_prime(ByteView input) {
  const int n = std::stoi(text_of(input));
  for (int divisor = 2; divisor * divisor <= n; ++divisor)
    if (n % divisor == 0) return {};
  return n < 2 ? ByteVector() : bytes_of(std::to_string(n));
}

}  // namespace

// clang-format off
TEST_CASE("pool: the program lists the primes") {
  const fs::path before = fs::current_path();
  const fs::path folder = fs::temp_directory_path() / ("kaiseki_docs_pool_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::current_path(folder);
// page: the rest
dist::BlobStore blobs("primes/blobs");
auto store = dist::open_sqlite_store("primes/pool.db");
dist::Pool pool(*store, blobs);

auto project = pool.create_project("primes");
auto task = pool.create_task(project, {.name = "is it prime?", .function = "is_prime"});
std::vector<dist::TicketSpec> tickets;
for (int n = 1; n <= 1000; ++n) tickets.push_back({.input = bytes_of(std::to_string(n))});
pool.add_tickets(task, tickets);

// A node: a coordinator carries these three calls over the network.
auto node = pool.join({.name = "this process", .threads = 4, .functions = {"is_prime"}, .trusted = true});
while (pool.progress(task).open() > 0)
  pool.batch([&] {
    for (const dist::Lease& lease : pool.lease(node.id, 64))
      pool.accept(node.id, lease.token, is_prime(lease.input));
  });

std::string primes;
for (const dist::Finished& finished : pool.finished(task)) {
  if (!finished.result.empty()) primes += text_of(finished.result) + " ";
}
// page: end
  fs::current_path(before);
  fs::remove_all(folder);
  CHECK(primes.starts_with("2 3 5 7 11 13 17 19 23 29 31 "));
  CHECK(primes.ends_with(" 983 991 997 "));
  CHECK(std::count(primes.begin(), primes.end(), ' ') == 168);
  const std::string own = test::text_of("tests/docs/pool_test.cc");
  CHECK(test::code_blocks(test::text_of("docs/pool.md"), "cpp")[1] ==
        test::between(own, "// page: includes\n", "// page: end") +
            test::between(own, "// page: the rest\n", "// page: end"));
}
// clang-format on

TEST_CASE("pool: the limits are those of the code") {
  const auto rows = test::table_after(test::text_of("docs/pool.md"), "## Limits\n");
  const std::vector<double> limits = {dist::kMaxInput,     dist::kMostInline,   dist::kTrustedAfter,
                                      dist::kMostOutvoted, dist::kManyFailures, dist::kTokenLife};
  REQUIRE(rows.size() == limits.size());
  for (size_t i = 0; i < rows.size(); ++i) CHECK(std::stod(rows[i][1]) == limits[i]);
}
