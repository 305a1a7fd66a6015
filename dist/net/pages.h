// SPDX-License-Identifier: MIT
// Pages: the files of a folder or an archive. They are read into memory when the server starts.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "dist/net/http.h"

namespace kaiseki::dist {

class Pages {
 public:
  /// A single page that explains how to serve the volunteer's page.
  Pages();
  /// Reads the regular files below `folder`, except links and names that begin with a dot. A file
  /// NAME.br is the file NAME, compressed with Brotli for clients that accept it. NAME is then also
  /// compressed with gzip: over http, browsers accept only that. Throws Error if
  /// `folder` has no index.html or has more than 256 MB.
  explicit Pages(const std::filesystem::path& folder);
  /// Reads the regular files of a tar archive in the same way. Throws Error if it has no
  /// index.html, and ParseError if it is damaged.
  explicit Pages(ByteView archive);

  /// Adds a file. `name`: its path, without the first "/".
  void add(const std::filesystem::path& name, ByteView bytes);

  /// Answers GET and HEAD. "/" and "/folder/" return their index.html. "/folder" redirects there.
  HttpResponse answer(const HttpRequest& request) const;
  bool has(std::string_view path) const { return pages_.find(path) != pages_.end(); }
  /// Whether the default constructor made this.
  bool empty() const { return empty_; }

 private:
  struct Page {
    std::string type, tag;
    std::shared_ptr<const std::string> bytes;
    // The same, compressed. Null if there is no NAME.br. gzip is null, too, in a build without
    // zlib.
    std::shared_ptr<const std::string> brotli = {}, gzip = {};
  };

  /// Adds NAME.br to the page NAME. `place`: the folder or archive, for error messages.
  void complete(const std::string& place);

  std::map<std::string, Page, std::less<>> pages_;  // by path
  bool empty_ = false;
};

}  // namespace kaiseki::dist
