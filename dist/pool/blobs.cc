// SPDX-License-Identifier: MIT
#include "dist/pool/blobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "dist/pool/crash_point.h"
#include "dist/pool/crypto.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = "tmp-", kDamaged = ".damaged";
constexpr uint64_t kCheckEvery = uint64_t{16} << 20;  // bytes between two looks at the free disk

[[noreturn]] void fail(const fs::path& path, std::string_view operation, int error) {
  const Message what = message("blob", "expected to ", operation, " ", path.string(),
                               ", got: ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT)
    throw DiskFull(what + "; make room on the disk, other blobs are as before");
  throw Error(what);
}

}  // namespace

struct BlobStore::Writer::Impl {
  BlobStore& store;
  fs::path path;
  int descriptor = -1;
  Sha256 hasher;
  uint64_t size = 0, room_until = 0;

  Impl(BlobStore& owner, fs::path temporary) : store(owner), path(std::move(temporary)) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) fail(path, "write", errno);
  }
  ~Impl() {
    if (descriptor >= 0) ::close(descriptor);
    if (!path.empty()) ::unlink(path.c_str());
  }

  void expect_room(uint64_t bytes) {
    if (size + bytes > store.limits_.max_blob)
      throw Error(message("blob", "the blob has more than ", format_bytes(store.limits_.max_blob),
                          "; cut it into several"));
    if (size + bytes <= room_until) return;
    const uint64_t ahead = std::max(bytes, kCheckEvery);
    std::error_code error;
    const uint64_t available = fs::space(store.folder_, error).available;
    if (error) fail(store.folder_, "write in", error.value());
    if (available < store.limits_.free_floor || available - store.limits_.free_floor < bytes)
      throw DiskFull(message("blob", "expected room for ", format_bytes(bytes), " and ",
                             format_bytes(store.limits_.free_floor), " left over on the disk of ",
                             store.folder_.string(), ", got ", format_bytes(available),
                             "; make room, other blobs are as before"));
    room_until = size + std::min(ahead, available - store.limits_.free_floor);
  }
};

BlobStore::Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BlobStore::Writer::Writer(Writer&&) noexcept = default;
BlobStore::Writer::~Writer() = default;

void BlobStore::Writer::write(ByteView bytes) {
  impl_->expect_room(bytes.size());
  impl_->hasher.update(bytes);
  impl_->size += bytes.size();
  while (!bytes.empty()) {
    const ssize_t done = ::write(impl_->descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(impl_->path, "write", done < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

BlobHash BlobStore::Writer::finish(const BlobHash& expected) {
  const BlobHash hash = impl_->hasher.finish();
  if (!expected.empty() && hash != expected)
    throw Error(message("blob", "expected bytes whose SHA-256 is ", expected, ", got ", hash,
                        "; send them again"));
  BlobStore& store = impl_->store;
  if (store.limits_.durable && ::fsync(impl_->descriptor) != 0) fail(impl_->path, "sync", errno);
  const int closed = ::close(impl_->descriptor);
  impl_->descriptor = -1;
  if (closed != 0) fail(impl_->path, "write", errno);
  crash_point("blob.written");
  const fs::path target = store.path_of(hash);
  if (::rename(impl_->path.c_str(), target.c_str()) != 0) fail(target, "write", errno);
  impl_->path.clear();
  crash_point("blob.renamed");
  if (store.limits_.durable) store.sync_folder();
  store.verified_[hash] = fs::last_write_time(target);
  store.checks_.erase(hash);
  return hash;
}

struct BlobStore::Check {
  Time changed;  // of the file
  uint64_t done = 0;
  Sha256 hasher = {};
};

BlobStore::BlobStore(fs::path folder, BlobLimits limits)
    : folder_(std::move(folder)), limits_(limits) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error) fs::permissions(folder_, fs::perms::owner_all, error);
  if (error) fail(folder_, "make", error.value());
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with(kTemporary)) fs::remove(entry.path());
  if (!limits_.durable) return;
  opened_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened_ < 0) fail(folder_, "open", errno);
  // Syncs the names of blobs from just before a crash: put() takes a blob with a name as stored.
  sync_folder();
  sync_parent();
}

BlobStore::~BlobStore() {
  if (opened_ >= 0) ::close(opened_);
}

/// If the sync fails, the pool ends: the name exists already, and a second sync would report
/// success. The folder is opened before, so that nothing else can fail here.
void BlobStore::sync_folder() const {
  if (::fsync(opened_) != 0)
    throw StoreLost(message("blob", "expected to sync ", folder_.string(),
                            ", got: ", std::strerror(errno), "; check the disk, then start again"));
}

/// The folder itself may be new in its parent.
void BlobStore::sync_parent() const {
  const fs::path parent = fs::absolute(folder_).parent_path();
  const int opened = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && ::fsync(opened) == 0;
  const int error = errno;
  if (opened >= 0) ::close(opened);
  if (!synced) fail(parent, "sync", error);
}

fs::path BlobStore::path_of(const BlobHash& hash) const {
  if (!is_sha256(hash))
    throw Error(
        message("blob", "expected 64 hexadecimal digits, got ", hash.size(), " characters"));
  return folder_ / hash;
}

BlobStore::Writer BlobStore::writer() {
  std::byte random[16];
  random_bytes(random);
  return Writer(
      std::make_unique<Writer::Impl>(*this, folder_ / (std::string(kTemporary) + to_hex(random))));
}

BlobHash BlobStore::put(ByteView bytes) {
  const BlobHash hash = sha256(bytes);
  const fs::path path = path_of(hash);
  std::error_code error;
  if (fs::file_size(path, error) == bytes.size() && !error && touch(hash)) return hash;
  Writer out = writer();
  out.write(bytes);
  return out.finish();
}

bool BlobStore::touch(const BlobHash& hash) {
  const fs::path path = path_of(hash);
  std::error_code error;
  const auto before = fs::last_write_time(path, error);
  if (error) return false;
  const auto known = verified_.find(hash);
  if (known == verified_.end() || known->second != before) return false;
  fs::last_write_time(path, Time::clock::now(), error);
  if (error) return false;
  known->second = fs::last_write_time(path);
  return true;
}

bool BlobStore::contains(const BlobHash& hash) const { return fs::exists(path_of(hash)); }

uint64_t BlobStore::size(const BlobHash& hash) const {
  std::error_code error;
  const uint64_t size = fs::file_size(path_of(hash), error);
  if (error) throw Error(message("blob", "expected the blob ", hash, ", got none; put it first"));
  return size;
}

bool BlobStore::check(const BlobHash& hash, uint64_t most) {
  const fs::path path = path_of(hash);
  const uint64_t size = this->size(hash);
  const auto changed = fs::last_write_time(path);
  if (auto known = verified_.find(hash); known != verified_.end() && known->second == changed)
    return true;
  std::unique_ptr<Check>& begun = checks_[hash];
  if (!begun || begun->changed != changed)
    begun = std::make_unique<Check>(Check{.changed = changed});
  FileSource file(path);
  file.skip(begun->done, "the bytes before");
  ByteVector buffer(1 << 18);
  for (const uint64_t end = begun->done + most; begun->done < end;) {
    const size_t count =
        file.read(std::span(buffer).first(std::min(buffer.size(), end - begun->done)));
    begun->hasher.update(std::span(buffer).first(count));
    begun->done += count;
    if (count == 0) break;
  }
  if (begun->done < size) return false;
  const auto ended = std::exchange(begun, nullptr);
  checks_.erase(hash);
  if (ended->hasher.finish() != hash) {
    fs::rename(path, path.string() + std::string(kDamaged));
    throw Error(message("blob", "the file of ", hash, " is damaged; put the blob again"));
  }
  verified_[hash] = changed;
  return true;
}

void BlobStore::check_whole(const BlobHash& hash) {
  while (!check(hash, kCheckEvery)) {
  }
}

bool BlobStore::is_whole(const BlobHash& hash) {
  try {
    check_whole(hash);
    return true;
  } catch (const Error&) {
    return false;
  }
}

ByteVector BlobStore::read(const BlobHash& hash, uint64_t offset, uint64_t count) {
  check_whole(hash);
  FileSource file(path_of(hash));
  const uint64_t size = this->size(hash);
  const uint64_t first = std::min(offset, size);
  file.skip(first, "the bytes before");
  return file.read_bytes(std::min(count, size - first), "the blob");
}

ByteVector BlobStore::read(const BlobHash& hash) { return read(hash, 0, limits_.max_blob); }

int64_t BlobStore::collect(const std::function<bool(const BlobHash&)>& keep, double min_age) {
  const auto now = fs::file_time_type::clock::now();
  int64_t removed = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    const bool ours = is_sha256(name) || name.ends_with(kDamaged);
    const std::chrono::duration<double> age = now - entry.last_write_time();
    if (!ours || age.count() < min_age || (is_sha256(name) && keep(name))) continue;
    fs::remove(entry.path());
    verified_.erase(name);
    checks_.erase(name);
    ++removed;
  }
  return removed;
}

bool BlobStore::is_younger(const BlobHash& hash, double seconds) const {
  if (!is_sha256(hash)) return false;
  std::error_code error;
  const auto put = fs::last_write_time(path_of(hash), error);
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - put;
  return !error && age.count() < seconds;
}

bool BlobStore::remove(const BlobHash& hash) {
  verified_.erase(hash);
  checks_.erase(hash);
  return is_sha256(hash) && fs::remove(path_of(hash));
}

}  // namespace kaiseki::dist
