// SPDX-License-Identifier: MIT
#include "nn/data/catalog.h"

#include <algorithm>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

const std::vector<RemoteSet>& sets() {
  static const std::vector<RemoteSet> all = {
      {"mnist",
       {"https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/", "http://yann.lecun.com/exdb/mnist/"},
       {{"train-images-idx3-ubyte.gz", 9912422,
         "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
        {"train-labels-idx1-ubyte.gz", 28881,
         "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
        {"t10k-images-idx3-ubyte.gz", 1648877,
         "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
        {"t10k-labels-idx1-ubyte.gz", 4542,
         "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}},
      {"fashion-mnist",
       {"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
       {{"train-images-idx3-ubyte.gz", 26421880,
         "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
        {"train-labels-idx1-ubyte.gz", 29515,
         "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
        {"t10k-images-idx3-ubyte.gz", 4422102,
         "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
        {"t10k-labels-idx1-ubyte.gz", 5148,
         "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}}},
      {"cifar10",
       {"https://www.cs.toronto.edu/~kriz/"},
       {{"cifar-10-binary.tar.gz", 170052171,
         "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}}}};
  return all;
}

/// Returns true if the folder has all files of the set, packed or unpacked.
bool holds(const fs::path& folder, const RemoteSet& set) {
  return std::all_of(set.files.begin(), set.files.end(), [&](const RemoteFile& file) {
    fs::path path = folder / file.name;
    return fs::exists(path) || (path.extension() == ".gz" && fs::exists(path.replace_extension()));
  });
}

bool is_filled_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && !fs::is_empty(folder, error);
}

}  // namespace

const RemoteSet* find_remote_set(std::string_view name) {
  for (const RemoteSet& set : sets())
    if (set.name == name) return &set;
  return nullptr;
}

std::string locate_set(const RemoteSet& set, const Fetch& fetch) {
  Environment env = environment();
  fs::path cache = env.cache_dir / "data" / set.name;
  std::vector<fs::path> folders;
  if (!env.data_dir.empty()) folders = {env.data_dir / set.name, env.data_dir};
  folders.push_back(cache);
  for (const fs::path& folder : folders)
    if (holds(folder, set)) return folder;
  // The user may have unpacked the archive or converted it to a tar of pictures.
  if (set.files.size() == 1 && is_filled_folder(folders[0]) && folders[0] != cache)
    return folders[0];
  std::string looked;
  for (const fs::path& folder : folders) looked += (looked.empty() ? "" : ", ") + folder.string();
  const std::string advice = "set KAISEKI_DATA to a folder that has " + set.name + "/";
  if (!fetch)
    throw Error(message("data", "expected the files of ", set.name, " (", set.files[0].name,
                        ", ...), got none in ", looked, "; ", advice));
  fs::create_directories(cache);
  for (const RemoteFile& file : set.files) {
    if (fs::exists(cache / file.name)) continue;
    std::vector<std::string> urls;
    for (const std::string& mirror : set.mirrors) urls.push_back(mirror + file.name);
    try {
      fetch(file, urls, cache / file.name);
    } catch (const Error& error) {
      throw Error(error.as_message() + "; " + set.name + " was not in " + looked + " either; " +
                  advice + ", or take digits, which needs no files");
    }
  }
  return cache;
}

}  // namespace kaiseki::nn
