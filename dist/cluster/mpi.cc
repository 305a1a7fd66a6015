// SPDX-License-Identifier: MIT
#include "dist/cluster/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace kaiseki::dist {
namespace {

/// MPI counts with int, so a longer message is sent in several parts.
constexpr size_t kMostBytes = size_t{1} << 30;
/// A waiting thread yields its core for this long. Then it sleeps between two checks, because MPI
/// has no other way to wait without using a core.
constexpr double kYieldSeconds = 500e-6;
constexpr std::chrono::microseconds kSleep{20};

std::atomic<bool> cancelled = false;

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw RankFailed(message("cluster", call, ": ", std::string(text, static_cast<size_t>(length))));
}

/// MPI from its start to its end. Communicators share it.
class Session {
 public:
  Session() {
    int before = 0;
    MPI_Initialized(&before);
    if (before) throw Error(message("cluster", "expected no other use of MPI in this process"));
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_MULTIPLE)
      throw Error(message("cluster", "expected an MPI that takes calls from several threads"));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  /// If an exception ends this rank, the other ranks would wait for it.
  ~Session() {
    if (cancelled || std::uncaught_exceptions() > 0) end_all_ranks(1);
    MPI_Finalize();
  }
  Session(const Session&) = delete;
};

class MpiTransfer : public Transfer {
 public:
  struct Request {
    MPI_Request request;
    int bytes;
  };
  MpiTransfer(std::vector<Request> parts, bool receives, std::string what)
      : parts_(std::move(parts)), receives_(receives), what_(std::move(what)) {}

  ~MpiTransfer() override {
    for (Request& part : parts_) {
      if (part.request == MPI_REQUEST_NULL) continue;  // done
      MPI_Cancel(&part.request);
      MPI_Request_free(&part.request);
    }
  }

  void wait() override {
    const double begin = steady_seconds();
    for (Request& part : parts_) {
      MPI_Status status;
      for (int done = 0; !done;) {
        check(MPI_Test(&part.request, &done, &status), what_.c_str());
        if (done) break;
        if (cancelled) throw RankFailed(message("cluster", "this rank failed"));
        if (steady_seconds() - begin < kYieldSeconds)
          std::this_thread::yield();
        else
          std::this_thread::sleep_for(kSleep);
      }
      int bytes = part.bytes;
      if (receives_) check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      if (bytes != part.bytes)
        throw RankFailed(
            message("cluster", what_, ": expected ", part.bytes, " bytes, got ", bytes));
    }
  }

 private:
  std::vector<Request> parts_;
  bool receives_;
  std::string what_;
};

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(std::shared_ptr<Session> session, MPI_Comm handle)
      : session_(std::move(session)), handle_(handle) {
    MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
    hosts_.resize(static_cast<size_t>(size_) * sizeof name);
    check(MPI_Allgather(name, sizeof name, MPI_CHAR, hosts_.data(), sizeof name, MPI_CHAR, handle_),
          "MPI_Allgather");
  }
  ~MpiCommunicator() override {
    if (!cancelled && std::uncaught_exceptions() == 0) MPI_Comm_free(&handle_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host(int rank) const override {
    return hosts_.data() + static_cast<size_t>(rank) * MPI_MAX_PROCESSOR_NAME;
  }

  void cancel() noexcept override { cancelled = true; }

  std::unique_ptr<Transfer> send(int to, ByteView message) override {
    std::vector<MpiTransfer::Request> parts;
    for (const ByteView part : parts_of(message)) {
      const int bytes = static_cast<int>(part.size());
      parts.push_back({MPI_REQUEST_NULL, bytes});
      check(MPI_Isend(part.data(), bytes, MPI_BYTE, to, 0, handle_, &parts.back().request),
            "MPI_Isend");
    }
    return std::make_unique<MpiTransfer>(std::move(parts), false, "to " + place(to));
  }

  std::unique_ptr<Transfer> receive(int from, std::span<std::byte> memory) override {
    std::vector<MpiTransfer::Request> parts;
    for (const std::span<std::byte> part : parts_of(memory)) {
      const int bytes = static_cast<int>(part.size());
      parts.push_back({MPI_REQUEST_NULL, bytes});
      check(MPI_Irecv(part.data(), bytes, MPI_BYTE, from, 0, handle_, &parts.back().request),
            "MPI_Irecv");
    }
    return std::make_unique<MpiTransfer>(std::move(parts), true, "from " + place(from));
  }

  std::unique_ptr<Communicator> split(int group, int order) override {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(handle_, group, order, &made), "MPI_Comm_split");
    return std::make_unique<MpiCommunicator>(session_, made);
  }

 private:
  template <class Bytes>
  static std::vector<Bytes> parts_of(Bytes bytes) {
    std::vector<Bytes> parts;
    do {
      const size_t size = std::min(bytes.size(), kMostBytes);
      parts.push_back(bytes.first(size));
      bytes = bytes.subspan(size);
    } while (!bytes.empty());
    return parts;
  }
  std::string place(int rank) const { return "rank " + std::to_string(rank) + " on " + host(rank); }

  std::shared_ptr<Session> session_;
  MPI_Comm handle_;
  int rank_ = 0, size_ = 1;
  std::vector<char> hosts_;
};

}  // namespace

bool has_mpi() { return true; }

std::unique_ptr<Communicator> mpi_communicator() {
  auto session = std::make_shared<Session>();
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &own), "MPI_Comm_dup");
  return std::make_unique<MpiCommunicator>(std::move(session), own);
}

void end_all_ranks(int status) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace kaiseki::dist
