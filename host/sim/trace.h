// Trace: keeps the newest of what happened between machines, and tells it as
// text or as a sequence chart.
//
// Lockstep messages are decoded. Of a stream, and of what hosted rooms hear and
// say, only how many bytes, of a close only its code: no token, no access code
// and no word that a peer chose gets into a trace, the words of INPUT and HASH
// excepted.
//
// One thread.
#ifndef PARLOR_HOST_SIM_TRACE_H_
#define PARLOR_HOST_SIM_TRACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/lane.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"

namespace parlor::sim {

// "33.417", of milliseconds.
std::string MillisecondsText(TimePoint at);

class Trace final : public NetworkSink {
 public:
  // Keeps the newest `events_max` events, at least one, of 64 bytes each.
  explicit Trace(std::size_t events_max);

  // A machine, and where it stands in the chart: from left to right in the
  // order of these calls. Returns its number.
  std::size_t AddMachine(std::string name);
  // Which machines `link` joins: the client at its first end, the host at its
  // second. A link that nobody named joins one of its own name with "host".
  void SetEnds(const Link& link, std::size_t client, std::size_t host);

  // Something that happened at a machine itself: "crashes", "drains".
  void Mark(TimePoint at, std::size_t machine, std::string_view what);

  void OnNetworkEvent(const NetworkEvent& event) override;

  std::size_t size() const { return newest_.size(); }
  // Older ones that gave way.
  std::uint64_t forgotten() const { return forgotten_; }

  // One line an event, in the order they happened: the time in milliseconds,
  // who to whom, the connection's number, what, and when it arrives.
  //
  //     33.417 client 2 -> host #5 INPUT frame 118 word 1f, at 74.002
  //     40.000 client 2 -- host cut
  //     41.500 host crashes
  std::string Text() const;

  // A chart for a browser, light or dark as its reader likes: time downwards,
  // an arrow from where a message was sent to where it arrives, crossed out
  // where it is lost. The newest kChartEvents; Text has the others.
  static constexpr std::size_t kChartEvents = 4'000;
  std::string Svg() const;

 private:
  friend class Chart;

  // What an event was, without what dies with it.
  struct Event {
    NetworkEvent::What what{};
    Direction direction{};
    bool mark = false;     // at machine `from`; `number` is its text's
    bool decoded = false;  // `message` is one
    bool stream = false;
    bool again = false;
    Lane lane{};
    NetworkEvent::What lost{};
    std::uint16_t from = 0;
    std::uint16_t to = 0;
    std::uint32_t number = 0;
    std::uint32_t size = 0;  // bytes
    std::uint64_t connection = 0;
    TimePoint sent{};
    TimePoint arrives{};
    lockstep::MessageBytes message{};
  };
  struct Ends {
    const Link* link;
    std::size_t client;
    std::size_t host;
  };

  // The state of a link in one direction; nothing is sent.
  static bool OfLink(NetworkEvent::What what) {
    return what == NetworkEvent::What::kCut ||
           what == NetworkEvent::What::kHealed ||
           what == NetworkEvent::What::kConditions;
  }
  static bool Arrives(const Event& event) {
    return !event.mark && !OfLink(event.what) &&
           event.what != NetworkEvent::What::kLost &&
           event.arrives >= event.sent && event.arrives != kNever;
  }
  void Keep(const Event& event);
  Ends EndsOf(const Link* link);
  // From the oldest, 0, to the newest.
  const Event& At(std::size_t index) const;
  std::string What(const Event& event) const;
  // Of a kind that is not kLost.
  std::string WhatWas(NetworkEvent::What what, const Event& event) const;
  std::string Line(const Event& event) const;

  const std::size_t events_max_;
  std::vector<std::string> machines_;
  std::vector<std::string> marks_;  // texts, each once
  std::vector<Ends> ends_;
  std::vector<Event> newest_;  // a ring, once full
  std::size_t oldest_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_TRACE_H_
