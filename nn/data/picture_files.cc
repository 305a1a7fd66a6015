// SPDX-License-Identifier: MIT
// Pictures that are decoded when they are read: files of a folder or of an archive.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "nn/data/class_split.h"
#include "nn/data/source.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxPicture = uint64_t{1} << 30;
constexpr uint64_t kMaxUnpacked = uint64_t{1} << 36;  // of a compressed archive, in total
constexpr uint64_t kMaxKept = uint64_t{1} << 33;      // of a compressed archive, in memory

/// Pictures by class. Subclasses read the files.
class EncodedPictures : public PictureSource {
 public:
  explicit EncodedPictures(ClassSplit split) : items_(std::move(split.items)) {
    class_names_ = std::move(split.class_names);
  }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int32_t label(int64_t index) const override { return items_[static_cast<size_t>(index)].label; }

  void read(int64_t index, const Preprocessing& how, Picture& picture) const override {
    picture = decode_for(*file(index), name(index), how);
  }

 protected:
  size_t path_of(int64_t index) const { return items_[static_cast<size_t>(index)].path; }

 private:
  std::vector<ClassSplit::Item> items_;
};

class FolderPictures : public EncodedPictures {
 public:
  FolderPictures(ClassSplit split, fs::path folder, std::vector<std::string> paths)
      : EncodedPictures(std::move(split)), folder_(std::move(folder)), paths_(std::move(paths)) {}

  std::optional<ByteVector> file(int64_t index) const override {
    return read_file(name(index), kMaxPicture);
  }
  std::string name(int64_t index) const override {
    return (folder_ / paths_[path_of(index)]).string();
  }

 private:
  fs::path folder_;
  std::vector<std::string> paths_;
};

/// A file in a tar: its position, or its bytes if the tar is compressed.
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
      throw Error(message("read", "cannot read ", archive_.string(), ": ", std::strerror(errno)));
  }
  ~ArchivePictures() override { ::close(descriptor_); }

  std::optional<ByteVector> file(int64_t index) const override {
    const Member& member = members_[path_of(index)];
    if (!member.contents.empty()) return member.contents;
    ByteVector file(member.bytes);
    ssize_t got =
        ::pread(descriptor_, file.data(), file.size(), static_cast<off_t>(member.position));
    if (got != static_cast<ssize_t>(file.size()))
      throw ParseError(name(index), "byte " + std::to_string(member.position),
                       "expected a picture, got the end of the file");
    return file;
  }
  std::string name(int64_t index) const override {
    return archive_.string() + ": " + paths_[path_of(index)];
  }

 private:
  fs::path archive_;
  std::vector<std::string> paths_;
  std::vector<Member> members_;
  int descriptor_;
};

/// Whether `folder` is `other` or lies above it.
bool contains(const fs::path& folder, const fs::path& other) {
  return std::mismatch(folder.begin(), folder.end(), other.begin(), other.end()).first ==
         folder.end();
}

/// The paths of all pictures below a folder, relative to it. Warns of files that cannot be read. A
/// link to a folder above is not followed.
std::vector<std::string> find_pictures(const fs::path& folder) {
  std::vector<std::string> paths;
  std::vector<fs::path> above = {fs::canonical(folder)};  // the folders on the way to the entry
  int64_t unreadable = 0;
  std::string first;
  constexpr auto kFollow = fs::directory_options::follow_directory_symlink;
  for (auto at = fs::recursive_directory_iterator(folder, kFollow);
       at != fs::recursive_directory_iterator(); ++at) {
    const auto depth = static_cast<size_t>(at.depth()) + 1;
    std::error_code error;  // of a dead link, or of a link to itself
    const fs::file_type type = at->status(error).type();
    if (type == fs::file_type::directory) {
      const fs::path target = fs::canonical(at->path());
      above.resize(depth);
      const bool leads_up =
          std::ranges::any_of(above, [&](const fs::path& one) { return contains(target, one); });
      if (leads_up) {
        at.disable_recursion_pending();
        log_warning_once(message("data", "does not follow ", at->path().string(),
                                 ", which leads to a folder above it"));
      }
      above.push_back(target);
      continue;
    }
    at.disable_recursion_pending();
    const bool is_dead_link = type == fs::file_type::not_found || (error && at->is_symlink(error));
    const bool is_picture = is_picture_name(at->path().filename().string());
    if (is_picture && type == fs::file_type::regular)
      paths.push_back(at->path().lexically_relative(folder).generic_string());
    else if ((is_dead_link || is_picture) && unreadable++ == 0)
      first = at->path().string() + (is_dead_link ? ", a dead link" : ", no regular file");
  }
  if (unreadable)
    log_warning_once(message("data", "skipping ", unreadable,
                             unreadable > 1 ? " entries" : " entry", " of ", folder.string(), ": ",
                             first, unreadable > 1 ? ", and others" : ""));
  return paths;
}

bool is_packed(const fs::path& path) {
  FileSource source(path);
  std::byte magic[2] = {};
  source.read(magic);
  return magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
}

}  // namespace

PictureSourcePtr make_folder_pictures(ClassSplit split, fs::path folder,
                                      std::vector<std::string> paths) {
  return std::make_unique<FolderPictures>(std::move(split), std::move(folder), std::move(paths));
}

PictureSourcePtr open_picture_folder(const fs::path& folder, bool train) {
  std::vector<std::string> paths = find_pictures(folder);
  ClassSplit split = split_by_class(paths, train, folder.string());
  return make_folder_pictures(std::move(split), folder, std::move(paths));
}

PictureSourcePtr open_picture_archive(const fs::path& archive, bool train) {
  if (!begins_as_tar(*open_maybe_gzip(archive, kMaxUnpacked)))
    throw Error(message("data", "expected a folder, a tar file or a list (.txt), got ",
                        archive.string(), ", a file of another format"));
  const bool packed = is_packed(archive);
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
      if (kept > kMaxKept)
        source->fail(
            "the compressed archive has more than 8 GiB of pictures; decompress the archive");
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
