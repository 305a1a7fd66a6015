// SPDX-License-Identifier: MIT
// The connections that the coordinator accepts as nodes.
#include "nn/io/tar.h"
#include "tests/dist/net/running.h"
#include "tests/support/tar.h"

namespace kaiseki::test {

TEST_CASE("coordinator: a page of an allowed origin needs no token if there are pages") {
  const auto admits = [](Running& at, const std::string& token) {
    HttpRequest head;
    head.headers["origin"] = at.server.url();
    if (!token.empty()) head.headers["authorization"] = "Bearer " + token;
    bool admitted = false;
    at.on([&] {
      Peer peer;
      admitted = at.coordinator.open_node(head, peer) != nullptr;
    });
    return admitted;
  };
  Running without;
  CHECK(!admits(without, ""));
  CHECK(!admits(without, "wrong"));
  CHECK(admits(without, "token"));
  ServerOptions how;
  how.origins = {"https://pool.example"};
  Running elsewhere({}, how);
  CHECK(admits(elsewhere, ""));
  CHECK(!admits(elsewhere, "wrong"));
  ByteVector tar;
  nn::append_tar_file(tar, "index.html", as_bytes("<!doctype html>"));
  finish_tar(tar);
  Running with({}, {}, {}, Pages(tar));
  CHECK(admits(with, ""));
  CHECK(!admits(with, "wrong"));
}

}  // namespace kaiseki::test
