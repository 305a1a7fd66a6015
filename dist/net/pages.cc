// SPDX-License-Identifier: MIT
#include "dist/net/pages.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"

namespace kaiseki::dist {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBrotli = ".br";
constexpr uint64_t kMostBytes = 256 << 20;
constexpr std::string_view kBuiltin =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Kaiseki</title>"
    "<h1>Kaiseki</h1><p>This coordinator runs. Its nodes join with <code>kaiseki join</code>. "
    "It has no page for volunteers.</p></html>\n";

std::string type_of(const fs::path& file) {
  static const std::map<std::string, std::string> kTypes = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".wasm", "application/wasm"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  };
  const auto found = kTypes.find(file.extension().string());
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

/// The frame in which the volunteer's page runs the code of tasks. It may only compute.
constexpr std::string_view kTaskFrame = "/volunteer/task.html";

std::string content_security_policy(const HttpRequest& request) {
  if (request.path == kTaskFrame)
    return "default-src 'none'; script-src 'unsafe-inline' blob: 'wasm-unsafe-eval'; worker-src "
           "blob:; frame-ancestors 'self'; sandbox allow-scripts";
  const std::string& host = request.header("host");
  return "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src "
         "'self' ws://" +
         host + " wss://" + host +
         "; img-src 'self' data: blob:; style-src 'self'; font-src 'self'; frame-src 'self'; "
         "manifest-src 'self'; "
         "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'";
}

std::string tag_of(std::string_view bytes) {
  return '"' + sha256(as_bytes(bytes)).substr(0, 32) + '"';
}

}  // namespace

Pages::Pages() : empty_(true) {
  pages_["/index.html"] = {"text/html; charset=utf-8", tag_of(kBuiltin),
                           std::make_shared<const std::string>(kBuiltin)};
}

Pages::Pages(const fs::path& folder) {
  std::error_code error;
  uint64_t size = 0;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) {
      if (at->is_directory()) at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink() || !at->is_regular_file()) continue;
    const ByteVector bytes = read_file(at->path(), kMostBytes);
    size += bytes.size();
    if (size > kMostBytes)
      throw Error(message("serve", "expected at most 256 MB of pages in ", folder.string()));
    add(at->path().lexically_relative(folder), bytes);
  }
  if (error) throw Error(message("serve", "cannot read ", folder.string(), ": ", error.message()));
  complete(folder.string());
}

Pages::Pages(ByteView archive) {
  MemorySource source(archive, "archive of pages");
  nn::TarReader files(source);
  for (nn::TarEntry entry; files.next(entry);)
    if (entry.is_file) add(entry.path, files.read(kMostBytes));
  complete(source.name());
}

void Pages::add(const fs::path& name, ByteView bytes) {
  std::string text(as_text(bytes));
  const std::string tag = tag_of(text);
  pages_["/" + name.generic_string()] = {type_of(name), tag,
                                         std::make_shared<const std::string>(std::move(text))};
}

void Pages::complete(const std::string& place) {
  for (auto at = pages_.begin(); at != pages_.end();) {
    const std::string& name = at->first;
    const auto of = name.ends_with(kBrotli)
                        ? pages_.find(name.substr(0, name.size() - kBrotli.size()))
                        : pages_.end();
    if (of == pages_.end()) {
      ++at;
      continue;
    }
    of->second.brotli = at->second.bytes;
    try {
      const ByteVector packed = nn::gzip(as_bytes(*of->second.bytes));
      of->second.gzip = std::make_shared<const std::string>(as_text(packed));
    } catch (const Error&) {  // a build without zlib
    }
    at = pages_.erase(at);
  }
  if (!pages_.count("/index.html"))
    throw Error(message("serve", "expected an index.html in ", place));
}

HttpResponse Pages::answer(const HttpRequest& request) const {
  const std::string path = request.path + (request.path.ends_with('/') ? "index.html" : "");
  const auto found = pages_.find(path);
  if (found == pages_.end() && pages_.count(path + "/index.html"))
    return {.status = 308, .headers = {{"Location", path + "/"}}};
  if (found == pages_.end()) return {.status = 404, .body = "no such page\n"};
  const Page& page = found->second;
  const auto accepts = [&](const char* coding) {
    return accepts_coding(request.header("accept-encoding"), coding);
  };
  const std::string coding = page.brotli && accepts("br")   ? "br"
                             : page.gzip && accepts("gzip") ? "gzip"
                                                            : "";
  const std::string tag =
      coding.empty() ? page.tag : page.tag.substr(0, page.tag.size() - 1) + "-" + coding + "\"";
  const auto& bytes = coding.empty() ? page.bytes : coding == "br" ? page.brotli : page.gzip;
  const bool known = request.header("if-none-match") == tag;
  HttpResponse response = known ? HttpResponse{.status = 304, .type = page.type}
                                : HttpResponse::shared(bytes, page.type);
  response.headers = {
      {"ETag", tag},
      {"Vary", "Accept-Encoding"},
      {"Cache-Control", "no-cache"},
      {"Content-Security-Policy", content_security_policy(request)},
      {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
  };
  if (request.path == kTaskFrame)  // a sandboxed frame has no origin, so not the same one
    response.headers.emplace_back("Cross-Origin-Resource-Policy", "cross-origin");
  if (!coding.empty() && !known) response.headers.emplace_back("Content-Encoding", coding);
  return response;
}

}  // namespace kaiseki::dist
