// StreamConnections over a simulated network, under the conformance suite: the
// real handshakes, codecs and connections, without a socket.
#ifndef PARLOR_TESTS_SUPPORT_STREAM_LINK_H_
#define PARLOR_TESTS_SUPPORT_STREAM_LINK_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "support/connection_conformance.h"
#include "support/quiet_stream.h"
#include "support/sim_pace.h"
#include "support/stream_net.h"

namespace parlor::test {

// The bytes of the stream move in pieces of 1 to `kPieceMax`.
template <NetTransport kTransport, Tls kTls, First kFirst,
          std::size_t kPieceMax, const sim::Conditions& kConditions>
class StreamLink final {
 public:
  static constexpr SimPace kPace = PaceOn(kConditions);
  static constexpr std::uint64_t kRandomRuns =
      kPieceMax == 1 || kTls == Tls::kYes ? 100
      : kConditions == sim::kPerfect      ? 2'000
                                          : 1'000;

  explicit StreamLink(std::uint64_t seed)
      : net_(seed, {kTransport, kTls, kPieceMax, kConditions}) {}

  ConformanceEnds Connect(ConformanceOptions options, ConnectionHandler* first,
                          ConnectionHandler* second) {
    options.linger_ms *= kPace.slower;
    ConformanceEnds ends;
    ends.first = net_.Call(QuietStream(options),
                           kFirst == First::kClient ? first : second);
    while (ends.second == nullptr) {
      PARLOR_CHECK(executor_.RunNext());
      ends.second = net_.TakeAccepted();
    }
    ends.second->SetHandler(kFirst == First::kClient ? second : first);
    if (kFirst == First::kServer) std::swap(ends.first, ends.second);
    return ends;
  }

  bool Step() { return executor_.RunNext(executor_.now() + kPace.quiet); }
  void Settle() {
    while (Step()) {
    }
  }
  void Advance(Duration time) { executor_.RunFor(time * kPace.slower); }

 private:
  StreamNet net_;
  Executor& executor_ = net_.executor();
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_STREAM_LINK_H_
