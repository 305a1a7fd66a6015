// SPDX-License-Identifier: MIT
// Runs dlib's k-means once on x.npy of a folder, with the settings of estimators.cc. Prints the
// same line as vs_ml. The copy of the samples to dlib's vectors is not counted.
//
//   vs_ml_dlib FOLDER
#include <dlib/clustering.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "bench/vs_ml/measure.h"
#include "nn/io/npy.h"

namespace {

using namespace kaiseki;
using Sample = dlib::matrix<float, 0, 1>;

std::vector<Sample> samples_of(const Tensor& x) {
  const float* value = x.data<float>();
  std::vector<Sample> samples(static_cast<size_t>(x.dim(0)), Sample(x.dim(1)));
  for (Sample& sample : samples)
    for (float& element : sample) element = *value++;
  return samples;
}

void run(const std::filesystem::path& folder) {
  const std::vector<Sample> samples = samples_of(nn::read_npy(folder / "x.npy"));
  std::vector<Sample> centers;
  const bench::Figures figures = bench::measure([&] {
    dlib::pick_initial_centers(10, centers, samples);
    dlib::find_clusters_using_kmeans(samples, centers, 20);
  });
  double inertia = 0;
  for (const Sample& sample : samples)
    inertia += dlib::length_squared(sample - centers[dlib::nearest_center(centers, sample)]);
  figures.print();
  std::printf("\"iterations\": 20, \"quality\": %.9g}\n", inertia);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: vs_ml_dlib FOLDER, with x.npy in the folder\n", stderr);
    return 2;
  }
  run(arguments[1]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "vs_ml_dlib: %s\n", error.what());
  return 1;
}
