// SPDX-License-Identifier: MIT
// Pages: the files of one folder or archive, held in memory and served as they were when the server
// started.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "dist/net/http.h"
#include "nn/io/bytes.h"

namespace kaiseki::dist {

class Pages {
 public:
  /// One page that says how to bring others.
  Pages();
  /// Regular files below `folder`; links and what begins with a dot are left out. Throws Error when
  /// it is no folder with an index.html, or over 256 MB.
  explicit Pages(const std::filesystem::path& folder);
  /// Regular files of a tar. Throws Error when it has no index.html, ParseError when it is damaged.
  explicit Pages(nn::ByteView archive);

  /// Of GET and HEAD. "/" and "/folder/" are their index.html, "/folder" leads there.
  HttpResponse answer(const HttpRequest& request) const;
  bool has(std::string_view path) const { return pages_.find(path) != pages_.end(); }
  /// There is none but that which says how to bring others.
  bool empty() const { return empty_; }

 private:
  struct Page {
    std::string type, tag;
    std::shared_ptr<const std::string> bytes;
  };

  void add(const std::filesystem::path& name, nn::ByteView bytes);
  /// `place` is where they are from.
  void check(const std::string& place) const;

  std::map<std::string, Page, std::less<>> pages_;  // by path
  bool empty_ = false;
};

}  // namespace kaiseki::dist
