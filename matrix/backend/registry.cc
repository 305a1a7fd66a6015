// SPDX-License-Identifier: MIT
// The registry, and the members of Device that need its backend, because matrix/device.h must not
// depend on backends.
#include "matrix/backend/registry.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/backends.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"

namespace kaiseki {
namespace {

/// Entries are only appended, so reads need no lock.
struct Registry {
  Registry() {
    for (const BackendEntry* entry : built_in_backends()) add(*entry);
  }
  void add(const BackendEntry& entry) {
    std::lock_guard lock(mutex);
    const size_t at = count;
    if (at == entries.size())
      throw DeviceError(message("device", "at most ", entries.size(), " backends can be added"));
    entries[at] = &entry;
    count = at + 1;
  }
  std::mutex mutex;
  std::array<const BackendEntry*, 16> entries{};
  std::atomic<size_t> count = 0;
};

Registry& registry() {
  static auto* one = new Registry;  // devices are used during exit
  return *one;
}

struct DeviceMemory {
  explicit DeviceMemory(Device device)
      : allocator(device.name(), device.backend().raw_memory(), environment().device_memory),
        workspace(device, allocator) {}
  Allocator allocator;
  Workspace workspace;
};

DeviceMemory& memory_of(Device device) {
  static std::mutex mutex;
  static auto* all = new std::map<Device, std::unique_ptr<DeviceMemory>>;
  static std::atomic<DeviceMemory*> of_cpu = nullptr;
  if (device.is_cpu())
    if (DeviceMemory* memory = of_cpu) return *memory;
  std::lock_guard lock(mutex);
  auto& memory = (*all)[device];
  if (!memory) memory = std::make_unique<DeviceMemory>(device);
  if (device.is_cpu()) of_cpu = memory.get();
  return *memory;
}

/// The number after "opencl:", of up to four digits.
std::optional<int> parse_index(std::string_view text) {
  const auto index = parse_number<int>(text);
  return index && *index >= 0 && text.size() <= 4 ? index : std::nullopt;
}

struct DeviceName {
  std::string_view backend;
  int index = 0;
};

/// "opencl:1". No value for another text, such as "auto".
std::optional<DeviceName> parse_device(std::string_view text) {
  for (const BackendEntry* entry : backends()) {
    if (text == entry->name) return DeviceName{entry->name};
    const size_t length = entry->name.size();
    const bool has_index = text.starts_with(entry->name) && text.substr(length, 1) == ":";
    if (!has_index || entry == backends().front()) continue;
    if (const auto index = parse_index(text.substr(length + 1)))
      return DeviceName{entry->name, *index};
  }
  return {};
}

}  // namespace

std::span<const BackendEntry* const> backends() {
  return {registry().entries.data(), registry().count};
}

std::string device_forms() {
  std::string forms;
  for (const BackendEntry* entry : backends()) {
    const std::string name(entry->name);
    forms += forms.empty() ? name : ", " + name + ", " + name + ":N";
  }
  return forms + " or auto";
}

bool names_device(std::string_view text) { return text == "auto" || parse_device(text); }

const BackendEntry& find_backend(std::string_view name) {
  for (const BackendEntry* entry : backends())
    if (entry->name == name) return *entry;
  throw DeviceError(message("device", "there is no backend '", name, "'"));
}

void add_backend(const BackendEntry& entry) { registry().add(entry); }

Device Device::of(std::string_view backend, int index) {
  const auto all = backends();
  const BackendEntry& entry = find_backend(backend);
  entry.open(index);
  return Device(static_cast<uint8_t>(std::ranges::find(all, &entry) - all.begin()), index);
}

Device Device::opencl(int index) { return of("opencl", index); }

Device Device::automatic() {
  for (const BackendEntry* entry : backends().subspan(1))
    for (const DeviceInfo& info : entry->devices())
      if (info.is_gpu) return info.device;
  for (const std::string& problem : device_problems())
    log_warning_once(problem + "; computing on the CPU");
  return cpu();
}

Device Device::parse(std::string_view text) {
  std::string fallback;
  if (text.empty()) {
    fallback = environment().device;
    text = fallback;
  }
  if (text.empty() || text == "auto") return automatic();
  if (const auto device = parse_device(text)) return of(device->backend, device->index);
  throw DeviceError(message("device", "expected ", device_forms(), ", got '", text, "'"));
}

std::string_view Device::backend_name() const { return backends()[backend_]->name; }

std::string Device::name() const {
  const std::string backend(backend_name());
  return is_cpu() ? backend : backend + ':' + std::to_string(index_);
}

Backend& Device::backend() const {
  return is_cpu() ? cpu_backend() : backends()[backend_]->open(index_);
}

Allocator& Device::memory() const { return memory_of(*this).allocator; }

Workspace& Device::workspace() const { return memory_of(*this).workspace; }

bool Device::holds(DType type) const { return is_cpu() || backend().holds(type); }

DeviceInfo Device::info() const { return backend().info(); }

void Device::synchronize() const { backend().synchronize(); }

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> all;
  for (const BackendEntry* entry : backends())
    for (const DeviceInfo& one : entry->devices()) all.push_back(one);
  return all;
}

std::vector<std::string> device_problems() {
  std::vector<std::string> problems;
  for (const BackendEntry* entry : backends())
    if (std::string problem = entry->problem(); !problem.empty())
      problems.push_back(std::move(problem));
  return problems;
}

}  // namespace kaiseki
