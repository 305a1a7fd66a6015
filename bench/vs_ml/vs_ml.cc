// SPDX-License-Identifier: MIT
// Runs one estimator once on x.npy and y.npy of a folder. Prints its time, its peak memory and its
// quality as a line of JSON. run.py compares them with scikit-learn's.
//
//   vs_ml ESTIMATOR FOLDER
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string>

#include "bench/vs_ml/estimators.h"
#include "bench/vs_ml/process_memory.h"
#include "matrix/backend/dispatch.h"
#include "nn/io/npy.h"

namespace {

using namespace kaiseki;

void run(const bench::Estimator& estimator, const std::filesystem::path& folder) {
  const Device device = Device::parse("");  // KAISEKI_DEVICE
  const bench::Data data{nn::read_npy(folder / "x.npy").to(device),
                         nn::read_npy(folder / "y.npy").to(device)};
  for (const Tensor* t : {&data.x, &data.y}) t->buffer().on_device(Access::read);  // uploads it
  device.synchronize();
  bench::reset_peak();
  const double before = bench::status_bytes("VmRSS");
  const uint64_t fallbacks = fallback_count();
  const std::clock_t cpu = std::clock();
  const auto start = std::chrono::steady_clock::now();
  const bench::Outcome outcome = estimator.run(data);
  device.synchronize();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const double peak = bench::status_bytes("VmHWM");
  std::printf(
      "{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_memory\": %.0f, \"added_memory\": %.0f, "
      "\"iterations\": %lld, \"fallbacks\": %lld, \"quality\": %.9g}\n",
      seconds.count(), cpu_seconds, peak, peak - before, static_cast<long long>(outcome.iterations),
      static_cast<long long>(fallback_count() - fallbacks), outcome.quality());
}

}  // namespace

int main(int count, char** arguments) try {
  for (const bench::Estimator& estimator : bench::estimators())
    if (count == 3 && estimator.name == arguments[1]) {
      run(estimator, arguments[2]);
      return 0;
    }
  std::fputs("usage: vs_ml ESTIMATOR FOLDER, with x.npy and y.npy in the folder\nestimators:",
             stderr);
  for (const bench::Estimator& estimator : bench::estimators())
    std::fprintf(stderr, " %s", estimator.name.c_str());
  std::fputs("\n", stderr);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "vs_ml: %s\n", error.what());
  return 1;
}
