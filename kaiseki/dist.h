// SPDX-License-Identifier: MIT
// Includes every header of the pool that a program needs. They offer work for a coordinator, a pool
// in the program, and training over nodes. Link with kaiseki::net and kaiseki::dist_train.
#pragma once

#include "dist/net/task.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"
#include "dist/pool/store.h"
#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
