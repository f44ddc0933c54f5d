// A network in virtual time: links with latency, jitter, loss and limits, on
// an Executor. Two levels stand on it:
//
//  - messages (here): Connections that carry whole messages, by all rules of
//    parlor/connection.h, at some tens of nanoseconds each. For games' tests.
//  - bytes (transports/sim/sim_stream.h): streams as TCP gives them, under the
//    handshakes and codecs that sockets have.
//
// Everything random comes from the executor's generator, which each link takes
// its own from when it is made: one seed gives one run, whatever the compiler
// and however it was built. Integers only.
//
// One thread. Destroyed in this order: connections, links and endpoints, the
// network, the executor.
#ifndef PARLOR_SIM_NETWORK_H_
#define PARLOR_SIM_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"

namespace parlor::sim {

// One direction of a link. Parts per million (ppm): 10,000 is 1 %.
//
// What is lost of the reliable lane comes late instead: once more a round trip
// (both latencies) and kRetransmitTime, twice as long after each further loss,
// and all behind it waits (TCP's head-of-line blocking). After 16 tries it is
// given up, and so is the lane until the link heals from a cut. On the state
// lane it is lost.
//
// Jitter delays and never reorders: on the state lane only what is drawn to be
// overtaken is. A message that takes several packets (of 1,442 bytes) is lost
// with any of them. What of the reliable lane is above the queue comes a try
// later, and no faster than the limit allows.
struct PathConditions {
  Duration latency{};           // the least that anything takes
  Duration jitter{};            // up to so much more, drawn for each packet
  std::uint32_t loss_ppm = 0;   // of single packets
  std::uint32_t burst_ppm = 0;  // that a packet begins a burst, in which all
  Duration burst{};             // are lost, for this long
  // Of the state lane alone: comes twice; waits so long that others overtake.
  std::uint32_t duplicate_ppm = 0;
  std::uint32_t overtake_ppm = 0;
  Duration overtake{};
  std::int64_t bytes_per_s = 0;          // 0: no limit
  std::size_t queue_bytes = 128 * 1024;  // in front of such a limit: what comes
                                         // above it is lost (drop tail)

  friend constexpr bool operator==(const PathConditions&,
                                   const PathConditions&) = default;
};

// Of a link: `up` from its first end (the client) to its second (the host).
struct Conditions {
  PathConditions up;
  PathConditions down;

  friend constexpr bool operator==(const Conditions&,
                                   const Conditions&) = default;
};

// InvalidArgument names the field below `path`, its value and the range: times
// are 0..60 s, ppm 0..1,000,000, a limit is 0 or at least 1,000 bytes/s, and
// its queue 0..1 GiB.
absl::Status ValidateConditions(const Conditions& conditions,
                                std::string_view path);

// What a fast retransmission needs beside the round trip: three packets behind
// the lost one, of a game that sends 60 a second.
inline constexpr Duration kRetransmitTime = 50 * kMillisecond;

// What a packet adds on the wire to a message (IPv4, TCP with timestamps, a
// WebSocket's frame): counts against bytes_per_s and queue_bytes.
inline constexpr std::size_t kPacketOverhead = 20 + 32 + 6;

// Presets. The first is instantaneous; kAwful is the presence page's; the
// others are ours, of what players have.
inline constexpr PathConditions kPerfectPath{};
inline constexpr Conditions kPerfect{};

inline constexpr PathConditions kLanPath{.latency = 300 * kMicrosecond,
                                         .jitter = 200 * kMicrosecond};
inline constexpr Conditions kLan{.up = kLanPath, .down = kLanPath};

inline constexpr PathConditions kWifiPath{.latency = 8 * kMillisecond,
                                          .jitter = 12 * kMillisecond,
                                          .loss_ppm = 2'000,
                                          .burst_ppm = 50,
                                          .burst = 60 * kMillisecond,
                                          .duplicate_ppm = 500,
                                          .overtake_ppm = 2'000,
                                          .overtake = 15 * kMillisecond,
                                          .bytes_per_s = 2'500'000};
inline constexpr Conditions kWifi{.up = kWifiPath, .down = kWifiPath};

inline constexpr PathConditions kMobileUpPath{.latency = 35 * kMillisecond,
                                              .jitter = 30 * kMillisecond,
                                              .loss_ppm = 8'000,
                                              .burst_ppm = 200,
                                              .burst = 180 * kMillisecond,
                                              .duplicate_ppm = 1'000,
                                              .overtake_ppm = 10'000,
                                              .overtake = 40 * kMillisecond,
                                              .bytes_per_s = 250'000};
inline constexpr PathConditions kMobileDownPath{.latency = 30 * kMillisecond,
                                                .jitter = 25 * kMillisecond,
                                                .loss_ppm = 5'000,
                                                .burst_ppm = 200,
                                                .burst = 180 * kMillisecond,
                                                .duplicate_ppm = 1'000,
                                                .overtake_ppm = 10'000,
                                                .overtake = 40 * kMillisecond,
                                                .bytes_per_s = 1'250'000};
inline constexpr Conditions kMobile{.up = kMobileUpPath,
                                    .down = kMobileDownPath};

inline constexpr PathConditions kAwfulPath{.latency = 250 * kMillisecond,
                                           .jitter = 220 * kMillisecond,
                                           .loss_ppm = 120'000,
                                           .burst_ppm = 1'000,
                                           .burst = 400 * kMillisecond,
                                           .duplicate_ppm = 10'000,
                                           .overtake_ppm = 100'000,
                                           .overtake = 200 * kMillisecond,
                                           .bytes_per_s = 64'000,
                                           .queue_bytes = 32 * 1024};
inline constexpr Conditions kAwful{.up = kAwfulPath, .down = kAwfulPath};

// Null when there is no preset of that name: "perfect", "lan", "wifi",
// "mobile", "awful".
const Conditions* FindPreset(std::string_view name);

enum class Direction : std::uint8_t { kUp, kDown };

class Link;
class Endpoint;
struct LinkState;      // transports/sim/link_path.h
struct EndpointState;  // transports/sim/endpoint.h

// What happens on a link, for a trace.
struct NetworkEvent {
  enum class What : std::uint8_t {
    kOpen,     // a request to open, or the answer that it is
    kRefused,  // the answer that it is not; `number` is the status
    kMessage,  // a message, or bytes of a stream
    kControl,  // a ping or a pong
    kClose,    // a close in order; `number` is its code
    kReset,    // the end of a link without one
    kLost,     // something of the above that will not arrive
    kCut,      // the link's state; nothing is sent
    kHealed,
    kConditions,
  };
  What what{};
  const Link* link = nullptr;
  Direction direction{};
  std::uint64_t connection = 0;  // its number on the network, from 1
  TimePoint sent{};
  TimePoint arrives{};  // where it will
  Lane lane{};
  MessageKind kind{};
  std::uint32_t number = 0;
  std::span<const std::byte> bytes{};  // die with the call
  bool stream = false;                 // bytes of a stream, not a message
  What lost{};                         // of kLost: what it was
  // Of messages: told before. It was lost on its way then, or is now.
  bool again = false;
  // Of a connection into a hosted room (Hello::play): its messages are that
  // room's own. Not known of streams.
  bool hosted = false;
};

class NetworkSink {
 public:
  // Inside calls and events of connections; must not call any.
  virtual void OnNetworkEvent(const NetworkEvent& event) = 0;

 protected:
  ~NetworkSink() = default;
};

// What links have in common.
class Network {
 public:
  // `executor` outlives it.
  explicit Network(Executor& executor) : executor_(executor) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Executor& executor() const { return executor_; }
  TimePoint now() const { return executor_.now(); }

  // Of all that was sent and delivered so far, when, and in which order: two
  // runs with the same digest were the same.
  std::uint64_t digest() const { return digest_; }
  // For whoever adds to what a run was.
  void Note(std::uint64_t word) {
    // One round of SplitMix64. What comes of it is pinned by
    // sim_digest_test.cc.
    std::uint64_t z = (digest_ ^ word) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    digest_ = z ^ (z >> 31);
  }

  // Hears of everything; outlives the network or its own removal (null).
  void SetSink(NetworkSink* sink) { sink_ = sink; }
  NetworkSink* sink() const { return sink_; }

  std::uint64_t NextConnection() { return ++connections_; }

 private:
  Executor& executor_;
  NetworkSink* sink_ = nullptr;
  std::uint64_t digest_ = 0;
  std::uint64_t connections_ = 0;
};

// The way between two machines, in both directions, for any number of
// connections, which share its limits.
class Link {
 public:
  // `conditions` are valid; `name` is for traces.
  Link(Network& network, const Conditions& conditions, std::string name);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Network& network() const { return network_; }
  const std::string& name() const { return name_; }
  const Conditions& conditions() const;
  // For what is sent from here on.
  void SetConditions(const Conditions& conditions);

  // Nothing gets through any more, and nobody is told; what is on its way is
  // lost too. Of the reliable lane it comes again once healed, as TCP sends
  // again: at the next try, each waits twice as long as the one before it.
  void Cut();
  void Cut(Direction direction);  // half-open
  void Heal();                    // both
  bool is_cut(Direction direction) const;

  // Every connection on it is lost, at both ends, now.
  void Reset();

 private:
  friend class Wire;
  friend class StreamWire;
  void Note(NetworkEvent::What what, Direction direction);

  Network& network_;
  const std::string name_;
  std::unique_ptr<LinkState> state_;
};

// A client at the door of an endpoint, at the level of messages. Destroyed
// unanswered, it is as if the link were lost.
class Opening {
 public:
  virtual ~Opening() = default;
  virtual const Hello& hello() const = 0;
  virtual const Link& link() const = 0;  // that it came by
  // One of the two, once. The connection is open from birth, and lives on the
  // endpoint that was asked.
  virtual std::unique_ptr<Connection> Accept() = 0;
  virtual void Refuse(const Refusal& refusal) = 0;
};

class Listener {
 public:
  // `opening` may be answered now or later.
  virtual void OnOpening(TimePoint now, std::unique_ptr<Opening> opening) = 0;

 protected:
  ~Listener() = default;
};

// A machine, at the level of messages: where ends of connections live, and who
// runs their events. Outlives them.
//
// A close takes its round trip; a lost link, an Abort and a destruction are
// told by one packet, which may be lost. What arrives later for an end that is
// gone is answered by its machine, also between two polls.
//
// An end that nobody listens at, that stands still or that is cut off costs no
// more than the reliable_bytes_max of its peer for each lane, and what keeping
// messages apart takes (some 50 bytes each): the reliable lane overflows, and
// of the state lane the oldest goes.
class Endpoint {
 public:
  enum class Turn : std::uint8_t {
    kEvents,  // the executor, whenever something arrives, as a host's loop
    kPolled,  // Poll, as a game's loop
  };

  // `options` of the connections' ends here are valid (ping, silence and
  // handshake too). `name` is for traces.
  Endpoint(Network& network, Turn turn, const StreamOptions& options,
           std::string name);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const std::string& name() const { return name_; }

  // Who answers the clients that come here. With none (null), as when no
  // process listens on a port, they are turned away: OnClose(1006).
  void SetListener(Listener* listener);
  // The machine is off, until a listener is set: its connections, which are
  // destroyed meanwhile, go without a word, and nothing that is sent to it gets
  // an answer. Who sends to one of them later is told that it is lost.
  void Unplug();

  // kPolled: runs the events of all that has arrived. Returns how many. No
  // event runs between two calls.
  std::size_t Poll();
  // When there is something to poll for; kNever with nothing on its way.
  TimePoint next_event() const;

  // The machine stands still: no event runs before `until`, or before what an
  // earlier call said, and what arrives waits. What it has sent goes on.
  void StallUntil(TimePoint until);

  // Opens a connection to `to` by `link`, this its first end. As
  // Connector::Connect: OnOpen follows a round trip later, or OnClose(1006),
  // with the refusal if there was one.
  std::unique_ptr<Connection> Connect(Link& link, Endpoint& to,
                                      const Hello& hello,
                                      ConnectionHandler* handler);

 private:
  friend class Wire;

  const std::string name_;
  std::unique_ptr<EndpointState> state_;
};

}  // namespace parlor::sim

#endif  // PARLOR_SIM_NETWORK_H_
