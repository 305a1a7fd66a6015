// SPDX-License-Identifier: MIT
// Pictures that stay encoded until they are read: files of a folder, or of an archive.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "matrix/error.h"
#include "nn/data/class_split.h"
#include "nn/data/source.h"
#include "nn/io/file.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxPicture = uint64_t{1} << 30;
constexpr uint64_t kMaxUnpacked = uint64_t{1} << 36;  // of a packed archive, in all
constexpr uint64_t kMaxKept = uint64_t{1} << 33;      // of a packed archive, in memory

/// Pictures by class, of which a subclass gets the encoded bytes.
class EncodedPictures : public PictureSource {
 public:
  explicit EncodedPictures(ClassSplit split) : items_(std::move(split.items)) {
    class_names_ = std::move(split.class_names);
  }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int32_t label(int64_t index) const override { return items_[static_cast<size_t>(index)].label; }

 protected:
  std::vector<ClassSplit::Item> items_;
};

class FolderPictures : public EncodedPictures {
 public:
  FolderPictures(ClassSplit split, fs::path folder, std::vector<std::string> paths)
      : EncodedPictures(std::move(split)), folder_(std::move(folder)), paths_(std::move(paths)) {}

  void read(int64_t index, const Preprocessing& how, Picture& picture) const override {
    fs::path path = folder_ / paths_[items_[static_cast<size_t>(index)].path];
    picture = decode_for(read_file(path, kMaxPicture), path.string(), how);
  }

 private:
  fs::path folder_;
  std::vector<std::string> paths_;
};

/// What lies in a tar: where, and the bytes themselves when the tar is packed.
struct Member {
  uint64_t position = 0, bytes = 0;
  ByteVector contents;
};

class ArchivePictures : public EncodedPictures {
 public:
  ArchivePictures(ClassSplit split, fs::path archive, std::vector<std::string> paths,
                  std::vector<Member> members)
      : EncodedPictures(std::move(split)),
        archive_(std::move(archive)),
        paths_(std::move(paths)),
        members_(std::move(members)) {
    descriptor_ = ::open(archive_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0)
      throw Error(
          message("read", "expected to read ", archive_.string(), ", got: ", std::strerror(errno)));
  }
  ~ArchivePictures() override { ::close(descriptor_); }

  void read(int64_t index, const Preprocessing& how, Picture& picture) const override {
    size_t path = items_[static_cast<size_t>(index)].path;
    const Member& member = members_[path];
    std::string source = archive_.string() + ": " + paths_[path];
    if (!member.contents.empty()) {
      picture = decode_for(member.contents, source, how);
      return;
    }
    ByteVector file(member.bytes);
    ssize_t got =
        ::pread(descriptor_, file.data(), file.size(), static_cast<off_t>(member.position));
    if (got != static_cast<ssize_t>(file.size()))
      throw ParseError(source, "byte " + std::to_string(member.position),
                       "expected a picture, got the end of the file");
    picture = decode_for(file, source, how);
  }

 private:
  fs::path archive_;
  std::vector<std::string> paths_;
  std::vector<Member> members_;
  int descriptor_;
};

bool is_packed(const fs::path& path) {
  FileSource source(path);
  std::byte magic[2] = {};
  source.read(magic);
  return magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
}

}  // namespace

PictureSourcePtr open_picture_folder(const fs::path& folder, bool train) {
  std::vector<std::string> paths;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink))
    if (is_picture_name(entry.path().filename().string()) && entry.is_regular_file())
      paths.push_back(entry.path().lexically_relative(folder).generic_string());
  ClassSplit split = split_by_class(paths, train, folder.string());
  return std::make_unique<FolderPictures>(std::move(split), folder, std::move(paths));
}

PictureSourcePtr open_picture_archive(const fs::path& archive, bool train) {
  bool packed = is_packed(archive);
  std::unique_ptr<ByteSource> source = std::make_unique<FileSource>(archive);
  if (packed) source = std::make_unique<GzipSource>(std::move(source), kMaxUnpacked);
  TarReader tar(*source);
  TarEntry entry;
  std::vector<std::string> paths;
  std::vector<Member> members;
  CifarBatch batch;
  uint64_t kept = 0;
  while (tar.next(entry)) {
    if (entry.is_file && is_cifar_batch(entry.path, train))
      append_cifar_batch(tar.read(kMaxPicture), archive.string() + ": " + entry.path, batch);
    if (!entry.is_file || !is_picture_name(entry.path)) continue;
    Member member{tar.data_position(), entry.bytes, {}};
    if (packed) {
      kept += entry.bytes;
      if (kept > kMaxKept) source->fail("expected at most 8 GiB of pictures; unpack the archive");
      member.contents = tar.read(kMaxPicture);
    } else if (entry.bytes > kMaxPicture) {
      source->fail("expected a picture of at most 1 GiB, got " + entry.path);
    }
    paths.push_back(entry.path);
    members.push_back(std::move(member));
  }
  if (!batch.labels.empty()) return make_cifar(std::move(batch));
  ClassSplit split = split_by_class(paths, train, archive.string());
  if (packed) {
    std::vector<bool> wanted(paths.size());
    for (const auto& item : split.items) wanted[item.path] = true;
    for (size_t i = 0; i < members.size(); ++i)
      if (!wanted[i]) members[i].contents = {};
  }
  return std::make_unique<ArchivePictures>(std::move(split), archive, std::move(paths),
                                           std::move(members));
}

}  // namespace kaiseki::nn
