// SPDX-License-Identifier: MIT
// The pool's subcommands in a build without the pool.
#include "base/error.h"
#include "cli/commands.h"
#include "cli/pool_grid.h"
#include "cli/pool_training.h"

namespace kaiseki::cli {

int run_command(const ServeCommand&) {
  throw Error(message("serve", "this build has no pool: build with -DKAISEKI_DIST=ON"));
}
int run_command(const JoinCommand&) {
  throw Error(message("join", "this build has no pool: build with -DKAISEKI_DIST=ON"));
}

PoolGridResult search_grid_on_pool(const PoolCommand&, std::string_view,
                                   const std::vector<GridCandidate>&, const GridData&, bool) {
  throw Error(message("fit", "--pool: this build has no pool: build with -DKAISEKI_DIST=ON"));
}

struct PoolTraining::Impl {};
PoolTraining::PoolTraining(const PoolTrainCommand&) {
  throw Error(message("train", "--pool: this build has no pool: build with -DKAISEKI_DIST=ON"));
}
PoolTraining::~PoolTraining() = default;
std::unique_ptr<nn::Updater> PoolTraining::make_updater(nn::Network&, nn::Optimizer&, nn::Iterator&,
                                                        const nn::Schedule&) {
  return nullptr;
}
void PoolTraining::extend(nn::Trainer&) {}
std::string PoolTraining::where() const { return {}; }
std::string PoolTraining::status() { return {}; }
std::string PoolTraining::summary() const { return {}; }

}  // namespace kaiseki::cli
