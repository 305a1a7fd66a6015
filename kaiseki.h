// SPDX-License-Identifier: MIT
// Everything that programs which embed Kaiseki need.
#pragma once

#include "matrix/device.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/pool.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "matrix/tensor.h"
#include "matrix/threads.h"
#include "nn/data/dataset.h"
#include "nn/data/iterator.h"
#include "nn/layer.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/weights.h"
