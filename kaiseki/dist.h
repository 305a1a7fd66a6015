// SPDX-License-Identifier: MIT
// Includes every header that a program needs to give work to a pool. Link with kaiseki::net.
#pragma once

#include "dist/net/task.h"
