// SPDX-License-Identifier: MIT
// Includes every header that a program needs to add a backend or a convolution solver.
#pragma once

#include "matrix/backend/backend.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/backend/operations/batch_norm.h"
#include "matrix/backend/operations/cluster.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/operations/cross_entropy.h"
#include "matrix/backend/operations/elementwise.h"
#include "matrix/backend/operations/fold.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/backend/operations/index.h"
#include "matrix/backend/operations/lrn.h"
#include "matrix/backend/operations/normalize.h"
#include "matrix/backend/operations/pool.h"
#include "matrix/backend/operations/random.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/backend/operations/softmax.h"
#include "matrix/backend/operations/sort.h"
#include "matrix/backend/operations/triangle.h"
#include "matrix/backend/registry.h"
#include "matrix/conv/solver.h"
