// SPDX-License-Identifier: MIT
#include "nn/data/dataset.h"

#include "base/error.h"
#include "base/text.h"
#include "matrix/ops/normalize.h"
#include "nn/data/cached_source.h"
#include "nn/data/source.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

/// Converts the pictures of a source to samples.
class PreparedDataset : public Dataset {
 public:
  PreparedDataset(PictureSourcePtr source, const DataOptions& options)
      : source_(std::move(source)),
        how_(options.preprocessing),
        normalization_(options.normalization),
        train_(options.train) {
    Picture first;
    source_->read(0, how_, first);
    how_.channels = first.channels;
    if (!how_.height) how_.height = first.height;
    if (!how_.width) how_.width = first.width;
    check_normalization(normalization_.mean, normalization_.std, sample_shape(), "data");
    std::vector<uint8_t> trial(static_cast<size_t>(sample_shape().elements()));
    prepare_sample(first, how_, nullptr, trial.data());
    uint64_t bytes = first.pixels.size() * static_cast<uint64_t>(source_->size());
    if (!source_->in_memory() && bytes <= options.cache_bytes)
      source_ = cached(std::move(source_), first);
  }

  int64_t size() const override { return source_->size(); }
  Shape sample_shape() const override { return {how_.channels, how_.height, how_.width}; }
  int classes() const override { return static_cast<int>(source_->class_names().size()); }
  std::vector<std::string> class_names() const override { return source_->class_names(); }
  Normalization normalization() const override { return normalization_; }

  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    check_index(index);
    thread_local Picture picture;
    source_->read(index, how_, picture);
    prepare_sample(picture, how_, train_ ? &augmentation : nullptr, out);
    label = source_->label(index);
  }

  std::optional<SampleFile> file(int64_t index, Random& augmentation) const override {
    check_index(index);
    std::optional<ByteVector> bytes = source_->file(index);
    if (!bytes) return {};
    const PictureSize whole = upright_size(*bytes, source_->name(index), how_.as_stored);
    const SamplePlace place = place_sample(whole, how_, train_ ? &augmentation : nullptr);
    return SampleFile{std::move(*bytes), place, how_.as_stored};
  }

 private:
  void check_index(int64_t index) const {
    if (index < 0 || index >= size())
      throw Error(message("data", "expected an index under ", size(), ", got ", index));
  }

  PictureSourcePtr source_;
  Preprocessing how_;
  Normalization normalization_;
  bool train_;
};

uint64_t parse_count(std::string_view text, std::string_view spec) {
  const auto value = parse_number<uint64_t>(text);
  if (!value || *value > 1'000'000'000)
    throw Error(message("data", "expected digits[:COUNT[:SEED]], got '", spec, "'"));
  return *value;
}

/// The test part has a fifth as many digits as the training part.
PictureSourcePtr open_digits(std::string_view spec, bool train) {
  uint64_t count = 20000, seed = 1;
  std::string_view rest = spec.substr(6);
  if (!rest.empty()) {
    rest.remove_prefix(1);
    size_t colon = rest.find(':');
    count = parse_count(rest.substr(0, colon), spec);
    if (colon != std::string_view::npos) seed = parse_count(rest.substr(colon + 1), spec);
  }
  if (count == 0) throw Error(message("data", "expected one digit or more, got '", spec, "'"));
  return make_digits(static_cast<int64_t>(train ? count : (count + 4) / 5), seed, train);
}

bool is_archive_name(const fs::path& path) {
  std::string name = path.filename().string();
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz");
}

PictureSourcePtr open_path(const fs::path& path, bool train) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw Error(message("data",
                        "expected mnist, fashion-mnist, cifar10, digits or an existing path",
                        ", got '", path.string(), "'"));
  if (!fs::is_directory(path) && !fs::is_regular_file(path))
    throw Error(
        message("data", "expected a file or a folder, got the special file ", path.string()));
  if (!fs::is_directory(path))
    return path.extension() == ".txt" ? open_picture_list(path, train)
                                      : open_picture_archive(path, train);
  if (is_idx_folder(path)) return open_idx_folder(path, train);
  if (is_cifar_folder(path)) return open_cifar_folder(path, train);
  if (is_cifar_folder(path / "cifar-10-batches-bin"))
    return open_cifar_folder(path / "cifar-10-batches-bin", train);
  if (is_list_folder(path)) return open_list_folder(path, train);
  std::vector<fs::path> archives;
  for (const auto& entry : fs::directory_iterator(path))
    if (is_archive_name(entry.path())) archives.push_back(entry.path());
  if (archives.size() == 1) return open_picture_archive(archives[0], train);
  return open_picture_folder(path, train);
}

PictureSourcePtr open_source(const DataOptions& options) {
  const std::string& spec = options.spec;
  if (spec == "digits" || spec.starts_with("digits:")) return open_digits(spec, options.train);
  if (const RemoteSet* set = find_remote_set(spec))
    return open_path(locate_set(*set, options.fetch), options.train);
  return open_path(spec, options.train);
}

}  // namespace

std::optional<SampleFile> Dataset::file(int64_t, Random&) const { return {}; }

Tensor Batch::inputs(const Device& device) const {
  return normalize(images.to(device), normalization.mean, normalization.std);
}

std::unique_ptr<Dataset> open_dataset(const DataOptions& options) {
  PictureSourcePtr source = open_source(options);
  if (source->size() == 0)
    throw Error(message("data", "expected pictures in ", options.spec, ", got none"));
  return std::make_unique<PreparedDataset>(std::move(source), options);
}

}  // namespace kaiseki::nn
