// SPDX-License-Identifier: MIT
#include "dist/net/pages.h"

#include <doctest/doctest.h>

#include "matrix/error.h"
#include "nn/io/tar.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

nn::ByteVector archive(std::initializer_list<std::pair<std::string, std::string>> files) {
  nn::ByteVector tar;
  for (const auto& [path, text] : files) nn::append_tar_file(tar, path, nn::as_bytes(text));
  nn::finish_tar(tar);
  return tar;
}

HttpResponse get(const Pages& pages, const std::string& path) {
  HttpRequest request;
  request.path = path;
  return pages.answer(request);
}

}  // namespace

TEST_CASE("pages: the files of a tar") {
  const Pages pages(archive({{"index.html", "<!doctype html>"},
                             {"assets/code.wasm", std::string("\0asm", 4)},
                             {"deep/index.html", "deep"}}));
  CHECK(get(pages, "/").body == "<!doctype html>");
  CHECK(get(pages, "/").type == "text/html; charset=utf-8");
  CHECK(get(pages, "/assets/code.wasm").body == std::string("\0asm", 4));
  CHECK(get(pages, "/assets/code.wasm").type == "application/wasm");
  CHECK(get(pages, "/deep/").body == "deep");
  CHECK(get(pages, "/deep").status == 308);
  CHECK(get(pages, "/deep").headers == decltype(HttpResponse::headers){{"Location", "/deep/"}});
  for (const char* none : {"/assets", "/assets/", "index.html", "/../index.html"}) {
    CAPTURE(none);
    CHECK(get(pages, none).status == 404);
  }
}

TEST_CASE("pages: what is large goes out piece by piece") {
  std::string large(1000000, 'x');
  for (size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  const Pages pages(archive({{"index.html", ""}, {"large.wasm", large}}));
  const HttpResponse response = get(pages, "/large.wasm");
  CHECK(response.body.empty());
  CHECK(response.length == large.size());
  std::string whole;
  HttpChunk chunk = response.next();
  for (; chunk.kind == HttpChunk::Kind::bytes; chunk = response.next()) {
    CHECK(chunk.bytes.size() <= 65536);
    whole += chunk.bytes;
  }
  CHECK(chunk.kind == HttpChunk::Kind::end);
  CHECK(whole == large);
}

TEST_CASE("pages: a tar without an index.html, or cut off, is refused") {
  nn::ByteVector whole = archive({{"index.html", std::string(1000, 'x')}});
  CHECK_THROWS_WITH_AS(Pages(archive({{"assets/index.html", ""}})),
                       "[serve] expected an index.html in archive of pages", Error);
  for (const size_t length : {size_t{100}, size_t{600}, size_t{1500}}) {
    CAPTURE(length);
    CHECK_THROWS_AS(Pages(nn::ByteView(whole).first(length)), Error);
  }
}
