// SPDX-License-Identifier: MIT
// kaiseki serve
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/state_folder.h"
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"
#include "matrix/error.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stderr) std::fclose(file);
  }
};
using LogFile = std::unique_ptr<std::FILE, CloseFile>;

LogFile open_log(const std::string& name) {
  if (name.empty()) return LogFile(stderr);
  LogFile file(std::fopen(name.c_str(), "a"));
  if (!file) throw Error(message("serve", "cannot write --log ", name));
  return file;
}

/// What `--web` names; without it the pages in this command, if there are some.
dist::Pages pages_of(const std::string& web) {
  if (web == "none" || (web.empty() && embedded_page().empty())) return {};
  return web.empty() ? dist::Pages(embedded_page()) : dist::Pages(fs::path(web));
}

}  // namespace

int run_command(const ServeCommand& c) {
  dist::ServerOptions how;
  how.host = c.host;
  how.port = static_cast<uint16_t>(c.port);
  how.certificate = c.certificate;
  how.key = c.key;
  how.names = c.names;
  how.origins = c.origins;
  how.stop = interrupted;
  how.trust_proxy = c.trust_proxy;
  for (const std::string& limit : c.limits) dist::set_limit(how.limits, limit);
  const dist::Pages pages = pages_of(c.web);

  const fs::path folder = state_folder(c.state);
  dist::CoordinatorOptions who;
  who.author_token = token_of(folder / "author.token");
  who.viewer_token = token_of(folder / "viewer.token");
  who.node_token = token_of(folder / "node.token");
  who.limits = how.limits;
  const LogFile file = open_log(c.log);
  dist::EventLog log(
      [&](const std::string& line) {
        std::fprintf(file.get(), "%s\n", line.c_str());
        std::fflush(file.get());
      },
      how.limits.log_lines_per_second);

  dist::Metrics metrics;
  dist::Server server(how, metrics, log);
  const auto store = dist::open_sqlite_store(folder / "pool.sqlite");
  dist::BlobStore blobs(folder / "blobs");
  dist::Coordinator coordinator(*store, blobs, {}, pages, server, metrics, log, who);

  std::printf("coordinator  %s\n", server.url().c_str());
  std::printf("nodes        kaiseki join %s%s\n", server.url().c_str(),
              c.state.empty() ? "" : (" --token-file " + (folder / "node.token").string()).c_str());
  for (const auto& [what, page] :
       {std::pair{"volunteers", "/volunteer/"}, std::pair{"console", "/console/"}})
    if (pages.has(std::string(page) + "index.html"))
      std::printf("%-12s %s%s\n", what, server.url().c_str(), page);
  std::printf("authors      with the token in %s\n", (folder / "author.token").c_str());
  if (!pages.empty())
    std::printf("pages        %s/\n", server.url().c_str());
  else if (c.web.empty())
    std::printf("pages        none, as this command was built without (--web DIR; docs/web.md)\n");
  std::fflush(stdout);
  catch_interrupts();
  server.run(coordinator);
  return 0;
}

}  // namespace kaiseki::cli
