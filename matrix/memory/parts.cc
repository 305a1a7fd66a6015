// SPDX-License-Identifier: MIT
#include "matrix/memory/parts.h"

#include <iterator>

#include "matrix/memory/pool.h"

namespace kaiseki {

void Parts::add(void* block, uint64_t bytes) {
  char* at = static_cast<char*>(block);
  Sizes one{{bytes, at}};
  parts_.emplace(at, Part{bytes, true, State::used, one.extract(one.begin())});
}

void* Parts::take_from(Sizes& sizes, uint64_t bytes) {
  const auto found = sizes.lower_bound({bytes, nullptr});
  if (found == sizes.end()) return nullptr;
  const auto part = parts_.find(found->second);
  if (part->second.size > bytes) {
    char* rest = part->first + bytes;
    Sizes one{{part->second.size - bytes, rest}};
    const auto other = parts_
                           .emplace(rest, Part{part->second.size - bytes, false, State::used,
                                               one.extract(one.begin())})
                           .first;
    const State state = part->second.state;
    unfile(part);
    part->second.size = bytes;
    file(other, state);
  } else {
    unfile(part);
  }
  return part->first;
}

void Parts::file(ByAddress::iterator part, State state) noexcept {
  Part& of = part->second;
  of.state = state;
  of.node.value() = {of.size, part->first};
  (state == State::cached ? cached_parts_ : empty_parts_).insert(std::move(of.node));
  if (state == State::cached) cached_ += of.size;
}

void Parts::unfile(ByAddress::iterator part) noexcept {
  Part& of = part->second;
  Sizes& sizes = of.state == State::cached ? cached_parts_ : empty_parts_;
  of.node = sizes.extract({of.size, part->first});
  if (of.state == State::cached) cached_ -= of.size;
  of.state = State::used;
}

bool Parts::last(ByAddress::iterator part) const {
  const auto next = std::next(part);
  return next == parts_.end() || next->second.first;
}

void Parts::join(ByAddress::iterator before, ByAddress::iterator part) noexcept {
  before->second.size += part->second.size;
  parts_.erase(part);
}

void Parts::put(void* block) noexcept {
  auto part = parts_.find(static_cast<char*>(block));
  const bool has_next = !last(part), has_before = !part->second.first;
  const auto next = std::next(part), before = has_before ? std::prev(part) : part;
  const auto is = [](bool there, ByAddress::iterator at, State state) {
    return there && at->second.state == state;
  };
  // Parts join in one state. Beside as much memory that was given back this is given back too;
  // beside less it stays apart, or small parts would cost large ones their memory time and again.
  const auto given_back = [&](bool there, ByAddress::iterator at) {
    return is(there, at, State::empty) ? at->second.size : 0;
  };
  const uint64_t empty_beside = given_back(has_next, next) + given_back(has_before, before);
  const State state = empty_beside >= part->second.size ? State::empty : State::cached;
  if (state == State::empty) raw_.discard(part->first, part->second.size);
  if (is(has_next, next, state)) {
    unfile(next);
    join(part, next);
  }
  if (is(has_before, before, state)) {
    unfile(before);
    join(before, part);
    part = before;
  }
  file(part, state);
}

void Parts::give_back() noexcept {
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    if (at->second.state == State::used) continue;
    unfile(at);
    while (!last(at) && part->second.state != State::used) {
      unfile(part);
      join(at, part++);
    }
    if (at->second.first && last(at)) {
      raw_.release(at->first);
      parts_.erase(at);
    } else {
      raw_.discard(at->first, at->second.size);
      file(at, State::empty);
    }
  }
}

}  // namespace kaiseki
