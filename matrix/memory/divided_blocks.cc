// SPDX-License-Identifier: MIT
#include "matrix/memory/divided_blocks.h"

#include <iterator>

namespace kaiseki {

void DividedBlocks::add(void* block, uint64_t bytes) {
  file(insert({block, 0}, bytes), State::cached);
}

DividedBlocks::ByPlace::iterator DividedBlocks::insert(const Place& place, uint64_t bytes) {
  Sizes one{{bytes, place}};
  return parts_.emplace(place, Part{bytes, State::used, one.extract(one.begin())}).first;
}

void* DividedBlocks::take_from(Sizes& sizes, uint64_t bytes, bool idle) {
  auto found = sizes.lower_bound({bytes, Place{}});
  while (idle && found != sizes.end() && raw_.is_copied(address(found->second), found->first))
    ++found;
  if (found == sizes.end()) return nullptr;
  const auto part = parts_.find(found->second);
  void* taken = raw_.part(part->first.first, part->first.second, bytes);
  if (!taken) return nullptr;
  try {
    used_parts_.emplace(taken, part);
    if (part->second.size > bytes) split(part, bytes);
  } catch (...) {
    used_parts_.erase(taken);
    raw_.release_part(taken);
    throw;
  }
  remove_from_set(part);
  used_ += bytes;
  return taken;
}

void DividedBlocks::split(ByPlace::iterator part, uint64_t bytes) {
  const auto& [block, offset] = part->first;
  const auto rest = insert({block, offset + bytes}, part->second.size - bytes);
  const State state = part->second.state;
  remove_from_set(part);
  part->second.size = bytes;
  file(part, state);
  file(rest, state);
}

void DividedBlocks::file(ByPlace::iterator part, State state) noexcept {
  Part& of = part->second;
  of.state = state;
  of.node.value() = {of.size, part->first};
  (state == State::cached ? cached_parts_ : empty_parts_).insert(std::move(of.node));
  if (state == State::cached) cached_ += of.size;
}

void DividedBlocks::remove_from_set(ByPlace::iterator part) noexcept {
  Part& of = part->second;
  Sizes& sizes = of.state == State::cached ? cached_parts_ : empty_parts_;
  of.node = sizes.extract({of.size, part->first});
  if (of.state == State::cached) cached_ -= of.size;
  of.state = State::used;
}

bool DividedBlocks::last(ByPlace::const_iterator part) const {
  const auto next = std::next(part);
  return next == parts_.end() || first(next);
}

void DividedBlocks::join(ByPlace::iterator before, ByPlace::iterator part) noexcept {
  before->second.size += part->second.size;
  parts_.erase(part);
}

void DividedBlocks::put(void* taken) noexcept {
  const auto in_use = used_parts_.find(taken);
  auto part = in_use->second;
  used_parts_.erase(in_use);
  raw_.release_part(taken);
  used_ -= part->second.size;
  const bool has_next = !last(part), has_before = !first(part);
  const auto next = std::next(part), before = has_before ? std::prev(part) : part;
  const auto is = [](bool there, ByPlace::iterator at, State state) {
    return there && at->second.state == state;
  };
  // It keeps its memory, because the next tensor often has its size. So it is not joined with
  // neighbors that have none.
  if (is(has_next, next, State::cached)) {
    remove_from_set(next);
    join(part, next);
  }
  if (is(has_before, before, State::cached)) {
    remove_from_set(before);
    join(before, part);
    part = before;
  }
  file(part, State::cached);
}

void DividedBlocks::give_back() noexcept {
  const std::optional<BlockDivision> division = raw_.division();
  const bool discards = division && division->discards;
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    if (at->second.state == State::used) continue;
    remove_from_set(at);
    while (!last(at) && part->second.state != State::used) {
      remove_from_set(part);
      join(at, part++);
    }
    if (is_whole(at)) {
      release(at);
    } else if (discards) {
      raw_.discard(address(at->first), at->second.size);
      file(at, State::empty);
    } else {
      file(at, State::cached);
    }
  }
}

void DividedBlocks::give_back(uint64_t bytes) noexcept {
  for (uint64_t given = 0; given < bytes && !cached_parts_.empty();) {
    auto part = part_to_give(bytes - given, true);
    if (part == parts_.end()) part = part_to_give(bytes - given, false);
    given += part->second.size;
    remove_from_set(part);
    raw_.discard(address(part->first), part->second.size);
    file(part, State::empty);
  }
  join_empty();
}

DividedBlocks::ByPlace::iterator DividedBlocks::part_to_give(uint64_t bytes, bool idle) {
  const auto can_go = [&](const std::pair<uint64_t, Place>& part) {
    return !idle || !raw_.is_copied(address(part.second), part.first);
  };
  for (auto at = cached_parts_.lower_bound({bytes, Place{}}); at != cached_parts_.end(); ++at)
    if (can_go(*at)) return parts_.find(at->second);
  for (auto at = cached_parts_.rbegin(); at != cached_parts_.rend(); ++at)
    if (can_go(*at)) return parts_.find(at->second);
  return parts_.end();
}

void DividedBlocks::join_empty() noexcept {
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    if (at->second.state != State::empty) continue;
    remove_from_set(at);
    while (!last(at) && part->second.state == State::empty) {
      remove_from_set(part);
      join(at, part++);
    }
    if (is_whole(at))
      release(at);
    else
      file(at, State::empty);
  }
}

bool DividedBlocks::release_smallest() noexcept {
  for (const auto& [bytes, place] : cached_parts_)
    if (const auto part = parts_.find(place); is_whole(part)) {
      remove_from_set(part);
      release(part);
      return true;
    }
  return false;
}

void DividedBlocks::release(ByPlace::iterator whole) noexcept {
  raw_.release(whole->first.first);
  parts_.erase(whole);
}

uint64_t DividedBlocks::free_blocks() const {
  uint64_t bytes = 0;
  for (const auto& [size, place] : cached_parts_)
    if (is_whole(parts_.find(place))) bytes += size;
  return bytes;
}

bool DividedBlocks::has(uint64_t bytes) const {
  return cached_parts_.lower_bound({bytes, Place{}}) != cached_parts_.end();
}

}  // namespace kaiseki
