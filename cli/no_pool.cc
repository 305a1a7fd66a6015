// SPDX-License-Identifier: MIT
// kaiseki serve, kaiseki join and kaiseki train --pool where the pool is not built.
#include "cli/commands.h"
#include "cli/pool_training.h"
#include "matrix/error.h"

namespace kaiseki::cli {

int run_command(const ServeCommand&) {
  throw Error("[serve] expected a build with the pool (-DKAISEKI_DIST=ON), got one without");
}
int run_command(const JoinCommand&) {
  throw Error("[join] expected a build with the pool (-DKAISEKI_DIST=ON), got one without");
}

struct PoolTraining::Impl {};
PoolTraining::PoolTraining(const PoolTrainCommand&) {
  throw Error(
      "[train] expected a build with the pool (-DKAISEKI_DIST=ON) for --pool, got one without");
}
PoolTraining::~PoolTraining() = default;
std::unique_ptr<nn::Updater> PoolTraining::make_updater(nn::Network&, nn::Optimizer&, nn::Iterator&,
                                                        const nn::Schedule&,
                                                        const std::vector<float>&,
                                                        const std::vector<float>&) {
  return nullptr;
}
void PoolTraining::extend(nn::Trainer&) {}
std::string PoolTraining::where() const { return {}; }
std::string PoolTraining::status() { return {}; }
std::string PoolTraining::summary() const { return {}; }

}  // namespace kaiseki::cli
