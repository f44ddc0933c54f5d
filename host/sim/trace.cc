#include "sim/trace.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/lane.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/trace_chart.h"

namespace parlor::sim {
namespace {

using lockstep::Kind;

std::string Hex(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof(text), "%" PRIx32, value);
  return text;
}

std::string Seat(const lockstep::Message& message) {
  return " seat " + std::to_string(message.slot);
}

// Its token, where it has one, is left out.
std::string Describe(const lockstep::Message& message) {
  switch (message.kind) {
    case Kind::kInput:
      return "INPUT" + Seat(message) + " frame " +
             std::to_string(message.frame) + " word " + Hex(message.value);
    case Kind::kHash:
      return "HASH" + Seat(message) + " frame " +
             std::to_string(message.frame) + " is " + Hex(message.value);
    case Kind::kWelcome:
      return "WELCOME" + Seat(message) + " of " +
             std::to_string(message.players) + " mode " +
             std::to_string(message.mode);
    case Kind::kLeave:
      return "LEAVE" + Seat(message);
    case Kind::kResume:
      return "RESUME" + Seat(message);
    case Kind::kAway:
      return "AWAY" + Seat(message);
    case Kind::kStart:
      return "START at " + std::to_string(message.players) + " mode " +
             std::to_string(message.mode);
    case Kind::kLobby:
      return "LOBBY" + Seat(message) + ", " + std::to_string(message.mode) +
             " of " + std::to_string(message.players);
  }
  return "KIND " + std::to_string(static_cast<int>(message.kind));
}

// Of a lockstep room. Not the words of a close, not what a handshake is made
// of, and not what a hosted room hears and says, which may be as long.
bool IsMessage(const NetworkEvent& event) {
  const NetworkEvent::What what =
      event.what == NetworkEvent::What::kLost ? event.lost : event.what;
  return what == NetworkEvent::What::kMessage && !event.stream &&
         !event.hosted && event.kind == MessageKind::kBinary &&
         event.bytes.size() == lockstep::kMessageSize;
}

}  // namespace

std::string MillisecondsText(TimePoint at) {
  const std::int64_t us = at.time_since_epoch().count() / 1'000;
  char text[32];
  std::snprintf(text, sizeof(text), "%" PRId64 ".%03d", us / 1'000,
                static_cast<int>(us % 1'000));
  return text;
}

Trace::Trace(std::size_t events_max)
    : events_max_(std::max<std::size_t>(events_max, 1)) {
  static_assert(sizeof(Event) <= 64);
}

std::size_t Trace::AddMachine(std::string name) {
  PARLOR_CHECK(machines_.size() < std::numeric_limits<std::uint16_t>::max());
  machines_.push_back(std::move(name));
  return machines_.size() - 1;
}

void Trace::SetEnds(const Link& link, std::size_t client, std::size_t host) {
  PARLOR_CHECK(client < machines_.size() && host < machines_.size());
  std::erase_if(ends_, [&](const Ends& ends) { return ends.link == &link; });
  ends_.push_back({.link = &link, .client = client, .host = host});
}

// Few links: a search is as quick as a table, and has an order.
Trace::Ends Trace::EndsOf(const Link* link) {
  const auto found =
      std::find_if(ends_.begin(), ends_.end(),
                   [&](const Ends& ends) { return ends.link == link; });
  if (found != ends_.end()) return *found;
  const auto host = std::find(machines_.begin(), machines_.end(), "host");
  const std::size_t to =
      host == machines_.end()
          ? AddMachine("host")
          : static_cast<std::size_t>(host - machines_.begin());
  const std::size_t from = AddMachine(link->name());
  ends_.push_back({.link = link, .client = from, .host = to});
  return ends_.back();
}

void Trace::Keep(const Event& event) {
  if (newest_.size() < events_max_) {
    newest_.push_back(event);
    return;
  }
  newest_[oldest_] = event;
  oldest_ = (oldest_ + 1) % events_max_;
  ++forgotten_;
}

const Trace::Event& Trace::At(std::size_t index) const {
  return newest_[(oldest_ + index) % newest_.size()];
}

void Trace::Mark(TimePoint at, std::size_t machine, std::string_view what) {
  PARLOR_CHECK(machine < machines_.size());
  auto text = std::find(marks_.begin(), marks_.end(), what);
  if (text == marks_.end()) text = marks_.emplace(text, what);
  Keep({.mark = true,
        .from = static_cast<std::uint16_t>(machine),
        .number = static_cast<std::uint32_t>(text - marks_.begin()),
        .sent = at,
        .arrives = at});
}

void Trace::OnNetworkEvent(const NetworkEvent& event) {
  const Ends ends = EndsOf(event.link);
  const bool up = event.direction == Direction::kUp;
  Event kept{.what = event.what,
             .direction = event.direction,
             .stream = event.stream,
             .again = event.again,
             .lane = event.lane,
             .lost = event.lost,
             .from = static_cast<std::uint16_t>(up ? ends.client : ends.host),
             .to = static_cast<std::uint16_t>(up ? ends.host : ends.client),
             .number = event.number,
             .size = static_cast<std::uint32_t>(event.bytes.size()),
             .connection = event.connection,
             .sent = event.sent,
             .arrives = event.arrives};
  kept.decoded = IsMessage(event);
  if (kept.decoded) {
    std::memcpy(kept.message.data(), event.bytes.data(), kept.message.size());
  }
  Keep(kept);
}

std::string Trace::What(const Event& event) const {
  if (event.mark) return marks_[event.number];
  if (event.what == NetworkEvent::What::kLost) {
    return "lost: " + WhatWas(event.lost, event);
  }
  return (event.again ? "again: " : "") + WhatWas(event.what, event);
}

std::string Trace::WhatWas(NetworkEvent::What what, const Event& event) const {
  switch (what) {
    case NetworkEvent::What::kOpen:
      return "open";
    case NetworkEvent::What::kRefused:
      return "refused " + std::to_string(event.number);
    case NetworkEvent::What::kMessage: {
      std::string bytes =
          event.decoded ? Describe(lockstep::Decode(event.message))
                        : std::to_string(event.size) +
                              (event.stream ? " bytes of a stream" : " bytes");
      if (event.lane == Lane::kState) bytes += " (state lane)";
      return bytes;
    }
    case NetworkEvent::What::kControl:
      return "ping or pong";
    case NetworkEvent::What::kClose:
      return "close " + std::to_string(event.number);
    case NetworkEvent::What::kReset:
      return "reset";
    case NetworkEvent::What::kLost:
      return "something";
    case NetworkEvent::What::kCut:
      return "cut";
    case NetworkEvent::What::kHealed:
      return "healed";
    case NetworkEvent::What::kConditions:
      return "other conditions";
  }
  return "?";
}

std::string Trace::Line(const Event& event) const {
  char time[32];
  std::snprintf(time, sizeof(time), "%12s ",
                MillisecondsText(event.sent).c_str());
  std::string line = time + machines_[event.from];
  if (event.mark) return line + " " + What(event) + "\n";
  line += (OfLink(event.what) ? " -- " : " -> ") + machines_[event.to];
  if (event.connection != 0) line += " #" + std::to_string(event.connection);
  line += " " + What(event);
  if (Arrives(event)) line += ", at " + MillisecondsText(event.arrives);
  return line + "\n";
}

// What answers something that is on its way is known before it is sent.
std::string Trace::Text() const {
  std::string text;
  if (forgotten_ > 0) {
    text =
        "(" + std::to_string(forgotten_) + " earlier events are forgotten)\n";
  }
  std::vector<const Event*> events;
  for (std::size_t i = 0; i < size(); ++i) events.push_back(&At(i));
  std::stable_sort(
      events.begin(), events.end(),
      [](const Event* a, const Event* b) { return a->sent < b->sent; });
  for (const Event* event : events) text += Line(*event);
  return text;
}

std::string Trace::Svg() const {
  return Chart(*this, size() - std::min(size(), kChartEvents)).Svg();
}

}  // namespace parlor::sim
