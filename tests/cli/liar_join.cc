// SPDX-License-Identifier: MIT
// liar_join URL TOKEN_FILE LIE [RESULTS]: a node that trains. After RESULTS correct results it
// sends wrong ones. LIE is flip (signs), huge (times -10000), nan (one number) or shape (of each
// tensor). LIE score instead: a node that answers every fit with the score 1.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "cli/state_folder.h"
#include "dist/net/author.h"
#include "dist/node/node.h"
#include "dist/node/training.h"
#include "matrix/tune/policy.h"
#include "tests/support/lie.h"

using namespace kaiseki;

namespace {

volatile std::sig_atomic_t ended = 0;

const std::map<std::string, test::Attack> kAttacks = {
    {"flip", {.lie = test::Lie::sign_flipped}},
    {"huge", {.lie = test::Lie::scaled, .factor = -1e4}},
    {"nan", {.lie = test::Lie::not_finite}},
    {"shape", {.lie = test::Lie::wrong_shape}},
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4 || argc > 5) return 2;
  std::signal(SIGTERM, [](int) { ended = 1; });
  set_tune_policy({.mode = TuneMode::off, .deterministic = true});
  dist::NodeOptions how;
  how.wire.url = dist::parse_coordinator_url(argv[1]);
  how.wire.token = cli::read_token(argv[2]);
  const bool fits = std::string_view(argv[3]) == "score";
  test::Attack attack = fits ? test::Attack{} : kAttacks.at(argv[3]);
  if (argc == 5) attack.honest_until = std::atoll(argv[4]);
  test::Liar liar(attack);  // one thread, so one ticket at a time
  if (fits)
    how.functions[dist::kFitFunction] = [](ByteView, const dist::TicketContext&) {
      const ByteView one = as_bytes(std::string_view(R"({"score": 1})"));
      return ByteVector(one.begin(), one.end());
    };
  else
    how.functions[dist::kTrainingFunction] = [&, train = dist::training_function(Device::cpu())](
                                                 ByteView input,
                                                 const dist::TicketContext& context) {
      return liar(input, [&](ByteView ticket) { return train(ticket, context); });
    };
  how.stop = [] { return ended != 0; };
  how.info = {.name = "liar", .threads = 1, .gflops = 50};
  dist::Node(std::move(how)).run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
