// SPDX-License-Identifier: MIT
// A program that gives work to a pool. It finds the prime numbers up to 1000. `kaiseki serve` is
// the coordinator, and `kaiseki join URL` a node.
#include <kaiseki/dist.h>

#include <algorithm>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) try {
  using namespace kaiseki;
  if (argc != 3) throw Error("usage: primes URL AUTHOR_TOKEN_FILE");
  std::string token;
  std::ifstream(argv[2]) >> token;

  dist::Project project({.url = dist::parse_coordinator_url(argv[1]), .token = token}, "primes");
  dist::Task task(project, {.name = "is it prime?", .function = "sample.primes"});
  std::vector<std::string> numbers;
  for (int n = 1; n <= 1000; ++n) numbers.push_back(std::to_string(n));
  task.calculate(numbers);

  int primes = 0;
  task.for_each_finished([&](size_t input, ByteVector result) {
    if (!std::ranges::equal(result, as_bytes("true"))) return;
    std::cout << numbers[input] << '\n';
    ++primes;
  });
  std::cout << primes << " primes\n";
  return primes == 168 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "primes: " << error.what() << '\n';
  return 1;
}
