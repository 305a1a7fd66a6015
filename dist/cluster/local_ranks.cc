// SPDX-License-Identifier: MIT
#include "dist/cluster/local_ranks.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace kaiseki::dist {
namespace {

/// The state that all ranks share.
struct Process {
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr failure;
  int failed_rank = 0;

  /// The caller holds the lock.
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, const Done& done) {
    changed.wait(lock, [&] { return failure || done(); });
    if (!done())
      throw RankFailed(message("cluster", "rank ", failed_rank, " failed before its message"));
  }
  void fail(int rank) {
    std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception(), failed_rank = rank;
    changed.notify_all();
  }
};

/// The messages from one rank to another: sends without a receive, or receives without a send.
struct Mailbox {
  struct Send {
    ByteView message;
    std::shared_ptr<bool> done;
  };
  struct Receive {
    std::span<std::byte> memory;
    std::shared_ptr<bool> done;
  };
  std::deque<Send> sends;
  std::deque<Receive> receives;
};

/// The ranks of one communicator.
struct Group {
  explicit Group(Process& of, int ranks) : process(of), size(ranks) {}

  Process& process;
  int size;
  std::map<std::pair<int, int>, Mailbox> mailboxes;  // by sender and receiver
  struct Split {
    std::map<int, std::pair<int, int>> wishes;  // group and order, by rank
    std::map<int, std::shared_ptr<Group>> groups;
  };
  std::deque<Split> splits;  // in the order of the calls
};

class LocalTransfer : public Transfer {
 public:
  LocalTransfer(std::shared_ptr<Group> group, Mailbox& mailbox, std::shared_ptr<bool> done)
      : group_(std::move(group)),
        process_(group_->process),
        mailbox_(mailbox),
        done_(std::move(done)) {}
  /// Removes the message. After an exception, no other rank may use its memory.
  ~LocalTransfer() override {
    std::lock_guard lock(process_.mutex);
    const auto is_own = [&](const auto& one) { return one.done == done_; };
    std::erase_if(mailbox_.sends, is_own);
    std::erase_if(mailbox_.receives, is_own);
  }
  void wait() override {
    std::unique_lock lock(process_.mutex);
    process_.wait(lock, [&] { return *done_; });
  }

 private:
  std::shared_ptr<Group> group_;
  Process& process_;
  Mailbox& mailbox_;
  std::shared_ptr<bool> done_;
};

class LocalCommunicator : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<Group> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return group_->size; }
  std::string host(int) const override { return "this process"; }
  void cancel() noexcept override { group_->process.fail(rank_); }

  std::unique_ptr<Transfer> send(int to, ByteView message) override {
    std::lock_guard lock(group_->process.mutex);
    Mailbox& mailbox = group_->mailboxes[{rank_, to}];
    auto done = std::make_shared<bool>(false);
    mailbox.sends.push_back({message, done});
    deliver(mailbox, rank_, to);
    return std::make_unique<LocalTransfer>(group_, mailbox, std::move(done));
  }

  std::unique_ptr<Transfer> receive(int from, std::span<std::byte> memory) override {
    std::lock_guard lock(group_->process.mutex);
    Mailbox& mailbox = group_->mailboxes[{from, rank_}];
    auto done = std::make_shared<bool>(false);
    mailbox.receives.push_back({memory, done});
    deliver(mailbox, from, rank_);
    return std::make_unique<LocalTransfer>(group_, mailbox, std::move(done));
  }

  std::unique_ptr<Communicator> split(int group, int order) override {
    Process& process = group_->process;
    std::unique_lock lock(process.mutex);
    const size_t call = splits_++;
    if (group_->splits.size() <= call) group_->splits.resize(call + 1);
    Group::Split& split = group_->splits[call];
    split.wishes[rank_] = {group, order};
    process.changed.notify_all();
    process.wait(lock, [&] { return std::ssize(split.wishes) == group_->size; });
    std::vector<std::pair<int, int>> members;  // order and rank
    for (const auto& [rank, wish] : split.wishes)
      if (wish.first == group) members.emplace_back(wish.second, rank);
    std::ranges::sort(members);
    auto& made = split.groups[group];
    if (!made) made = std::make_shared<Group>(process, static_cast<int>(members.size()));
    const auto own = std::ranges::find(members, rank_, &std::pair<int, int>::second);
    return std::make_unique<LocalCommunicator>(made, static_cast<int>(own - members.begin()));
  }

 private:
  /// Copies the messages that have a sender and a receiver. The caller holds the lock.
  void deliver(Mailbox& mailbox, int from, int to) {
    while (!mailbox.sends.empty() && !mailbox.receives.empty()) {
      const Mailbox::Send sent = std::move(mailbox.sends.front());
      const Mailbox::Receive received = std::move(mailbox.receives.front());
      mailbox.sends.pop_front();
      mailbox.receives.pop_front();
      if (sent.message.size() != received.memory.size())
        throw RankFailed(message("cluster", "expected ", received.memory.size(),
                                 " bytes from rank ", from, " to rank ", to, ", got ",
                                 sent.message.size()));
      if (!sent.message.empty())
        std::memcpy(received.memory.data(), sent.message.data(), sent.message.size());
      *sent.done = *received.done = true;
      group_->process.changed.notify_all();
    }
  }

  std::shared_ptr<Group> group_;
  int rank_;
  size_t splits_ = 0;
};

}  // namespace

void run_local_ranks(int ranks, const std::function<void(Communicator&)>& program) {
  Process process;
  const auto world = std::make_shared<Group>(process, ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        LocalCommunicator communicator(world, rank);
        program(communicator);
      } catch (...) {
        process.fail(rank);
      }
    });
  threads.clear();
  if (process.failure) std::rethrow_exception(process.failure);
}

}  // namespace kaiseki::dist
