// SPDX-License-Identifier: MIT
// kaiseki join
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/environment.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/grid_ticket.h"
#include "cli/interrupt.h"
#include "cli/setup.h"
#include "cli/state_folder.h"
#include "cli/text.h"
#include "dist/net/link.h"
#include "dist/net/pool_channel.h"
#include "dist/node/node.h"
#include "dist/node/speed.h"
#include "dist/node/training.h"
#include "dist/samples/samples.h"
#include "matrix/memory/allocator.h"
#include "matrix/threads.h"

namespace kaiseki::cli {
namespace {

constexpr double kBenchmarkSeconds = 2;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "node";
}

/// Measures the link, then computes tickets until the user stops it.
dist::NodeCounts run_node(dist::NodeOptions how) {
  try {
    how.info.link = dist::measure_link(how.wire, how.stop);
    return dist::Node(std::move(how)).run();
  } catch (const dist::WrongToken& error) {
    throw Error(error.as_message() + "; --token-file names the file with it");
  } catch (const dist::UntrustedCertificate& error) {
    throw Error(error.as_message() + "; --tls-ca names a file of certificates to trust");
  }
}

}  // namespace

int run_command(const JoinCommand& c) {
  const Device device = open_device(c.device);
  dist::NodeOptions how;
  how.wire.url = for_option("url", [&] { return dist::parse_coordinator_url(c.url); });
  how.wire.token = token_for(how.wire.url, {"--token-file", c.token_file}, kNodeToken);
  how.wire.certificates = c.certificates;
  how.functions = dist::sample_functions();
  how.functions[dist::kTrainingFunction] = dist::training_function(device);
  how.functions[dist::kFitFunction] = fit_function(device);
  how.ticket_seconds = c.seconds;
  how.stop = interrupted;
  how.log = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  how.info.name = c.name.empty() ? host_name() : c.name;
  how.info.device = device.name();
  const uint64_t memory =
      c.memory.empty() ? device.info().memory : parse_bytes(c.memory, "--memory");
  if (memory > 0) how.info.memory_bytes = memory;
  // One ticket trains at a time. On an OpenCL device, a budget would turn off kernels.
  if (device.is_cpu()) device.memory().set_budget(dist::ticket_memory(how.info));
  how.info.threads = c.jobs ? *c.jobs : thread_count();
  catch_interrupts();
  how.info.gflops =
      c.gflops ? *c.gflops : dist::measure_gflops(device, kBenchmarkSeconds, interrupted);
  const dist::NodeCounts counts = run_node(std::move(how));
  std::printf("%s results accepted, %s refused, %s tickets failed\n",
              format_count(counts.accepted).c_str(), format_count(counts.refused).c_str(),
              format_count(counts.failed).c_str());
  if (counts.abandoned > 0) {  // a function may still run, and use objects that exit destroys
    std::fflush(nullptr);
    std::_Exit(0);
  }
  return 0;
}

}  // namespace kaiseki::cli
