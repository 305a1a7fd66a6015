// SPDX-License-Identifier: MIT
// kaiseki bench data: pictures a second of decoding, resizing, cropping, mirroring and normalising,
// as networks for ImageNet are given them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cli/bench.h"
#include "cli/download.h"
#include "matrix/error.h"
#include "matrix/threads.h"
#include "nn/data/iterator.h"
#include "nn/train/json_line.h"

namespace kaiseki::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// From the first batch on, for `seconds` or longer.
double pictures_per_second(nn::Iterator& iterator, double seconds) {
  nn::Batch batch;
  iterator.next(batch);
  const auto start = Clock::now();
  int64_t pictures = 0;
  for (;;) {
    iterator.next(batch);
    pictures += batch.labels.size();
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    if (passed >= seconds) return static_cast<double>(pictures) / passed;
  }
}

}  // namespace

void bench_data(const BenchCommand& c) {
  if (c.cases.empty())
    throw Error("bench data: expected data sets, as train --data takes them, got none");
  for (const std::string& spec : c.cases) {
    nn::DataOptions how;
    how.spec = spec;
    how.preprocessing = {.channels = 3,
                         .height = 224,
                         .width = 224,
                         .resize = 256,
                         .random_crop = true,
                         .flip = true,
                         .mean = {0.485f, 0.456f, 0.406f},
                         .std = {0.229f, 0.224f, 0.225f}};
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
    std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end());
    nn::JsonLine line;
    line.add("bench", "data").add("case", std::filesystem::path(spec).filename().string());
    line.add("decoder", nn::jpeg_decoder()).add("threads", thread_count());
    line.add("batch_size", c.batch_size).add("pictures", data->size());
    line.add("images_per_second", runs[runs.size() / 2]);
    std::printf("%s\n", line.str().c_str());
    std::fflush(stdout);
  }
}

}  // namespace kaiseki::cli
