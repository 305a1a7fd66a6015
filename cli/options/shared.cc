// SPDX-License-Identifier: MIT
#include "cli/options/shared.h"

#include "base/environment.h"
#include "base/error.h"
#include "cli/options/tune_modes.h"
#include "matrix/backend/registry.h"

namespace kaiseki::cli {
namespace {

bool is_workspace(std::string_view text) {
  if (text == "auto" || text == "none") return true;
  try {
    parse_bytes(std::string(text), "--workspace");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool is_bytes(std::string_view text) {
  try {
    return parse_bytes(text, "--memory") > 0;
  } catch (const Error&) {
    return false;
  }
}

void add_network(OptionSet& set, std::string& network) {
  set.text("network", "NET", network,
           "A JSON or ONNX file, or the name of a network, such as lenet. Named networks are in "
           "./models or installed")
      .required();
}

void add_weights(OptionSet& set, std::string& weights) {
  set.text("--weights", "FILE", weights,
           "File of weights (.safetensors, .json, .tar or .onnx), or a folder of checkpoints: its "
           "best weights. Not needed if NET holds weights");
}

void add_device(OptionSet& set, DeviceOptions& options) {
  const std::string forms = device_forms();
  set.checked_text("--device", "DEVICE", options.device, forms, names_device,
                   (forms + " (default: KAISEKI_DEVICE, else auto)").c_str());
  set.whole("--threads", options.threads, {0, 1024},
            "Number of CPU threads (default: KAISEKI_THREADS, else one for each core)");
}

void add_convolutions(OptionSet& set, DeviceOptions& options) {
  OptionSet group = set.group("Convolutions");
  group.checked_text("--workspace", "BYTES", options.workspace, "auto, none, or bytes such as 512M",
                     is_workspace,
                     "Memory that makes convolutions faster: auto (the free memory), none, or "
                     "bytes such as 8M");
  group.choice("--tune", options.tune, tune_mode_names(),
               "How solvers are chosen. off: without measurements. cached: by stored measurements. "
               "hybrid: also measure large convolutions that are new. exhaustive: measure all "
               "again. amortized: measure during training");
  group.flag("--deterministic", options.deterministic,
             "Choose no solver by measurements. The results then have the same bits with any "
             "number of threads");
}

PoolGroup add_pool(OptionSet& set, PoolCommand& options, const char* help) {
  OptionSet group = set.group("Pool");
  const AddedOption pool = group.checked_text(
      "--pool", "serve|URL", options.where, "serve or a URL such as http://127.0.0.1:8080",
      [](std::string_view text) {
        return text == "serve" || text.find("://") != std::string_view::npos;
      },
      help);
  group.all_need(pool);
  group.text("--pool-token-file", "FILE", options.token_file,
             "With --pool URL: file with the coordinator's token for authors (default: the one in "
             "KAISEKI_STATE_DIR)");
  group.text("--pool-tls-ca", "FILE", options.certificates,
             "With --pool URL: certificates to trust, in PEM format (default: the system's)");
  group.whole("--pool-port", options.port, {0, 65535},
              "With --pool serve: port to listen on (default: 8080; 0: any free port). If your "
              "kaiseki serve listens there, this command uses it");
  group.text("--pool-log", "FILE", options.log,
             "With --pool serve: write the pool's events to this file as JSON lines");
  return {group, pool};
}

void add_as_stored(OptionSet& set, bool& as_stored) {
  set.flag("--as-stored", as_stored,
           "Do not turn pictures upright: ignore the orientation that cameras store (Exif)");
}

void add_data(OptionSet& set, DataFlags& options) {
  set.text("--data", "DATA", options.data,
           "mnist, fashion-mnist, cifar10, digits, a folder or tar file of pictures, or a list of "
           "pictures (.txt). A folder or tar file has a folder for each class")
      .required();
  set.whole("--limit", options.limit, {}, "Use only N samples, spread evenly (0: all)");
  set.whole("--resize", options.resize, {1, 16384},
            "Scale the shorter side to N pixels, then crop (default: the value stored with the "
            "weights). If none is stored, N is the smallest that covers the network's input");
  set.reals("--mean", options.mean, kAnyNumber,
            "Subtract these numbers from pixels in 0..1: one number, or one for each channel");
  set.text("--mean-image", "FILE", options.mean_image,
           "Subtract this mean image from pixels in 0..1, in place of --mean. The .npy file "
           "has float32 values in the shape of the network's input");
  set.reals("--std", options.std, kAboveZero,
            "Divide pixels by these numbers, after --mean: one number, or one for each channel");
  add_as_stored(set, options.as_stored);
}

}  // namespace kaiseki::cli
