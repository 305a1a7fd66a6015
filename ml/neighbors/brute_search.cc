// SPDX-License-Identifier: MIT
#include "ml/neighbors/brute_search.h"

#include <algorithm>
#include <utility>

#include "ml/cluster/centered_rows.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kSamplesPerChunk = 1024;
constexpr int64_t kMoreCandidates = 8;

/// Calls body(query, first sample, partial distances, norms) for each query and each chunk of
/// samples. The calls for one query are in order. The squared distance is the partial one plus the
/// norm of the query.
template <class Body>
void for_each_chunk(const BruteSearch& search, const CenteredRows& queries, const Body& body) {
  const CenteredRows samples(search.samples, search.mean);
  for (int64_t first = 0; first < samples.count(); first += kSamplesPerChunk) {
    Centers chunk(std::min(kSamplesPerChunk, samples.count() - first), samples.features());
    parallel_for(chunk.count, kRowsPerProduct / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        samples.copy_row(first + i, chunk.row(i));
        chunk.norms[i] = samples.squared_norm(first + i);
      }
    });
    for_each_centered_block(queries, [&](const float* rows, int64_t begin, int64_t count) {
      float* partial = block_scratch(BlockScratch::products, count * chunk.count);
      partial_distances(rows, count, chunk, partial);
      for (int64_t i = 0; i < count; ++i)
        body(begin + i, first, partial + i * chunk.count, chunk.norms);
    });
  }
}

}  // namespace

std::vector<std::vector<FoundNeighbor>> brute_nearest(const BruteSearch& search, int64_t most) {
  const CenteredRows queries(search.queries, search.mean);
  const int64_t features = queries.features();
  const int64_t candidates = std::min(most + kMoreCandidates, search.samples.dim(0));
  std::vector<NearestHeap> heaps(static_cast<size_t>(queries.count()), NearestHeap(candidates));
  for_each_chunk(
      search, queries,
      [&](int64_t query, int64_t first, const float* partial, const std::vector<float>& norms) {
        NearestHeap& heap = heaps[query];
        for (size_t j = 0; j < norms.size(); ++j) {
          if (heap.full() && partial[j] >= heap.worst()) continue;
          const auto sample = static_cast<int32_t>(first + static_cast<int64_t>(j));
          if (!search.same || sample != query) heap.add({partial[j], sample});
        }
      });
  const float *from = search.queries.data<float>(), *to = search.samples.data<float>();
  std::vector<std::vector<FoundNeighbor>> result(heaps.size());
  parallel_for(queries.count(), kRowsPerProduct, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      result[i] = std::move(heaps[i].items());
      for (FoundNeighbor& found : result[i])
        found.squared =
            squared_distance(from + i * features, to + found.index * features, features);
      std::sort(result[i].begin(), result[i].end());
      if (static_cast<int64_t>(result[i].size()) > most)
        result[i].erase(result[i].begin() + most, result[i].end());
    }
  });
  return result;
}

std::vector<std::vector<FoundNeighbor>> brute_within(const BruteSearch& search, float squared) {
  const CenteredRows queries(search.queries, search.mean);
  const int64_t features = queries.features();
  const float *from = search.queries.data<float>(), *to = search.samples.data<float>();
  std::vector<std::vector<FoundNeighbor>> result(static_cast<size_t>(queries.count()));
  for_each_chunk(
      search, queries,
      [&](int64_t query, int64_t first, const float* partial, const std::vector<float>& norms) {
        const float norm = queries.squared_norm(query);
        for (size_t j = 0; j < norms.size(); ++j) {
          const auto sample = static_cast<int32_t>(first + static_cast<int64_t>(j));
          if (partial[j] + norm - distance_slack(norm, norms[j]) > squared ||
              (search.same && sample == query))
            continue;
          const float distance =
              squared_distance(from + query * features, to + sample * features, features);
          if (distance <= squared) result[query].push_back({distance, sample});
        }
      });
  parallel_for(queries.count(), kRowsPerProduct, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::sort(result[i].begin(), result[i].end());
  });
  return result;
}

}  // namespace kaiseki::ml
