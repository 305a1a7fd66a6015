// SPDX-License-Identifier: MIT
#include "cli/download.h"

#include <curl/curl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "matrix/error.h"
#include "nn/io/sha256.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

// A mirror that gives nothing for so long is left; three of them in less than quickstart waits.
constexpr long kConnectSeconds = 8, kStallSeconds = 12;

constexpr int kPlainPercent = 5;  // between lines where there is no terminal

/// One transfer into the end of a file.
struct Transfer {
  const nn::RemoteFile& file;
  const DownloadProgress& progress;
  CURL* curl;
  std::FILE* part;
  uint64_t have;         // bytes in the file
  bool started = false;  // whether this transfer gave any of them
  std::string problem;
};

size_t receive(char* data, size_t, size_t count, void* context) {
  auto& t = *static_cast<Transfer*>(context);
  long status = 0;
  curl_easy_getinfo(t.curl, CURLINFO_RESPONSE_CODE, &status);
  if (!t.started && t.have && status == 200) {  // the server does not resume
    if (::ftruncate(::fileno(t.part), 0) != 0) return 0;
    t.have = 0;
  }
  t.started = true;
  if (t.have + count > t.file.bytes) {
    t.problem = "expected " + std::to_string(t.file.bytes) + " bytes, got more";
    return 0;
  }
  if (std::fwrite(data, 1, count, t.part) != count) {
    t.problem = std::strerror(errno);
    return 0;
  }
  t.have += count;
  if (t.progress) t.progress(t.file.name, t.have, t.file.bytes);
  return count;
}

std::string fetch(const nn::RemoteFile& file, const std::string& url, const fs::path& part,
                  const DownloadProgress& progress) {
  std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(part.c_str(), "ab"), std::fclose);
  if (!curl) throw Error(message("download", "expected libcurl to start, got an error"));
  if (!out)
    throw Error(
        message("download", "expected to write ", part.string(), ", got: ", std::strerror(errno)));
  Transfer transfer{file, progress, curl.get(), out.get(), fs::file_size(part), false, ""};
  auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl.get(), option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, 5L);
  set(CURLOPT_FAILONERROR, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  set(CURLOPT_USERAGENT, "kaiseki");
  std::string range = std::to_string(transfer.have) + "-";
  if (transfer.have) set(CURLOPT_RANGE, range.c_str());
  set(CURLOPT_WRITEFUNCTION, receive);
  set(CURLOPT_WRITEDATA, &transfer);
  CURLcode code = transfer.have == file.bytes ? CURLE_OK : curl_easy_perform(curl.get());
  if (std::fflush(out.get()) != 0) return std::strerror(errno);
  if (!transfer.problem.empty()) return transfer.problem;
  return code == CURLE_OK ? "" : curl_easy_strerror(code);
}

/// Why what was downloaded is not the file; empty when it is.
std::string check(const nn::RemoteFile& file, const fs::path& part) {
  uint64_t bytes = fs::file_size(part);
  if (bytes != file.bytes)
    return "expected " + std::to_string(file.bytes) + " bytes, got " + std::to_string(bytes);
  std::string sum = nn::sha256_of_file(part);
  return sum == file.sha256 ? "" : "expected SHA-256 " + file.sha256 + ", got " + sum;
}

}  // namespace

void download_file(const nn::RemoteFile& file, std::span<const std::string> urls,
                   const fs::path& destination, const DownloadProgress& progress) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)started;
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
                      "; bring it to ", destination.string(), " by hand"));
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
