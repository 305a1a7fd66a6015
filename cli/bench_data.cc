// SPDX-License-Identifier: MIT
// kaiseki bench data: the rate of decoding, resizing, cropping, mirroring and normalizing pictures
// as for ImageNet networks.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/json_line.h"
#include "base/median.h"
#include "cli/bench.h"
#include "cli/download.h"
#include "matrix/threads.h"
#include "nn/data/iterator.h"

namespace kaiseki::cli {
namespace {

/// Measures from the first batch on, for at least `seconds`.
double pictures_per_second(nn::Iterator& iterator, double seconds) {
  nn::Batch batch;
  auto next = [&] {
    iterator.next(batch);
    batch.inputs(Device::cpu());
  };
  next();
  const double start = steady_seconds();
  int64_t pictures = 0;
  for (;;) {
    next();
    pictures += batch.labels.size();
    const double passed = steady_seconds() - start;
    if (passed >= seconds) return static_cast<double>(pictures) / passed;
  }
}

}  // namespace

void bench_data(const BenchCommand& c) {
  if (c.cases.empty())
    throw Error(message("bench", "expected data sets, as for train --data, got none"));
  for (const std::string& spec : c.cases) {
    nn::DataOptions how;
    how.spec = spec;
    how.preprocessing = {.channels = 3,
                         .height = 224,
                         .width = 224,
                         .resize = 256,
                         .random_crop = true,
                         .flip = true};
    how.normalization = {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
    how.cache_bytes = 0;
    how.fetch = download;
    const std::shared_ptr<const nn::Dataset> data = nn::open_dataset(how);
    nn::IteratorOptions order;
    order.batch_size = c.batch_size;
    order.workers = thread_count();
    std::vector<double> runs;
    for (int64_t i = 0; i < c.repeat; ++i) {
      nn::Iterator iterator(data, order);
      runs.push_back(pictures_per_second(iterator, c.seconds));
    }
    JsonLine line;
    line.add("bench", "data").add("case", std::filesystem::path(spec).filename().string());
    line.add("decoder", nn::jpeg_decoder()).add("threads", thread_count());
    line.add("batch_size", c.batch_size).add("pictures", data->size());
    line.add("images_per_second", median(runs));
    std::printf("%s\n", line.str().c_str());
    std::fflush(stdout);
  }
}

}  // namespace kaiseki::cli
