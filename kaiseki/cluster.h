// SPDX-License-Identifier: MIT
// Includes every header for training on the ranks of MPI. Link with kaiseki::cluster.
#pragma once

#include "dist/cluster/cluster.h"
#include "dist/cluster/cluster_evaluator.h"
#include "dist/cluster/cluster_updater.h"
#include "dist/cluster/collectives.h"
#include "dist/cluster/hybrid_plan.h"
#include "dist/cluster/hybrid_updater.h"
