// SPDX-License-Identifier: MIT
#include "cli/rescued_files.h"

#include "base/environment.h"
#include "base/error.h"
#include "cli/private_folder.h"
#include "nn/train/checkpoint.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that does not exist yet. It must not be another run's folder, which --resume would
/// continue.
fs::path new_folder(const fs::path& parent, const std::string& name) {
  std::error_code error;
  fs::path folder = parent / name;
  for (int i = 2; fs::exists(folder, error); ++i)
    folder = parent / (name + "-" + std::to_string(i));
  return folder;
}

fs::path write_in(const fs::path& parent, const fs::path& network_file, nn::Trainer& trainer,
                  const WeightsInfo& info) {
  const fs::path folder = new_folder(parent, network_file.stem().string() + ".checkpoint");
  fs::path file = nn::checkpoint_file(folder, trainer.step());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(
        message("train", "cannot make the folder ", folder.string(), ": ", error.message()));
  try {
    nn::write_checkpoint(file, trainer, to_metadata(info));
  } catch (const Error&) {
    fs::remove(folder, error);  // only if it is empty
    throw;
  }
  return file;
}

}  // namespace

fs::path rescue_checkpoint(const fs::path& network_file, nn::Trainer& trainer,
                           const WeightsInfo& info) {
  std::string problem;
  try {
    return write_in("", network_file, trainer, info);
  } catch (const Error& error) {
    problem = error.what();
  }
  try {
    const fs::path folder = environment().state_dir;
    make_private_folder("train", folder);
    return write_in(folder, network_file, trainer, info);
  } catch (const Error& error) {
    throw Error(problem + "; " + error.what());
  }
}

fs::path rescue_weights(const fs::path& network_file, nn::Network& network,
                        const WeightsInfo& info) {
  const fs::path folder = environment().state_dir / "weights";
  make_private_folder("train", folder.parent_path());
  make_private_folder("train", folder);
  fs::path file = folder / (network_file.stem().string() + ".safetensors");
  nn::write_weights(file, network, to_metadata(info));
  return file;
}

}  // namespace kaiseki::cli
