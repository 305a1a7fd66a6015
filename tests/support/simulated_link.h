// SPDX-License-Identifier: MIT
// A link of a given rate between the CPU as a device and a host. Both are memory of this process.
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "base/timeline.h"
#include "matrix/device.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/host.h"
#include "matrix/memory/spill.h"

namespace kaiseki::test {

/// While it lives, tensors that leave the CPU go over the link.
class SimulatedLink {
 public:
  /// Bytes a second in each direction. A copy takes longer if this machine cannot copy as fast.
  explicit SimulatedLink(double rate) {
    set_spill_store([rate](uint64_t bytes) -> std::unique_ptr<SpillPlace> {
      auto place = std::make_unique<Place>(rate, bytes);
      if (!place->has_memory()) return nullptr;
      return place;
    });
  }
  ~SimulatedLink() {
    if (Allocator* store = Device::cpu().memory().backing()) store->trim();
    set_spill_store(nullptr);
  }
  SimulatedLink(const SimulatedLink&) = delete;

 private:
  class Place : public SpillPlace {
   public:
    Place(double rate, uint64_t bytes)
        : rate_(rate), memory_(static_cast<char*>(allocate_host(bytes))) {
      if (memory_) touch_host(memory_.get(), bytes);
    }
    bool has_memory() const { return memory_ != nullptr; }

    void write(const void* from, const CopyRegion& region) override {
      const Busy busy("link out", region.bytes(), rate_);
      region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
        std::memcpy(memory_.get() + on_host, static_cast<const char*>(from) + in_block, region.row);
      });
    }
    void read(void* to, const CopyRegion& region) const override {
      const Busy busy("link in", region.bytes(), rate_);
      region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
        std::memcpy(static_cast<char*>(to) + in_block, memory_.get() + on_host, region.row);
      });
    }

   private:
    struct Release {
      void operator()(char* block) const { release_host(block); }
    };
    /// Takes at least the time that the link needs.
    class Busy {
     public:
      Busy(const char* row, uint64_t bytes, double rate)
          : span_(row, "copy", bytes),
            end_(std::chrono::steady_clock::now() +
                 std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                     std::chrono::duration<double>(static_cast<double>(bytes) / rate))) {}
      ~Busy() { std::this_thread::sleep_until(end_); }
      Busy(const Busy&) = delete;

     private:
      TimelineSpan span_;
      std::chrono::steady_clock::time_point end_;
    };

    double rate_;
    std::unique_ptr<char, Release> memory_;
  };
};

}  // namespace kaiseki::test
