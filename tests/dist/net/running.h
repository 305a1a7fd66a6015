// SPDX-License-Identifier: MIT
// A coordinator on a thread of its own, as in `kaiseki serve`, and nodes without sockets.
#pragma once

#include <future>
#include <thread>

#include "dist/net/coordinator.h"
#include "tests/dist/pool/support.h"

namespace kaiseki::test {

/// A node without a socket, and the frames that it got. Used on the server's thread.
class Peer final : public NodeLink {
 public:
  explicit Peer(std::string address = "192.0.2.1") : address_(std::move(address)) {}

  void send(ByteVector message) override {
    if (!closed) heard.push_back(std::move(message));
  }
  void close(CloseCode code, const std::string&) override {
    if (!closed) closed = code;
  }
  const std::string& address() const override { return address_; }

  void say(FrameType type, Json control, uint64_t ticket = 0, std::string_view payload = {}) {
    const ByteVector message = encode_frame({type, ticket, std::move(control), bytes_of(payload)});
    session->receive(decode_frame(message), message);
  }
  /// The last frame of this type. Its payload is a view into `heard`.
  std::optional<Frame> last(FrameType type) const {
    for (auto at = heard.rbegin(); at != heard.rend(); ++at)
      if (const Frame frame = decode_frame(*at); frame.type == type) return frame;
    return std::nullopt;
  }

  std::unique_ptr<NodePeer> session;
  std::vector<ByteVector> heard;
  std::optional<CloseCode> closed;

 private:
  static ByteView bytes_of(std::string_view text) { return as_bytes(text); }
  const std::string address_;
};

struct Running {
  explicit Running(PoolOptions pool = {}, const ServerOptions& how = {}, EventLog::Sink lines = {},
                   Pages pages = {})
      : log(std::move(lines), 100),
        server(options(how), metrics, log),
        store(open_sqlite_store(":memory:")),
        blobs(folder / "blobs", {.free_floor = 0}),
        coordinator({.store = *store,
                     .blobs = blobs,
                     .server = server,
                     .metrics = metrics,
                     .log = log,
                     .pages = std::move(pages),
                     .pool = std::move(pool)},
                    {.author_token = "author",
                     .viewer_token = "viewer",
                     .node_token = "token",
                     .limits = how.limits}),
        thread([this] {
          try {
            server.run(coordinator);
          } catch (const std::exception& error) {
            problem = error.what();
          }
        }) {}
  ~Running() {
    end();
    peers.clear();
  }
  void end() {
    stop = true;
    if (thread.joinable()) thread.join();
  }

  ServerOptions options(ServerOptions how) {
    how.stop = [this] { return stop.load(); };
    how.limits.drain_seconds = 0.1;
    return how;
  }
  /// Runs `call` on the server's thread, after all calls that were posted before.
  void on(const std::function<void()>& call) {
    std::promise<void> done;
    server.post([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }
  /// Waits for `count` turns of the server's loop. Each turn can run one flush().
  void turns(int count) {
    for (int i = 0; i < count; ++i) on([] {});
  }
  /// On the server's thread: adds a node that sends hello and then ready.
  Peer& join(const std::string& function, int slots = 1, const NodeIdentity& known = {}) {
    peers.push_back(std::make_unique<Peer>());
    Peer& peer = *peers.back();
    HttpRequest head;
    head.headers["authorization"] = "Bearer token";
    peer.session = coordinator.open_node(head, peer);
    Json functions = Json::array(), hello = Json::object();
    functions.items.emplace_back(function);
    hello.set("node", known.id).set("key", known.key);
    peer.say(FrameType::hello, hello.set("functions", functions).set("threads", slots));
    server.post([&peer, slots] {
      Json ready = Json::object();
      peer.say(FrameType::ready, ready.set("slots", slots));
    });
    return peer;
  }
  /// An author's answer to GET of a path below /api/.
  std::string get(const std::string& path) {
    std::string body;
    on([&] {
      HttpRequest request;
      request.method = "GET";
      request.path = path;
      body = coordinator.answer(request).body;
    });
    return body;
  }
  TaskId task(const std::string& function, int tickets, int max_attempts = 10) {
    const TaskId id = coordinator.pool().create_task(
        coordinator.pool().create_project("p"),
        {.name = "t", .function = function, .max_attempts = max_attempts});
    coordinator.pool().add_tickets(id, std::vector<TicketSpec>(static_cast<size_t>(tickets)));
    return id;
  }

  std::atomic<bool> stop = false;
  Folder folder;
  ServerMetrics metrics;
  EventLog log;
  Server server;
  std::unique_ptr<Store> store;
  BlobStore blobs;
  Coordinator coordinator;
  std::vector<std::unique_ptr<Peer>> peers;
  std::string problem;
  std::thread thread;
};

}  // namespace kaiseki::test
