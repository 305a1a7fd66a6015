// SPDX-License-Identifier: MIT
// All state belongs to the thread of run(). Workers compute and post their results to it.
#include "dist/node/node.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "base/error.h"
#include "dist/net/http_client.h"
#include "dist/net/json_fields.h"
#include "dist/node/workers.h"
#include "dist/pool/text.h"
#include "dist/wire/blob_cache.h"
#include "dist/wire/frame.h"

namespace kaiseki::dist {
namespace {

constexpr double kStopSeconds = 0.1;   // between two calls of stop()
constexpr double kGoodbyeSeconds = 3;  // to wait for the last answers
constexpr double kFirstWait = 0.5;
constexpr uint64_t kMostBlob = uint64_t{1} << 30;
constexpr uint64_t kKeptBlobs = 512 << 20;

/// Fetches blobs and keeps some of them. Several threads may use it.
class BlobFetcher {
 public:
  BlobFetcher(const WireOptions& wire, uint64_t kept_bytes)
      : wire_(wire), kept_(std::min(kKeptBlobs, kept_bytes)) {}

  ByteVector fetch(const BlobHash& hash, uint64_t most_bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (const ByteVector* known = kept_.find(hash)) return *known;
    }
    ByteVector bytes = download(hash, std::min(kMostBlob, most_bytes));
    expect_blob("join", hash, bytes);
    const std::lock_guard lock(mutex_);
    kept_.add(hash, bytes);
    return bytes;
  }

 private:
  /// Connections for fetching. A thread takes one and returns it for the next thread.
  ByteVector download(const BlobHash& hash, uint64_t most_bytes) {
    std::unique_ptr<HttpClient> client;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        client = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!client) client = std::make_unique<HttpClient>(wire_);
    HttpReply reply = client->request("GET", "/blobs/" + hash, {}, most_bytes);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(client));
    if (reply.status != 200)
      throw Error(message("join", "expected 200 of blob ", hash, ", got ", reply.status));
    return std::move(reply.body);
  }

  const WireOptions wire_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HttpClient>> idle_;
  BlobCache kept_;
};

struct Job {
  std::string token;
  bool done = false;
  std::string error;  // of a failed ticket
  ByteVector result;
  uint64_t max_result_bytes = UINT64_MAX;
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

struct Node::Impl {
  explicit Impl(NodeOptions given)
      : options(std::move(given)),
        log(options.log, 1000),
        wire(options.wire),
        blobs(std::make_shared<BlobFetcher>(options.wire, ticket_memory(options.info) / 2)),
        random(options.seed ? *options.seed : std::random_device{}()),
        workers(options.info.threads, options.ticket_seconds) {
    for (const auto& [name, function] : options.functions) options.info.functions.push_back(name);
    wire.on_open = [this] { open(); };
    wire.on_message = [this](ByteView message) { receive(message); };
    wire.on_closed = [this](int code, const std::string& why) { closed(code, why); };
  }

  void open() {
    ++counts.connections;
    Json control = Json::object();
    control.set("name", options.info.name).set("device", options.info.device);
    control.set("threads", options.info.threads).set("gflops", options.info.gflops.value_or(0));
    control.set("memory_bytes", static_cast<int64_t>(options.info.memory_bytes.value_or(0)));
    if (const auto& link = options.info.link)
      control.set("down_mbit_s", link->down_mbit_s)
          .set("up_mbit_s", link->up_mbit_s)
          .set("round_trip_s", link->round_trip_s);
    Json functions = Json::array();
    for (const std::string& name : options.info.functions) functions.items.emplace_back(name);
    control.set("functions", functions).set("modules", false);
    if (!identity.id.empty()) control.set("node", identity.id).set("key", identity.key);
    send(FrameType::hello, 0, control);
  }

  void receive(ByteView message) {
    try {
      const Frame frame = decode_frame(message);
      if (frame.type == FrameType::welcome) return welcome(frame);
      if (frame.type == FrameType::ticket) return take(frame);
      if (frame.type == FrameType::verdict) return verdict(frame);
      if (frame.type == FrameType::drain) return return_waiting();
      if (frame.type == FrameType::cancel) return give_back(static_cast<TicketId>(frame.ticket));
      if (frame.type == FrameType::error)
        log.event("refused", {{"what", text_of(frame.control, "error")}});
    } catch (const ParseError& error) {
      log.event("bad_frame", {{"what", error.what()}});
    }
  }

  void welcome(const Frame& frame) {
    identity = {text_of(frame.control, "node"), text_of(frame.control, "key")};
    welcomed = true;
    log.event("joined", {{"node", identity.id}});
    std::vector<TicketId> done;
    for (const auto& [ticket, job] : jobs)
      if (job.done) done.push_back(ticket);
    for (TicketId ticket : done) deliver(ticket);
    ready();
  }

  /// One ticket more for each thread, so that no thread waits for the coordinator.
  void ready() {
    const int slots = stopping ? 0 : 2 * options.info.threads;
    Json control = Json::object();
    send(FrameType::ready, 0, control.set("slots", slots));
  }

  void take(const Frame& frame) {
    wait = kFirstWait;
    const auto ticket = static_cast<TicketId>(frame.ticket);
    const auto [at, fresh] = jobs.try_emplace(ticket);
    Job& job = at->second;
    job.token = text_of(frame.control, "token");
    if (const Json* most = frame.control.find("max_result_bytes"))
      job.max_result_bytes = static_cast<uint64_t>(std::max(0.0, most->number));
    if (!fresh) {
      if (job.done) deliver(ticket);
      return;
    }
    if (stopping) return give_back(ticket);
    const auto function = options.functions.find(text_of(frame.control, "function"));
    if (function == options.functions.end()) {
      job.error = "no such function here";
      return finish(ticket);
    }
    TicketContext context;
    context.memory_bytes = kDefaultMemory;
    if (const Json* memory = frame.control.find("memory_bytes"))
      context.memory_bytes = static_cast<uint64_t>(std::clamp(memory->number, 0.0, 1e18));
    if (context.memory_bytes > ticket_memory(options.info)) {
      job.error = message("join", "expected a ticket that takes at most ",
                          format_bytes(ticket_memory(options.info)), ", a quarter of the memory",
                          ", got ", format_bytes(context.memory_bytes));
      return finish(ticket);
    }
    if (const Json* list = frame.control.find("blobs"))
      for (const Json& hash : list->items) context.blobs.push_back(hash.string);
    context.fetch = [cache = blobs, most = context.memory_bytes](const BlobHash& hash) {
      return cache->fetch(hash, most);
    };
    context.cancelled = [flag = job.cancelled] { return flag->load(); };
    waiting.insert(ticket);
    Workers::Job work;
    work.begin = [this, ticket, context] {
      if (!context.cancelled()) wire.post([this, ticket] { waiting.erase(ticket); });
    };
    work.work = [this, ticket, call = function->second, context,
                 input = ByteVector(frame.payload.begin(), frame.payload.end())] {
      auto computed = std::make_shared<Computed>(compute(call, context, input));
      return [this, ticket, context, computed] {
        wire.post([this, ticket, context, computed] { end_ticket(ticket, context, *computed); });
      };
    };
    work.overdue = [this, ticket, flag = job.cancelled] { end_overdue(ticket, *flag); };
    workers.add(std::move(work));
  }

  struct Computed {
    ByteVector result;
    std::string error;
  };

  static Computed compute(const NodeFunction& call, const TicketContext& context, ByteView input) {
    Computed computed;
    if (context.cancelled()) return computed;
    try {
      computed.result = call(input, context);
    } catch (const std::exception& problem) {
      computed.error = clean_text(problem.what(), 1000);
      if (computed.error.empty()) computed.error = "failed";
    }
    return computed;
  }

  void end_ticket(TicketId ticket, const TicketContext& context, Computed& computed) {
    const auto found = jobs.find(ticket);
    // A coordinator with a new store numbers its tickets from the start.
    if (found == jobs.end() || context.cancelled()) return;
    Job& job = found->second;
    job.error = computed.error;
    if (computed.result.size() <= job.max_result_bytes)
      job.result = std::move(computed.result);
    else
      job.error = message("join", "expected a result of at most ", job.max_result_bytes,
                          " bytes (max_result_bytes), got ", computed.result.size());
    finish(ticket);
  }

  void end_overdue(TicketId ticket, std::atomic<bool>& cancelled) {
    if (cancelled.exchange(true)) return;
    const auto found = jobs.find(ticket);
    if (found == jobs.end()) return;  // given back or ended meanwhile
    found->second.error =
        message("join", "expected a result within ", options.ticket_seconds, " s, got none");
    finish(ticket);
  }

  void finish(TicketId ticket) {
    Job& job = jobs.at(ticket);
    job.done = true;
    if (!job.error.empty()) {
      ++counts.failed;
      log.event("ticket_failed", {{"ticket", std::to_string(ticket)}, {"error", job.error}});
    }
    if (welcomed) deliver(ticket);
  }

  /// A result is kept until its verdict. A failure has no verdict.
  void deliver(TicketId ticket) {
    const Job& job = jobs.at(ticket);
    Json control = Json::object();
    control.set("token", job.token);
    if (job.error.empty()) return send(FrameType::result, ticket, control, job.result);
    send(FrameType::give_back, ticket, control.set("error", job.error));
    jobs.erase(ticket);
  }

  void verdict(const Frame& frame) {
    wait = kFirstWait;
    // A verdict on an earlier lease of the ticket must not end the job that runs now.
    if (const auto found = jobs.find(static_cast<TicketId>(frame.ticket));
        found != jobs.end() && found->second.done)
      jobs.erase(found);
    const std::string said = text_of(frame.control, "verdict");
    if (said == "refused") {
      ++counts.refused;
      log.event("result_refused", {{"ticket", std::to_string(frame.ticket)},
                                   {"reason", text_of(frame.control, "reason")}});
    } else if (said == "accepted") {
      ++counts.accepted;
    }
  }

  /// Gives back the tickets that no thread has begun.
  void return_waiting() {
    for (TicketId ticket : std::exchange(waiting, {})) give_back(ticket);
  }

  void give_back(TicketId ticket) {
    const auto found = jobs.find(ticket);
    if (found == jobs.end() || found->second.done) return;
    found->second.cancelled->store(true);
    waiting.erase(ticket);
    Json control = Json::object();
    send(FrameType::give_back, ticket, control.set("token", found->second.token));
    jobs.erase(found);
  }

  void closed(int code, const std::string& why) {
    const bool known = std::exchange(welcomed, false);
    const auto is = [code](CloseCode other) { return code == static_cast<int>(other); };
    if (code == 401) {
      wrong_token = true;
      return wire.stop();
    }
    if (is(CloseCode::policy) && !known) {  // the coordinator has forgotten the node: join again
      identity = {};
      for (auto& [ticket, job] : jobs) job.cancelled->store(true);
      jobs.clear();
      waiting.clear();
    }
    if (is(CloseCode::expelled)) {
      problem = "[join] the coordinator expelled this node" + (why.empty() ? "" : ": " + why);
      return wire.stop();
    }
    if (is(CloseCode::too_big))  // the coordinator refuses the size of a result
      std::erase_if(jobs, [](const auto& entry) { return entry.second.done; });
    if (stopping) return wire.stop();
    const double seconds = wait * std::uniform_real_distribution<double>(0.5, 1)(random);
    wait = std::min(options.longest_wait, 2 * wait);
    log.event("waiting",
              {{"why", why}, {"code", std::to_string(code)}, {"seconds", std::to_string(seconds)}});
    wire.after(seconds, [this] {
      if (!stopping) wire.connect();
    });
  }

  void watch() {
    workers.abandon_overdue();
    if (!stopping && options.stop && options.stop()) begin_to_stop();
    if (stopping && (jobs.empty() || --goodbyes < 0)) {
      if (!wire.is_open()) return wire.stop();
      wire.close();
    }
    wire.after(kStopSeconds, [this] { watch(); });
  }

  void begin_to_stop() {
    stopping = true;
    if (welcomed) ready();
    std::vector<TicketId> open;
    for (const auto& [ticket, job] : jobs)
      if (!job.done) open.push_back(ticket);
    for (TicketId ticket : open) give_back(ticket);
  }

  void send(FrameType type, TicketId ticket, const Json& control, ByteView payload = {}) {
    wire.send(encode_frame({type, static_cast<uint64_t>(ticket), control, payload}));
  }

  NodeOptions options;
  EventLog log;
  Wire wire;
  std::shared_ptr<BlobFetcher> blobs;  // functions that were abandoned use it too
  std::mt19937_64 random;
  NodeIdentity identity;
  NodeCounts counts;
  std::map<TicketId, Job> jobs;
  std::set<TicketId> waiting;  // no thread has begun them
  std::string problem;
  double wait = kFirstWait;
  int goodbyes = static_cast<int>(kGoodbyeSeconds / kStopSeconds);
  bool welcomed = false, stopping = false, wrong_token = false;
  Workers workers;  // last: it ends first
};

Node::Node(NodeOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Node::~Node() = default;

NodeCounts Node::run() {
  impl_->wire.connect();
  impl_->watch();
  impl_->wire.run();
  impl_->counts.abandoned = impl_->workers.end();
  if (impl_->wrong_token)
    throw WrongToken(message("join", "the coordinator requires its token for nodes"));
  if (!impl_->problem.empty()) throw Error(impl_->problem);
  return impl_->counts;
}

}  // namespace kaiseki::dist
