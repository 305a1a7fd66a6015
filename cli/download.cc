// SPDX-License-Identifier: MIT
#include "cli/download.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/http_transfer.h"
#include "base/sha256.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

// Time-outs, after which the next mirror is tried. Three time-outs are shorter than the
// quickstart's wait.
constexpr double kConnectSeconds = 8, kStallSeconds = 12;
constexpr int kMostRedirects = 5;

constexpr int kPlainPercent = 5;  // between two lines if standard error is not a terminal

/// One transfer, appended to a file.
struct Transfer {
  const nn::RemoteFile& file;
  const DownloadProgress& progress;
  std::FILE* part;
  uint64_t have;         // bytes in the file
  bool started = false;  // whether this transfer has received any
  std::string problem = {};

  bool restart() {
    if (::ftruncate(::fileno(part), 0) != 0) problem = std::strerror(errno);
    have = 0;
    return problem.empty();
  }

  HttpWant receive(int status, ByteView piece) {
    if (status >= 400) problem = "answered " + std::to_string(status);
    const bool resumes = started || !have || status != 200;
    if (!problem.empty() || (!resumes && !restart())) return HttpWant::refuse;
    started = true;
    if (have + piece.size() > file.bytes)
      problem = "sent more than " + std::to_string(file.bytes) + " bytes";
    else if (std::fwrite(piece.data(), 1, piece.size(), part) != piece.size())
      problem = std::strerror(errno);
    if (!problem.empty()) return HttpWant::refuse;
    have += piece.size();
    if (progress) progress(file.name, have, file.bytes);
    return HttpWant::more;
  }
};

/// Returns the cause of the failure, or an empty text if the whole file was received.
std::string fetch(const nn::RemoteFile& file, const std::string& url, const fs::path& part,
                  const DownloadProgress& progress) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(part.c_str(), "ab"), std::fclose);
  if (!out)
    throw Error(message("download", "cannot write ", part.string(), ": ", std::strerror(errno)));
  Transfer transfer{file, progress, out.get(), fs::file_size(part)};
  if (transfer.have == file.bytes) return "";
  HttpCall call;
  call.url = url;
  call.redirects = kMostRedirects;
  call.proxy = true;
  call.connect_seconds = kConnectSeconds;
  call.silence_seconds = kStallSeconds;
  if (transfer.have) call.headers = {"Range: bytes=" + std::to_string(transfer.have) + "-"};
  call.receive = [&](int status, ByteView piece) { return transfer.receive(status, piece); };
  const HttpOutcome outcome = HttpTransfer().run(call);
  if (std::fflush(out.get()) != 0) return std::strerror(errno);
  if (!transfer.problem.empty()) return transfer.problem;
  if (outcome.end == HttpEnd::whole && outcome.status >= 400)
    return "answered " + std::to_string(*outcome.status);
  return outcome.problem;
}

/// Returns the difference from the expected file, or an empty text if there is none.
std::string check(const nn::RemoteFile& file, const fs::path& part) {
  uint64_t bytes = fs::file_size(part);
  if (bytes != file.bytes)
    return "expected " + std::to_string(file.bytes) + " bytes, got " + std::to_string(bytes);
  std::string sum = sha256_of_file(part);
  return sum == file.sha256 ? "" : "expected SHA-256 " + file.sha256 + ", got " + sum;
}

}  // namespace

void download_file(const nn::RemoteFile& file, std::span<const std::string> urls,
                   const fs::path& destination, const DownloadProgress& progress) {
  fs::path part = destination.string() + ".part";
  std::error_code ignored;
  if (fs::file_size(part, ignored) > file.bytes) fs::remove(part, ignored);
  std::string answers;
  for (const std::string& url : urls) {
    std::string problem;
    for (bool resumed = true; resumed;) {
      resumed = fs::exists(part) && !fs::is_empty(part);
      problem = fetch(file, url, part, progress);
      if (!problem.empty()) break;
      problem = check(file, part);
      if (problem.empty()) {
        fs::rename(part, destination);
        return;
      }
      if (fs::file_size(part) != file.bytes) break;
      fs::remove(part);
    }
    answers += "; " + url + ": " + problem;
  }
  throw Error(message("download", "expected ", file.name, " from a mirror, got none", answers,
                      "; download it to ", destination.string(), " yourself"));
}

void download(const nn::RemoteFile& file, std::span<const std::string> urls,
              const fs::path& destination) {
  bool on_terminal = ::isatty(STDERR_FILENO);
  int shown = on_terminal ? -1 : 0;
  DownloadProgress progress = [&](const std::string& name, uint64_t done, uint64_t all) {
    int percent = static_cast<int>(100 * done / all);
    const int least = on_terminal ? 1 : kPlainPercent;
    if (percent >= shown && percent < shown + least) return;
    shown = percent;
    std::fprintf(stderr, "%sdownloading %s  %3d %%  of %s%s", on_terminal ? "\r" : "", name.c_str(),
                 percent, format_bytes(all).c_str(), !on_terminal || done == all ? "\n" : " ");
    std::fflush(stderr);
  };
  if (!on_terminal)
    std::fprintf(stderr, "downloading %s (%s)\n", file.name.c_str(),
                 format_bytes(file.bytes).c_str());
  try {
    download_file(file, urls, destination, progress);
  } catch (...) {
    if (on_terminal && shown >= 0) std::fputc('\n', stderr);
    throw;
  }
}

}  // namespace kaiseki::cli
