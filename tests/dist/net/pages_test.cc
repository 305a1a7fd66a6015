// SPDX-License-Identifier: MIT
#include "dist/net/pages.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"
#include "tests/support/tar.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

ByteVector archive(std::initializer_list<std::pair<std::string, std::string>> files) {
  ByteVector tar;
  for (const auto& [path, text] : files) nn::append_tar_file(tar, path, as_bytes(text));
  test::finish_tar(tar);
  return tar;
}

HttpResponse get(const Pages& pages, const std::string& path, const std::string& accepted = {},
                 const std::string& known = {}) {
  HttpRequest request;
  request.path = path;
  if (!accepted.empty()) request.headers["accept-encoding"] = accepted;
  if (!known.empty()) request.headers["if-none-match"] = known;
  return pages.answer(request);
}

std::string header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return {};
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

TEST_CASE("pages: a compressed file goes to clients that accept it") {
  const Pages pages(archive({{"index.html.br", "packed"},
                             {"index.html", "<!doctype html>"},
                             {"alone.br", "alone"},
                             {"plain.js", "1"}}));
  for (const char* accepted :
       {"br", "gzip, deflate, br, zstd", "gzip;q=0.1 , br;q=0.5", "br;q=0.01"}) {
    CAPTURE(accepted);
    const HttpResponse packed = get(pages, "/", accepted);
    CHECK(packed.body == "packed");
    CHECK(packed.type == "text/html; charset=utf-8");
    CHECK(header(packed, "Content-Encoding") == "br");
    CHECK(header(packed, "Vary") == "Accept-Encoding");
    CHECK(header(packed, "ETag") != header(get(pages, "/"), "ETag"));
    const HttpResponse again = get(pages, "/", accepted, header(packed, "ETag"));
    CHECK(again.status == 304);
    CHECK(header(again, "Content-Encoding").empty());
  }
  for (const char* accepted : {"gzip", "gzip, br; q=0.000"}) {
    const HttpResponse packed = get(pages, "/", accepted);
    CHECK(as_text(nn::gunzip(as_bytes(packed.body), 100)) == "<!doctype html>");
    CHECK(header(packed, "Content-Encoding") == "gzip");
    CHECK(header(packed, "ETag") != header(get(pages, "/", "br"), "ETag"));
  }
  for (const char* accepted : {"", "brotli", "br;q=0", "gzip;q=0", "bread"}) {
    CAPTURE(accepted);
    CHECK(get(pages, "/", accepted).body == "<!doctype html>");
    CHECK(header(get(pages, "/", accepted), "Content-Encoding").empty());
    CHECK(header(get(pages, "/", accepted), "Vary") == "Accept-Encoding");
  }
  CHECK(get(pages, "/plain.js", "br").body == "1");
  CHECK(get(pages, "/index.html.br").status == 404);
  CHECK(get(pages, "/alone.br").body == "alone");
}

TEST_CASE("pages: large files are sent in chunks") {
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

TEST_CASE("pages: a tar without index.html, or a truncated one, is refused") {
  ByteVector whole = archive({{"index.html", std::string(1000, 'x')}});
  CHECK_THROWS_WITH_AS(Pages(archive({{"assets/index.html", ""}})),
                       "[serve] expected an index.html in archive of pages", Error);
  for (const size_t length : {size_t{100}, size_t{600}, size_t{1500}}) {
    CAPTURE(length);
    CHECK_THROWS_AS(Pages(ByteView(whole).first(length)), Error);
  }
}
