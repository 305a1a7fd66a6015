// SPDX-License-Identifier: MIT
#include "dist/net/gate.h"

#include <algorithm>

namespace kaiseki::dist {
namespace {

constexpr double kContributorShare = 0.5;  // of each limit
constexpr const char* kProxy = "proxy";

bool has_room(double contributors, double limit) {
  return contributors < std::max(1.0, kContributorShare * limit);
}

}  // namespace

struct Gate::Place {
  Gate& gate;
  Addresses::iterator address;
  Networks::iterator network;
  bool is_socket;  // false: a request over a proxy's connection, which has its own place
  Standing standing;
  bool on_trial = false;
  std::list<Place*>::iterator listed = {};  // if it is a newcomer
  uint64_t used = 0;                        // grows with each use of any place
  std::function<void()> make_way = {};
};

Gate::~Gate() = default;

void Gate::Seat::GiveBack::operator()(Place* place) const { place->gate.leave(place); }
void Gate::Seat::on_make_way(std::function<void()> make_way) {
  if (place_) place_->make_way = std::move(make_way);
}
void Gate::Seat::touch() {
  if (place_) place_->gate.touch(*place_);
}
void Gate::Seat::rise(Standing standing) {
  if (place_) place_->gate.rise(*place_, standing);
}

bool Gate::Seat::is_on_trial() const { return place_ && place_->on_trial; }

std::optional<Gate::Seat> Gate::enter(const PeerAddress& source, double now, bool displaces) {
  forget(now);
  Address& address = at(source.address);
  const bool on_trial = !address.arrivals.take(now);
  if (on_trial && !take_trial(address, now)) return refuse(Refusal::connection_rate);
  if (!has_place(source, displaces)) return refuse(Refusal::sockets_per_address);
  const auto network = networks_.find(source.network);
  if (network != networks_.end() &&
      static_cast<double>(network->second.newcomers.size()) >= most_of_network())
    make_way(Refusal::sockets_per_network, network->second);
  if (static_cast<double>(taken_) >= limits_.sockets && !make_way(Refusal::sockets))
    return refuse(Refusal::sockets);
  return seat(source, Standing::newcomer, true, on_trial);
}

bool Gate::take_trial(Address& address, double now) {
  if (!trials_.take(now)) return false;
  return address.trials.size() < kTrials || end(Refusal::connection_rate, *address.trials.front());
}

std::optional<Gate::Seat> Gate::enter_as_proxy() {
  if (static_cast<double>(taken_) >= limits_.sockets && !make_way(Refusal::sockets))
    return refuse(Refusal::sockets);
  return seat({kProxy, kProxy}, Standing::trusted, true);
}

std::optional<Gate::Seat> Gate::enter_for_request(const PeerAddress& client, double now) {
  forget(now);
  if (!has_place(client, true)) return refuse(Refusal::sockets_per_address);
  return seat(client, Standing::trusted, false);
}

bool Gate::measure(const std::string& address, double now) {
  forget(now);
  const bool may = at(address).measurements.take(now);
  if (!may) metrics_.refuse(Refusal::link_rate);
  return may;
}

Gate::Address& Gate::at(const std::string& address) {
  const double rate = limits_.connections_per_second, burst = limits_.sockets_per_address;
  const Address fresh{0, 0, {rate, burst}, {kRequests * rate, kRequests * burst}};
  return addresses_.try_emplace(address, fresh).first->second;
}

bool Gate::has_place(const PeerAddress& of, bool displaces) {
  return at(of.address).seats < limits_.sockets_per_address ||
         (displaces && make_way(Refusal::sockets_per_address, of));
}

std::optional<Gate::Seat> Gate::refuse(Refusal why) {
  metrics_.refuse(why);
  return std::nullopt;
}

std::optional<Gate::Seat> Gate::seat(const PeerAddress& source, Standing standing, bool is_socket,
                                     bool on_trial) {
  at(source.address);
  auto* place = new Place{*this,
                          addresses_.find(source.address),
                          networks_.try_emplace(source.network).first,
                          is_socket,
                          standing,
                          on_trial};
  if (on_trial) place->address->second.trials.push_back(place);
  ++place->address->second.seats;
  ++place->network->second.seats;
  taken_ += is_socket;
  if (standing == Standing::newcomer) list(*place);
  return std::optional<Seat>(std::in_place, *place);
}

/// Never below the limit of one address: an operator may raise only sockets_per_address.
double Gate::most_of_network() const {
  return std::max(limits_.sockets_per_network, limits_.sockets_per_address);
}

bool Gate::has_room_to_rise(const Place& place) const {
  return has_room(place.address->second.contributors, limits_.sockets_per_address) &&
         has_room(place.network->second.contributors, most_of_network()) &&
         has_room(static_cast<double>(contributors_), limits_.sockets);
}

bool Gate::make_way(Refusal why) {
  return !by_newcomers_.empty() && make_way(why, *by_newcomers_.rbegin()->second);
}

bool Gate::make_way(Refusal why, PeerNetwork& of) {
  return !of.newcomers.empty() && end(why, *of.newcomers.front());
}

bool Gate::make_way(Refusal why, const PeerAddress& of) {
  const auto network = networks_.find(of.network);
  if (network == networks_.end()) return false;
  const auto found = std::ranges::find_if(network->second.newcomers, [&](const Place* place) {
    return place->address->first == of.address;
  });
  return found != network->second.newcomers.end() && end(why, **found);
}

bool Gate::end(Refusal why, Place& place) {
  metrics_.refuse(why);
  const auto make_way = std::exchange(place.make_way, {});
  if (make_way) make_way();
  return static_cast<bool>(make_way);
}

template <class Change>
void Gate::change(PeerNetwork& network, Change changes) {
  const auto key = [&] {
    return std::pair(network.newcomers.size(), UINT64_MAX - network.newcomers.front()->used);
  };
  if (!network.newcomers.empty()) by_newcomers_.erase(key());
  changes(network.newcomers);
  if (!network.newcomers.empty()) by_newcomers_.emplace(key(), &network);
}

void Gate::list(Place& place) {
  change(place.network->second, [&](auto& newcomers) {
    place.used = ++uses_;
    place.listed = newcomers.insert(newcomers.end(), &place);
  });
  ++newcomers_;
}

void Gate::unlist(Place& place) {
  change(place.network->second, [&](auto& newcomers) { newcomers.erase(place.listed); });
  --newcomers_;
}

void Gate::touch(Place& place) {
  if (place.standing != Standing::newcomer) return;
  change(place.network->second, [&](auto& newcomers) {
    place.used = ++uses_;
    newcomers.splice(newcomers.end(), newcomers, place.listed);
  });
}

void Gate::rise(Place& place, Standing standing) {
  if (standing <= place.standing) return;
  if (standing == Standing::trusted) end_trial(place);
  const bool was_contributor = place.standing == Standing::contributor;
  const int more = (standing == Standing::contributor) - was_contributor;
  if (more > 0 && !has_room_to_rise(place)) return;
  if (!was_contributor) unlist(place);
  place.standing = standing;
  place.address->second.contributors += more;
  place.network->second.contributors += more;
  contributors_ += static_cast<size_t>(more);
}

void Gate::end_trial(Place& place) {
  if (std::exchange(place.on_trial, false)) place.address->second.trials.remove(&place);
}

void Gate::leave(Place* place) {
  const std::unique_ptr<Place> ended(place);
  end_trial(*place);
  if (place->standing == Standing::newcomer) unlist(*place);
  const bool was_contributor = place->standing == Standing::contributor;
  Address& address = place->address->second;
  PeerNetwork& network = place->network->second;
  --address.seats;
  address.contributors -= was_contributor;
  network.contributors -= was_contributor;
  contributors_ -= was_contributor;
  taken_ -= place->is_socket;
  if (--network.seats == 0) networks_.erase(place->network);
}

void Gate::forget(double now) {
  if (now - forgotten_ < 10) return;
  forgotten_ = now;
  for (auto at = addresses_.begin(); at != addresses_.end();)
    at = at->second.seats == 0 && at->second.arrivals.full(now) && at->second.measurements.full(now)
             ? addresses_.erase(at)
             : std::next(at);
}

}  // namespace kaiseki::dist
