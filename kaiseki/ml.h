// SPDX-License-Identifier: MIT
// Includes every header of classic machine learning. Link with kaiseki::ml.
#pragma once

