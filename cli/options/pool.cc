// SPDX-License-Identifier: MIT
// The options of the pool's commands: serve and join.
#include "cli/options/shared.h"

namespace kaiseki::cli {
CommandText add_options(OptionSet& set, ServeCommand& c) {
  set.text("--host", "ADDRESS", c.host,
           "Address to listen on. Other machines can connect only with TLS");
  set.whole("--port", c.port, {0, 65535}, "Port to listen on (0: any free port)");
  set.text("--tls-cert", "FILE", c.certificate, "Certificate chain in PEM format");
  set.text("--tls-key", "FILE", c.key, "Private key of --tls-cert in PEM format");
  set.texts("--name", "HOST", c.names, "Another host name that requests may use");
  set.texts("--origin", "URL", c.origins,
            "Another origin of pages that may join, such as https://example.org");
  set.text("--web", "DIR", c.web,
           "Folder of pages to serve, or none (default: the pages in this command)");
  set.text("--state", "DIR", c.state,
           "Folder of tickets, results and tokens (default: KAISEKI_STATE_DIR)");
  set.text("--log", "FILE", c.log,
           "Write events to this file as JSON lines (default: standard error)");
  set.flag("--trust-proxy", c.trust_proxy,
           "For requests from this machine, read the client's address from X-Forwarded-For");
  set.flag("--short-addresses", c.short_addresses,
           "Log the networks of nodes (IPv4 /24, IPv6 /48) instead of their addresses");
  set.texts("--limit", "NAME=NUMBER", c.limits,
            "Change a limit, such as sockets=1000. The page \"The coordinator\" of the "
            "documentation lists them");
  return {"serve", "Coordinate a pool: send tickets to nodes and store the results",
          "Ctrl-C and SIGTERM: the coordinator gives out no more tickets, waits for running ones,\n"
          "and ends.\n\n"
          "Examples:\n"
          "  kaiseki serve\n"
          "  kaiseki serve --web none\n"
          "  kaiseki serve --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem \\\n"
          "      --name pool.example.org --web build/wasm/page"};
}

CommandText add_options(OptionSet& set, JoinCommand& c) {
  set.text("url", "URL", c.url, "Address of the coordinator, such as http://127.0.0.1:8080")
      .required();
  set.text("--token-file", "FILE", c.token_file,
           "File with the coordinator's token for nodes (default: the one in KAISEKI_STATE_DIR)");
  set.text("--tls-ca", "FILE", c.certificates,
           "Certificates to trust, in PEM format (default: the system's)");
  set.text("--name", "NAME", c.name, "Name that the operator sees (default: this machine's)");
  set.whole("--jobs", c.jobs, {1, 1024},
            "Tickets computed at the same time (default: one for each thread)");
  set.checked_text("--memory", "BYTES", c.memory, "bytes such as 8G", is_bytes,
                   "Memory of this node. A ticket takes at most a quarter of it (default: the "
                   "device's)");
  set.real("--gflops", c.gflops, kAboveZero, "Speed of this device (default: measured for 2 s)");
  set.real("--seconds", c.seconds, kAboveZero,
           "Time after which a ticket is given back as failed (default: 300)");
  add_device(set, c.device);
  add_convolutions(set, c.device);
  return {"join", "Compute tickets of a coordinator",
          "Ctrl-C and SIGTERM: the node returns the tickets that are not done, and ends.\n\n"
          "Examples:\n"
          "  kaiseki join http://127.0.0.1:8080\n"
          "  kaiseki join https://pool.example.org --token-file node.token --jobs 4"};
}

}  // namespace kaiseki::cli
