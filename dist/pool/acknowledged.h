// SPDX-License-Identifier: MIT
// AcknowledgedIds: the last ids of rows that were acknowledged, in a small file beside the store.
// If the store has lower ids after a restart, rows are lost: its log was damaged or replaced.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kaiseki::dist {

class AcknowledgedIds {
 public:
  /// The tables whose ids count, and the highest id that each has had.
  static constexpr std::array<const char*, 4> kTables = {"project", "task", "ticket", "result"};
  using Ids = std::array<int64_t, kTables.size()>;

  explicit AcknowledgedIds(std::filesystem::path file);
  ~AcknowledgedIds();
  AcknowledgedIds(const AcknowledgedIds&) = delete;
  AcknowledgedIds& operator=(const AcknowledgedIds&) = delete;

  /// The ids in the file. Zero if there is no file. Nullopt if the file is damaged.
  std::optional<Ids> read() const;
  /// Call it after the store is synced. The file is not synced, so it may be older than the store,
  /// but never newer. Ignores errors.
  void write(const Ids& ids) noexcept;
  const std::filesystem::path& file() const { return file_; }

 private:
  const std::filesystem::path file_;
  int descriptor_ = -1;
  Ids written_ = {};
};

}  // namespace kaiseki::dist
