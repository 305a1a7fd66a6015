// SPDX-License-Identifier: MIT
// kaiseki serve
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/interrupt.h"
#include "cli/log_file.h"
#include "cli/options/nearest.h"
#include "cli/page.h"
#include "cli/state_folder.h"
#include "cli/text.h"
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"
#include "nn/data/catalog.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostData = 64 << 20;  // bytes of a file of MNIST

/// Returns the pages of `--web`, else the pages embedded in this command.
dist::Pages pages_of(const std::string& web) {
  if (web == "none" || (web.empty() && embedded_page().empty())) return {};
  if (web.empty()) return dist::Pages(embedded_page());
  return for_option("--web", [&] { return dist::Pages(fs::path(web)); });
}

/// Adds MNIST for the page that trains, if this machine has it.
void add_mnist(dist::Pages& pages) {
  const nn::RemoteSet& set = *nn::find_remote_set("mnist");
  fs::path folder;
  try {
    folder = nn::locate_set(set, {});
  } catch (const Error&) {
    return;
  }
  for (const nn::RemoteFile& one : set.files) {
    fs::path file = folder / one.name;
    if (!fs::exists(file)) file.replace_extension();  // unpacked
    pages.add(fs::path("data") / set.name / one.name, read_file(file, kMostData));
  }
}

void set_limit(dist::Limits& limits, const std::string& assignment) {
  const std::string name = assignment.substr(0, assignment.find('='));
  std::vector<std::string> known;
  for (const dist::LimitName& one : dist::limit_names()) known.emplace_back(one.name);
  if (name != assignment && std::ranges::find(known, name) == known.end()) {
    const std::string meant = nearest(name, known);
    throw Error("--limit: unknown limit '" + shortened(name) + "'" +
                (meant.empty() ? "; the limits are " + join(known, ", ")
                               : "; did you mean " + meant + "?"));
  }
  for_option("--limit", [&] { dist::set_limit(limits, assignment); });
}

std::unique_ptr<dist::Server> make_server(const dist::ServerOptions& how,
                                          dist::ServerMetrics& metrics, dist::EventLog& log) {
  try {
    return std::make_unique<dist::Server>(how, metrics, log);
  } catch (const dist::UnusableServer& error) {
    const bool is_host = error.option == dist::UnusableServer::Option::host;
    throw Error(error.as_message() + (is_host ? "; see --host" : "; see --tls-cert and --tls-key"));
  }
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
  for (const std::string& limit : c.limits) set_limit(how.limits, limit);
  dist::Pages pages = pages_of(c.web);
  if (!pages.empty()) add_mnist(pages);

  const fs::path folder = c.state.empty()
                              ? state_folder("")
                              : for_option("--state", [&] { return state_folder(c.state); });
  dist::CoordinatorOptions who;
  who.author_token = token_of(folder / kAuthorToken);
  who.viewer_token = token_of(folder / kViewerToken);
  who.node_token = token_of(folder / kNodeToken);
  who.limits = how.limits;
  who.short_addresses = c.short_addresses;
  who.history = folder / "history.json";
  const LogFile file = open_log("--log", c.log);
  std::FILE* const out = file ? file.get() : stderr;
  dist::EventLog log(
      [&](const std::string& line) {
        std::fprintf(out, "%s\n", line.c_str());
        std::fflush(out);
      },
      how.limits.log_lines_per_second);

  dist::ServerMetrics metrics;
  const auto server = make_server(how, metrics, log);
  dist::BlobStore blobs(folder / "blobs");
  const auto store = dist::open_sqlite_store(
      folder / "pool.sqlite",
      {.on_lost =
           [&](const std::string& what) {
             log.security("results_lost", {{"what", what}});
           },
       .is_whole = [&](const std::string& hash) { return blobs.is_whole(hash); }});
  dist::Coordinator coordinator({.store = *store,
                                 .blobs = blobs,
                                 .server = *server,
                                 .metrics = metrics,
                                 .log = log,
                                 .pages = pages},
                                who);

  std::printf("coordinator  %s\n", server->url().c_str());
  std::printf("nodes        kaiseki join %s%s\n", server->url().c_str(),
              c.state.empty() ? "" : (" --token-file " + (folder / kNodeToken).string()).c_str());
  for (const auto& [what, page] :
       {std::pair{"volunteers", "/volunteer/"}, std::pair{"console", "/console/"}})
    if (pages.has(std::string(page) + "index.html"))
      std::printf("%-12s %s%s\n", what, server->url().c_str(), page);
  std::printf("authors      with the token in %s\n", (folder / kAuthorToken).c_str());
  if (!pages.empty())
    std::printf("pages        %s/\n", server->url().c_str());
  else if (c.web.empty())
    std::printf(
        "pages        none: this command was built without them (use --web DIR; see \"The page "
        "that trains\" in the documentation)\n");
  std::fflush(stdout);
  catch_interrupts();
  server->run(coordinator);
  return 0;
}

}  // namespace kaiseki::cli
