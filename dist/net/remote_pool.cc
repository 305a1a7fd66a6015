// SPDX-License-Identifier: MIT
#include "dist/net/remote_pool.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "dist/net/command_queue.h"
#include "dist/net/pool_channel.h"
#include "dist/net/remote_author.h"

namespace kaiseki::dist {
namespace {

constexpr std::chrono::milliseconds kLook(500);  // between two requests for the list of nodes

}  // namespace

struct RemotePool::Impl {
  Impl(const WireOptions& to, const AuthorWork& given) {
    auto made = std::make_unique<RemoteAuthor>(
        to, given, [this](std::function<void()> call) { post(std::move(call)); },
        [this](const Finished& one) { channel.finished(one); });
    author = made.get();
    channel.start(std::move(made), given.name);
    channel.changed();  // the first step uses the present nodes
    for (const auto& call : calls.take()) call();
    thread = std::thread([this] { work(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    thread.join();
  }

  void post(std::function<void()> call) {
    if (!calls.push(std::move(call))) return;
    { const std::lock_guard lock(mutex); }  // work() waits now, or has not yet read the queue
    changed.notify_all();
  }

  void work() {
    auto look = std::chrono::steady_clock::now();
    const auto wanted = [&] { return stopping || !calls.empty(); };
    std::unique_lock lock(mutex);
    while (!stopping || !calls.empty()) {
      changed.wait_until(lock, look, wanted);
      lock.unlock();
      for (const auto& call : calls.take()) call();
      if (std::chrono::steady_clock::now() >= look) {
        look = std::chrono::steady_clock::now() + kLook;
        channel.changed();
      }
      lock.lock();
    }
    lock.unlock();
    author->leave();
  }

  std::mutex mutex;  // protects `stopping`
  std::condition_variable changed;
  bool stopping = false;
  CommandQueue calls;

  PoolChannel channel{[this](std::function<void()> call) { post(std::move(call)); }};
  RemoteAuthor* author = nullptr;
  std::thread thread;
};

RemotePool::RemotePool(const WireOptions& to, const AuthorWork& work)
    : impl_(std::make_unique<Impl>(to, work)) {}
RemotePool::~RemotePool() = default;

Channel& RemotePool::channel() { return impl_->channel; }

void RemotePool::report(const CurvePoint& point) {
  impl_->post([author = impl_->author, point] { author->report(point); });
}

}  // namespace kaiseki::dist
