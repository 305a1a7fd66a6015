// SPDX-License-Identifier: MIT
#include "matrix/memory/divided_blocks.h"

#include <iterator>

#include "matrix/memory/raw_memory.h"

namespace kaiseki {

void DividedBlocks::add(void* block, uint64_t bytes) {
  char* at = static_cast<char*>(block);
  Sizes one{{bytes, at}};
  parts_.emplace(at, Part{bytes, true, State::used, one.extract(one.begin())});
}

void* DividedBlocks::take_from(Sizes& sizes, uint64_t bytes) {
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
    remove_from_set(part);
    part->second.size = bytes;
    file(other, state);
  } else {
    remove_from_set(part);
  }
  return part->first;
}

void DividedBlocks::file(ByAddress::iterator part, State state) noexcept {
  Part& of = part->second;
  of.state = state;
  of.node.value() = {of.size, part->first};
  (state == State::cached ? cached_parts_ : empty_parts_).insert(std::move(of.node));
  if (state == State::cached) cached_ += of.size;
}

void DividedBlocks::remove_from_set(ByAddress::iterator part) noexcept {
  Part& of = part->second;
  Sizes& sizes = of.state == State::cached ? cached_parts_ : empty_parts_;
  of.node = sizes.extract({of.size, part->first});
  if (of.state == State::cached) cached_ -= of.size;
  of.state = State::used;
}

bool DividedBlocks::last(ByAddress::iterator part) const {
  const auto next = std::next(part);
  return next == parts_.end() || next->second.first;
}

void DividedBlocks::join(ByAddress::iterator before, ByAddress::iterator part) noexcept {
  before->second.size += part->second.size;
  parts_.erase(part);
}

void DividedBlocks::put(void* block) noexcept {
  auto part = parts_.find(static_cast<char*>(block));
  const bool has_next = !last(part), has_before = !part->second.first;
  const auto next = std::next(part), before = has_before ? std::prev(part) : part;
  const auto is = [](bool there, ByAddress::iterator at, State state) {
    return there && at->second.state == state;
  };
  // Only neighbors in the same state are joined. If the empty neighbors are at least as large, this
  // part is emptied too. Otherwise it stays cached. If small parts emptied large ones, the large
  // ones would lose their memory repeatedly.
  const auto given_back = [&](bool there, ByAddress::iterator at) {
    return is(there, at, State::empty) ? at->second.size : 0;
  };
  const uint64_t empty_beside = given_back(has_next, next) + given_back(has_before, before);
  const State state = empty_beside >= part->second.size ? State::empty : State::cached;
  if (state == State::empty) raw_.discard(part->first, part->second.size);
  if (is(has_next, next, state)) {
    remove_from_set(next);
    join(part, next);
  }
  if (is(has_before, before, state)) {
    remove_from_set(before);
    join(before, part);
    part = before;
  }
  file(part, state);
}

void DividedBlocks::give_back() noexcept {
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    if (at->second.state == State::used) continue;
    remove_from_set(at);
    while (!last(at) && part->second.state != State::used) {
      remove_from_set(part);
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
