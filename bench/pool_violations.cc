// SPDX-License-Identifier: MIT
// pool_violations [--connections N] [--tls]: measures the effect of protocol violations on a
// coordinator in this process. Peers in another process connect from many addresses and request a
// node's WebSocket. They send a text frame and a close frame in one segment, and leave. Prints one
// JSON line: memory and connections before and after.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/json_line.h"
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

constexpr int kThreads = 8;
constexpr uint32_t kAddresses = 640, kFirstAddress = 0x7f010101;  // 127.1.1.1
constexpr int kFirst = 1000;        // connections before memory is first measured
constexpr double kEndSeconds = 10;  // limit for closing the last connections
constexpr std::string_view kUpgrade =
    "GET /node HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Authorization: Bearer token\r\n\r\n";
// "hello" as text, then a close frame with code 1000. The masks are 0.
constexpr std::string_view kTextAndClose("\x81\x85\0\0\0\0hello\x88\x82\0\0\0\0\x03\xe8", 19);

struct Settings {
  int connections = 100000;
  bool tls = false;
};

class Peer {
 public:
  Peer(uint16_t port, uint32_t source, SSL_CTX* tls) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    const sockaddr_in from = address(source, 0), to = address(INADDR_LOOPBACK, port);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("cannot connect");
    if (!tls) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, socket_);
    if (SSL_connect(ssl_) != 1) throw std::runtime_error("no TLS");
  }
  ~Peer() {
    SSL_free(ssl_);
    ::close(socket_);
  }
  Peer(const Peer&) = delete;

  void violate() {
    write(kUpgrade);
    std::string answer;
    char part[1024];
    while (answer.find("\r\n\r\n") == std::string::npos) {
      const int count = read(part, sizeof part);
      if (count <= 0) throw std::runtime_error("expected an answer to the upgrade");
      answer.append(part, static_cast<size_t>(count));
    }
    if (!answer.starts_with("HTTP/1.1 101")) throw std::runtime_error("no WebSocket: " + answer);
    write(kTextAndClose);
    while (read(part, sizeof part) > 0) {
    }
  }

 private:
  static sockaddr_in address(uint32_t host, uint16_t port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(host);
    out.sin_port = htons(port);
    return out;
  }
  void write(std::string_view bytes) {
    if (ssl_)
      SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    else
      ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  int read(char* to, size_t size) {
    return ssl_ ? SSL_read(ssl_, to, static_cast<int>(size))
                : static_cast<int>(::recv(socket_, to, size, 0));
  }

  int socket_;
  SSL* ssl_ = nullptr;
};

void violate(uint16_t port, int connections, SSL_CTX* tls) {
  std::atomic<int> next = 0, failed = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int at; (at = next++) < connections;) try {
          Peer(port, kFirstAddress + static_cast<uint32_t>(at) % kAddresses, tls).violate();
        } catch (const std::exception& error) {
          if (failed++ == 0) std::fprintf(stderr, "pool_violations: %s\n", error.what());
        }
    });
  threads.clear();
  if (failed > 0) std::fprintf(stderr, "pool_violations: %d peers failed\n", failed.load());
}

/// Runs the peers in their own process, which then ends.
void run_peers(uint16_t port, int connections, bool tls) {
  if (fork() == 0) {
    signal(SIGPIPE, SIG_IGN);
    violate(port, connections, tls ? SSL_CTX_new(TLS_client_method()) : nullptr);
    _exit(0);
  }
  wait(nullptr);
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Settings read_settings(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--tls")
      settings.tls = true;
    else if (option == "--connections" && i + 1 < count)
      settings.connections = std::atoi(arguments[++i]);
    else
      settings.connections = 0;
  }
  if (settings.connections < 1)
    throw std::runtime_error("usage: pool_violations [--connections N] [--tls]");
  return settings;
}

ServerOptions options(const Settings& settings, const std::filesystem::path& folder,
                      std::function<bool()> stop) {
  ServerOptions how;
  how.stop = std::move(stop);
  how.limits.connections_per_second = 1e9;
  how.limits.drain_seconds = 0.1;
  if (!settings.tls) return how;
  how.certificate = folder / "cert.pem";
  how.key = folder / "key.pem";
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=127.0.0.1 -keyout " +
      how.key + " -out " + how.certificate + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) throw std::runtime_error("openssl made no certificate");
  return how;
}

void run(const Settings& settings) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("pool_violations." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::atomic<bool> stop = false;
  const ServerOptions how = options(settings, folder, [&] { return stop.load(); });
  ServerMetrics metrics;
  EventLog log({}, 1);
  Server server(how, metrics, log);
  const auto store = open_sqlite_store(folder / "pool.sqlite");
  BlobStore blobs(folder / "blobs");
  Coordinator coordinator(
      {.store = *store, .blobs = blobs, .server = server, .metrics = metrics, .log = log},
      {.author_token = "", .node_token = "token", .limits = how.limits});
  std::thread thread([&] { server.run(coordinator); });
  run_peers(server.port(), kFirst, settings.tls);
  const int64_t before = resident_bytes();
  const double start = steady_seconds();
  run_peers(server.port(), settings.connections, settings.tls);
  const double seconds = steady_seconds() - start;
  std::this_thread::sleep_for(std::chrono::duration<double>(kEndSeconds));
  const int64_t after = resident_bytes();
  size_t connections = 0, seats = 0;
  server.post([&] {
    connections = server.connections();
    seats = server.seats();
    stop = true;
  });
  thread.join();
  JsonLine line;
  line.add("bench", "pool_violations").add("tls", settings.tls ? 1 : 0);
  line.add("connections", settings.connections).add("seconds", seconds);
  line.add("per_second", settings.connections / seconds);
  line.add("refused", static_cast<int64_t>(metrics.refused(Refusal::text_message)));
  line.add("resident_bytes_before", before).add("resident_bytes_after", after);
  line.add("connections_left", static_cast<int64_t>(connections));
  line.add("seats_left", static_cast<int64_t>(seats));
  std::printf("%s\n", line.str().c_str());
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(read_settings(count, arguments));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pool_violations: %s\n", error.what());
    return 1;
  }
}
