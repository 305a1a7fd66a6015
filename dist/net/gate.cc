// SPDX-License-Identifier: MIT
#include "dist/net/gate.h"

namespace kaiseki::dist {

std::optional<Gate::Seat> Gate::enter(const std::string& address, double now) {
  forget(now);
  if (static_cast<double>(taken_) >= limits_.sockets) return refuse("sockets");
  Address& of = at(address);
  if (of.seats >= limits_.sockets_per_address) return refuse("sockets_per_address");
  if (!of.arrivals.take(now)) return refuse("connection_rate");
  ++of.seats;
  ++taken_;
  return std::optional<Seat>(std::in_place, *this, address);
}

std::optional<Gate::Seat> Gate::enter_as_proxy() {
  constexpr const char* kProxy = "proxy";
  if (static_cast<double>(taken_) >= limits_.sockets) return refuse("sockets");
  ++at(kProxy).seats;
  ++taken_;
  return std::optional<Seat>(std::in_place, *this, kProxy);
}

std::optional<Gate::Seat> Gate::enter_for_request(const std::string& client, double now) {
  forget(now);
  Address& of = at(client);
  if (of.seats >= limits_.sockets_per_address) return refuse("sockets_per_address");
  ++of.seats;
  return std::optional<Seat>(std::in_place, *this, client, false);
}

bool Gate::measure(const std::string& address, double now) {
  forget(now);
  const bool may = at(address).measurements.take(now);
  if (!may) metrics_.refuse("link_rate");
  return may;
}

Gate::Address& Gate::at(const std::string& address) {
  const double rate = limits_.connections_per_second, burst = limits_.sockets_per_address;
  const Address fresh{0, {rate, burst}, {kRequests * rate, kRequests * burst}};
  return addresses_.try_emplace(address, fresh).first->second;
}

std::optional<Gate::Seat> Gate::refuse(const char* why) {
  metrics_.refuse(why);
  return std::nullopt;
}

void Gate::leave(const std::string& address, bool socket) {
  taken_ -= socket;
  --addresses_.at(address).seats;
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
