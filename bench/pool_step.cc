// SPDX-License-Identifier: MIT
// pool_step NET.json MODE WIRE BATCH TICKET NODES: runs one training step over a pool in this
// process, on noise. Prints a JSON line with the bytes that it moved.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "base/error.h"
#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
#include "tests/dist/train/noise.h"

using namespace kaiseki;

int main(int count, char** arguments) try {
  if (count != 7) throw Error("usage: pool_step NET.json MODE f32|f16|i8 BATCH TICKET NODES");
  const std::map<std::string, dist::WireType> wires = {
      {"f32", dist::WireType::f32}, {"f16", dist::WireType::f16}, {"i8", dist::WireType::i8}};
  const int64_t batch = std::atoll(arguments[4]);
  dist::PoolTrainingOptions options;
  options.mode = dist::parse_pool_mode(arguments[2]);
  options.wire = wires.at(arguments[3]);
  if (const int64_t samples = std::atoll(arguments[5]); samples > 0)
    options.ticket_samples = samples;
  options.trust = {.checks = {.check_share = 0, .newcomer_checks = 0}};
  std::vector<dist::LocalNode> with;
  for (int i = 0; i < std::atoi(arguments[6]); ++i)
    with.push_back({.name = "node" + std::to_string(i)});
  dist::LocalNodes nodes(with, 1);
  nn::Network network = nn::Network::load(arguments[1], Device::cpu());
  nn::Optimizer optimizer;
  nn::Iterator iterator(std::make_shared<test::Noise>(network.input_shape(), batch,
                                                      network.output_shape().elements()),
                        {.batch_size = batch, .workers = 1});
  dist::PoolUpdater updater(network, optimizer, iterator, {.base = 0.001}, nodes, options);
  const double loss = static_cast<double>(updater.update().loss.item());
  const dist::LocalBytes& bytes = nodes.bytes();
  std::printf(
      "{\"bench\": \"pool_step\", \"network\": \"%s\", \"mode\": \"%s\", \"wire\": \"%s\", "
      "\"batch\": %s, \"ticket\": %s, \"nodes\": %s, \"weights\": %llu, \"tickets\": %llu, "
      "\"results\": %llu, \"samples\": %llu, \"network_json\": %llu, \"loss\": %.6f}\n",
      arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[6],
      static_cast<unsigned long long>(bytes.weights),
      static_cast<unsigned long long>(bytes.tickets),
      static_cast<unsigned long long>(bytes.results),
      static_cast<unsigned long long>(bytes.samples),
      static_cast<unsigned long long>(bytes.network), loss);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
