// SPDX-License-Identifier: MIT
// Runs one estimator once on x.npy and y.npy of a folder. Prints its time, its peak memory and its
// quality as a line of JSON. run.py compares them with scikit-learn's.
//
//   vs_ml ESTIMATOR FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "bench/vs_ml/estimators.h"
#include "bench/vs_ml/measure.h"
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
  const uint64_t fallbacks = fallback_count();
  bench::Outcome outcome;
  const bench::Figures figures = bench::measure([&] {
    outcome = estimator.run(data);
    device.synchronize();
  });
  figures.print();
  std::printf("\"iterations\": %lld, \"fallbacks\": %lld, \"quality\": %.9g}\n",
              static_cast<long long>(outcome.iterations),
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
