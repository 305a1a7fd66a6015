// SPDX-License-Identifier: MIT
// The tickets of kaiseki fit --pool (docs/protocol-fit.md). A ticket asks for the score of one
// model with one set of settings on one fold.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/json.h"
#include "dist/node/functions.h"
#include "matrix/tensor.h"

namespace kaiseki::cli {

struct GridTicket {
  dist::BlobHash data;
  std::string model;
  Json settings;  // an object
  int64_t fold = 0, folds = 5;
  bool scale = false;
};
ByteVector encode_grid_ticket(const GridTicket& ticket);
/// Throws Error for bytes that encode_grid_ticket() does not write.
GridTicket decode_grid_ticket(ByteView bytes);

/// Samples, f32 [n, features], and targets, i32 [n] or f32 [n] or f32 [n, outputs], on the CPU.
struct GridSamples {
  Tensor x, y;
};
ByteVector encode_grid_samples(const GridSamples& samples);
/// Throws Error for other names, types and shapes, and for NaN and infinity.
GridSamples decode_grid_samples(ByteView bytes);

/// A score that is not finite becomes NaN.
ByteVector encode_score(double score);
/// Throws ParseError.
double decode_score(ByteView bytes);

/// An estimate of the bytes that a fit of these samples needs, with the samples' copies.
uint64_t memory_for_fit(const std::string& model, const Json& settings, const GridSamples& samples);

/// The function kaiseki.fit of a node. It computes one ticket at a time with all threads of the
/// device. It keeps the samples of the last ticket. Throws Error for a ticket that it cannot
/// compute, or that would need more memory than it may take.
dist::NodeFunction fit_function(Device device);

}  // namespace kaiseki::cli
