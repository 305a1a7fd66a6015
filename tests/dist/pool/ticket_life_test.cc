// SPDX-License-Identifier: MIT
// Each state of a ticket with each event of a node that had a lease of it. Each combination runs
// with and without a restart of the coordinator.
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// One ticket. Node a had a lease of it. Node b may have one too.
struct Situation {
  TestPool at;
  TaskId task = 0;
  NodeId a, b;
  Lease lease_a, lease_b;
};

enum State {
  kReturned,
  kLeased,
  kTwice,
  kLate,
  kOvertaken,
  kDone,
  kLost,
  kDead,
  kCancelled,
  kDropped,
  kPaused,
  kStates
};
const char* const kStateNames[] = {"returned",  "leased",  "twice", "late",
                                   "overtaken", "done",    "lost",  "dead",
                                   "cancelled", "dropped", "paused"};

std::unique_ptr<Situation> make(State state) {
  auto s = std::make_unique<Situation>();
  TestPool& at = s->at;
  TaskSpec spec{.name = "task", .function = "f", .verification = Verification::none};
  if (state == kDead) spec.max_attempts = 1;
  s->task = at.task(1, spec);
  s->a = at.join(), s->b = at.join();
  s->lease_a = at.lease(s->a);
  const auto lease_to_b = [&] {
    at.now += 30;  // long enough to be issued again
    s->lease_b = at.lease(s->b);
  };
  const auto expire_a = [&] {
    at.now = at.end_of(s->lease_a) + 1;
    at.pool->tick();
  };
  switch (state) {
    case kReturned:
      at.pool->give_back(s->a, s->lease_a.token);
      break;
    case kTwice:
      lease_to_b();
      break;
    case kLate:
      expire_a();
      break;
    case kOvertaken:
      expire_a(), lease_to_b();
      break;
    case kDone:
      at.answer(s->a, s->lease_a);
      break;
    case kLost:
      lease_to_b(), at.answer(s->b, s->lease_b);
      break;
    case kDead:
      at.pool->give_back(s->a, s->lease_a.token, "error");
      break;
    case kCancelled:
      at.pool->cancel(s->task);
      break;
    case kDropped:
      at.answer(s->a, s->lease_a), at.pool->drop(s->task, s->lease_a.ticket);
      break;
    case kPaused:
      at.pool->pause(s->task);
      break;
    default:
      break;
  }
  return s;
}

enum Event {
  kAnswer,
  kGiveBack,
  kFail,
  kDisconnect,
  kExpire,
  kExpel,
  kForge,
  kSteal,
  kNothing,
  kEvents
};
const char* const kEventNames[] = {"answer", "give back", "fail",  "disconnect", "expire",
                                   "expel",  "forge",     "steal", "nothing"};

/// The outcome as a letter: accepted, duplicate, stale, refused; '-': none.
char happen(Situation& s, Event event) {
  const auto letter = [](Outcome outcome) { return "apdsr"[static_cast<int>(outcome)]; };
  Pool& pool = *s.at.pool;
  switch (event) {
    case kAnswer:
      return letter(s.at.answer(s.a, s.lease_a));
    case kGiveBack:
      return letter(pool.give_back(s.a, s.lease_a.token).outcome);
    case kFail:
      return letter(pool.give_back(s.a, s.lease_a.token, "error").outcome);
    case kDisconnect:
      pool.disconnected(s.a);
      return '-';
    case kExpire:
      s.at.now += 80000;
      pool.tick();
      return '-';
    case kExpel:
      pool.expel(s.a, {"reason"});
      return '-';
    case kForge: {
      std::string token = s.lease_a.token;
      token.back() = token.back() == '0' ? '1' : '0';
      return letter(pool.accept(s.a, token, bytes("result")).outcome);
    }
    case kSteal:
      return letter(pool.accept(s.b, s.lease_a.token, bytes("result")).outcome);
    default:
      return '-';
  }
}

/// The ticket's state: f(ree), l(eased), d(one), x (dead), '.' (deleted).
char place(const Situation& s) {
  const Progress progress = s.at.pool->progress(s.task);
  CHECK(progress.total() <= 1);
  return progress.free     ? 'f'
         : progress.leased ? 'l'
         : progress.done   ? 'd'
         : progress.dead   ? 'x'
                           : '.';
}

// For each state one pair for each event in the order above: the outcome, then the ticket's state.
const char* const kExpected[kStates] = {
    "ad sf sf -f -f -f rf rf -f",  // returned
    "ad af af -f -f -f rl rl -l",  // leased
    "ad al al -l -f -l rl rl -l",  // twice
    "ad sf sf -f -f -f rf rf -f",  // late
    "ad sl sl -l -f -l rl rl -l",  // overtaken
    "dd sd sd -d -d -d rd rd -d",  // done
    "dd sd sd -d -d -d rd rd -d",  // lost
    "sx sx sx -x -x -x rx rx -x",  // dead
    "sf sf sf -f -f -f rf rf -f",  // cancelled
    "s. s. s. -. -. -. r. r. -.",  // dropped
    "ad af af -f -f -f rl rl -l",  // paused
};

/// All leases end with the process.
int after_restart(int state) {
  const bool leased =
      state == kLeased || state == kTwice || state == kOvertaken || state == kPaused;
  return leased ? kReturned : state;
}

/// After each event an open ticket can still be completed exactly once.
void finish(Situation& s, State state) {
  TestPool& at = s.at;
  const bool open = at.pool->progress(s.task).open() > 0;
  if (state == kPaused) at.pool->resume(s.task);
  at.now += 80000;
  at.pool->tick();
  const NodeId c = at.join();
  const auto leases = at.pool->lease(c, 1);
  CHECK(leases.size() == (open && state != kCancelled ? 1 : 0));
  if (!leases.empty()) CHECK(at.answer(c, leases[0], "late but right") == Outcome::accepted);
  const size_t kept = state == kCancelled || state == kDropped ? 0 : 1;
  CHECK(at.pool->finished(s.task).size() == kept);
  const Outcome again = at.answer(s.a, s.lease_a);
  CHECK(again != Outcome::accepted);
  CHECK(again != Outcome::pending);
  CHECK(at.pool->finished(s.task).size() == kept);
  int told = 0;
  for (const Finished& finished : at.ended) told += finished.ticket == s.lease_a.ticket;
  CHECK(told == (state == kCancelled ? 0 : 1));
}

}  // namespace

TEST_CASE("ticket: each event in each state, with and without a restart before it") {
  for (int state = 0; state < kStates; ++state)
    for (int event = 0; event < kEvents; ++event)
      for (const bool restart : {false, true}) {
        INFO(kStateNames[state], ", ", kEventNames[event], restart ? ", after a restart" : "");
        auto s = make(static_cast<State>(state));
        if (restart) s->at.restart();
        const char outcome = happen(*s, static_cast<Event>(event));
        const char* expected = kExpected[restart ? after_restart(state) : state];
        CHECK(outcome == expected[3 * event]);
        CHECK(place(*s) == expected[3 * event + 1]);
        if (restart) {
          const Progress before = s->at.pool->progress(s->task);
          s->at.restart();
          CHECK(s->at.pool->progress(s->task) == before);
        }
        finish(*s, static_cast<State>(state));
      }
}
