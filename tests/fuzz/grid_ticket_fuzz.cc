// SPDX-License-Identifier: MIT
// Reads tickets, samples and scores of kaiseki fit --pool. Each must survive a second writing and
// reading.
#include <cmath>

#include "cli/grid_ticket.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;
using namespace kaiseki::cli;

namespace {

template <class Read>
void read_and_ignore_errors(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace

KAISEKI_FUZZ(bytes) {
  read_and_ignore_errors([&] {
    const GridSamples samples = decode_grid_samples(bytes);
    const ByteVector again = encode_grid_samples(samples);
    if (encode_grid_samples(decode_grid_samples(again)) != again) __builtin_trap();
    memory_for_fit("SVC", Json::object(), samples);
  });
  read_and_ignore_errors([&] {
    const double score = decode_score(bytes);
    if (std::isfinite(score) && decode_score(encode_score(score)) != score) __builtin_trap();
  });
  const GridTicket ticket = decode_grid_ticket(bytes);
  const ByteVector again = encode_grid_ticket(ticket);
  if (encode_grid_ticket(decode_grid_ticket(again)) != again) __builtin_trap();
}
