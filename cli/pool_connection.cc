// SPDX-License-Identifier: MIT
#include "cli/pool_connection.h"

#include <cstdio>

#include "base/error.h"
#include "cli/for_option.h"
#include "cli/state_folder.h"

namespace kaiseki::cli {
namespace {

constexpr int kPort = 8080;
constexpr double kSilence = 15;  // in seconds

dist::TrainingServerOptions server_options(const PoolCommand& c, const dist::AuthorWork& work,
                                           std::FILE* log) {
  dist::TrainingServerOptions how;
  how.server.port = static_cast<uint16_t>(c.port.value_or(kPort));
  how.server.limits.drain_seconds = 1;  // after the last step no node waits for a ticket
  // A node opens a connection for each blob, and a machine may run several nodes.
  how.server.limits.connections_per_second = 1000;
  how.server.limits.sockets_per_address = 1000;
  const auto folder = state_folder("");
  how.author_token = token_of(folder / kAuthorToken);
  how.node_token = token_of(folder / kNodeToken);
  how.work = work;
  if (log)
    how.log = [log](const std::string& line) {
      std::fprintf(log, "%s\n", line.c_str());
      std::fflush(log);
    };
  return how;
}

dist::WireOptions coordinator_of(const PoolCommand& c) {
  if (c.port || !c.log.empty())
    throw Error(std::string(c.port ? "--pool-port" : "--pool-log") +
                ": expected --pool serve, got --pool " + c.where);
  const dist::CoordinatorUrl url =
      for_option("--pool", [&] { return dist::parse_coordinator_url(c.where); });
  return {.url = url,
          .token = token_for(url, {"--pool-token-file", c.token_file}, kAuthorToken),
          .certificates = c.certificates,
          .silence = kSilence};
}

}  // namespace

PoolConnection::PoolConnection(const PoolCommand& c, const dist::AuthorWork& work) : url_(c.where) {
  if (c.where != "serve") {
    connect(c, work);
    return;
  }
  if (!c.token_file.empty() || !c.certificates.empty())
    throw Error(std::string(c.token_file.empty() ? "--pool-tls-ca" : "--pool-token-file") +
                ": expected --pool URL, got --pool serve");
  log_ = open_log("--pool-log", c.log);
  const dist::TrainingServerOptions how = server_options(c, work, log_.get());
  try {
    server_.emplace(how);
  } catch (const Error&) {
    if (log_ || !find_own(how)) throw;
  }
}

/// Tries this user's own coordinator if it is using the port. Returns whether there is one.
bool PoolConnection::find_own(const dist::TrainingServerOptions& how) {
  own_ = "http://127.0.0.1:" + std::to_string(how.server.port);
  try {
    remote_.emplace(dist::WireOptions{.url = dist::parse_coordinator_url(own_),
                                      .token = how.author_token,
                                      .silence = kSilence},
                    how.work);
  } catch (const Error&) {  // another program uses the port
    return false;
  }
  return true;
}

void PoolConnection::connect(const PoolCommand& c, const dist::AuthorWork& work) {
  try {
    remote_.emplace(coordinator_of(c), work);
  } catch (const dist::WrongToken& error) {
    throw Error(error.as_message() + "; --pool-token-file names the file with it");
  } catch (const dist::UntrustedCertificate& error) {
    throw Error(error.as_message() + "; --pool-tls-ca names a file of certificates to trust");
  }
}

std::string PoolConnection::where() const {
  const std::string join = "nodes: kaiseki join ";
  if (server_) return join + server_->url();
  if (url_ != "serve") return join + url_;
  return "through your coordinator at " + own_ + "; " + join + own_;
}

}  // namespace kaiseki::cli
