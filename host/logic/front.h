// Front: the door of a host. Reads what each client asks for, strictly and
// within its time, answers what it can (GET /healthz, POST /invite, refusals),
// asks the gate about the rest and hands whom it lets in to the room's shard.
//
// One thread, that of its loop; knows neither sockets nor a clock, so that the
// simulator runs the same one.
#ifndef PARLOR_HOST_LOGIC_FRONT_H_
#define PARLOR_HOST_LOGIC_FRONT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::host {

class FrontClient;

struct FrontOptions {
  // handshake_ms: how long a head may take, from the connection on, or from its
  // first byte where it is not the first of its connection.
  StreamOptions stream;
  std::size_t unseated_max =
      static_cast<std::size_t>(limits::kUnseated.fallback);
  std::size_t unseated_per_address =
      static_cast<std::size_t>(limits::kUnseatedPerAddress.fallback);
  std::string base_path;  // as GateRooms'
  // How long a connection may be silent between two requests, which closes it;
  // and how long a body may take to come, and answers to be taken, before the
  // client is cut off. The contract's numbers.
  std::int64_t idle_ms = 60'000;
  std::int64_t body_ms = 10'000;
  // How long the access store may take to answer, before its client is told
  // 503. Ours: our own clients give up a connection after 3 s, and a disk that
  // takes longer than this is no use to a page either.
  std::int64_t store_ms = 5'000;
};

// What GET /healthz tells.
struct HostFigures {
  std::uint64_t rooms = 0;
  std::uint64_t players = 0;  // connected seats
  std::uint64_t uptime_s = 0;
};

// Over NetTransport::kWebSocket it speaks HTTP/1.1 and answers, below
// base_path:
//   GET, HEAD /healthz  200 {"ok":true,"rooms":N,"players":N,"uptime":S}, or
//                       503 with "ok":false while the gate drains
//   POST /invite        what the gate says of the body; 413 above
//                       kInviteBodyMax, 400 when it is not written as HTTP is
//   ... /room/<n>, /play/<key>
//                       503 or 404 (Gate::CheckPath), what no upgrade is
//                       refused with (websocket_handshake.h), what
//                       Gate::CheckJoin says; or it is handed over
//   anything else       501 for a method that HTTP does not know, 404 for a
//                       path and 405 for a method that is not above
// and to a head that is not taken 400, 431, 501 or 505 (http_head.h). Requests
// may be pipelined; they are answered in order. The connection goes on behind
// the answer unless its client says "Connection: close", the answer is about a
// room, or it is not sure where the next request begins.
//
// Where the connection comes from a proxy that the gate trusts, its client is
// found anew with every head (X-Forwarded-For, see forwarded.h), since proxies
// send the requests of many over one connection. Without such a head the client
// is the proxy.
//
// Over NetTransport::kTcp there are rooms only, refused by the same checks in
// the same order. Nothing there tells who is behind a proxy: all of its clients
// count as one.
//
// Who shows a pass that the gate finds right waits for the access store. Of him
// nothing is read meanwhile; what he has pipelined is looked at afterwards.
//
// Nothing that a client sent is in what is answered, but its Origin to a page
// that the gate allows.
class Front {
 public:
  class Ports {
   public:
    // To the shard of its room, on whatever thread that lives. The last that
    // the front does in that event.
    virtual void HandOver(Handover handover) = 0;
    virtual HostFigures Figures(TimePoint now) = 0;
    // Asks the access store. `answer` is called once, in a later turn of the
    // loop, or never; then it is destroyed, on any thread. It may be called, or
    // destroyed, when the front is no more.
    virtual void AskStore(const PassUse& use,
                          std::function<void(PassAnswer)> answer) = 0;

   protected:
    ~Ports() = default;
  };

  // All outlive the front.
  Front(stream::StreamLoop& loop, const FrontOptions& options, Gate& gate,
        Ports& ports);
  // Cuts off whoever has not been handed over.
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // For whoever comes from here on; who is above a lower limit goes then.
  void SetOptions(const FrontOptions& options) { options_ = options; }

  // A client has connected; in a turn of the loop. `address` is numeric and
  // dies with the call. When there are too many that have no seat yet, in all
  // or of this address, the oldest (of this address) is cut off. One from a
  // trusted proxy counts for its client's address instead, and only from a head
  // on until it is answered.
  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address, NetTransport transport);

  // This alone may be asked from any thread.
  std::size_t unseated() const {
    return unseated_.load(std::memory_order_relaxed);
  }
  // Cuts off the client that came first; false: there is none. Not inside the
  // ports' calls.
  bool DropOldest();

 private:
  friend class FrontClient;

  // Whose address the client counts for from here on; nobody's: only in all.
  // May cut off others of the address.
  void CountFor(FrontClient& client, std::optional<Address> address);
  // The last that a client does in its event: both destroy it.
  void Admit(FrontClient& client, Handover handover);
  void Drop(FrontClient& client);

  // Clients that wait for the store, by a number that no other had: an answer
  // that comes late finds nobody.
  struct Waiting {
    std::uint64_t last = 0;
    absl::flat_hash_map<std::uint64_t, FrontClient*> clients;
    // What the store was asked and has neither answered nor given up; from any
    // thread.
    std::atomic<std::size_t> asked = 0;
  };
  class Question;
  // OnAnswer of `client` will be called, unless StopWaiting is first. 0: it
  // will not, since the store has as many to answer as may be unseated: those
  // whose client has left count too.
  std::uint64_t Ask(FrontClient& client, const PassUse& use);
  void StopWaiting(std::uint64_t number) { waiting_->clients.erase(number); }

  stream::StreamLoop& loop_;
  FrontOptions options_;
  Gate& gate_;
  Ports& ports_;
  // Before the clients, and questions outlive both.
  const std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  // Both with the oldest first, of an address those that have counted for it
  // the longest; no list of an address is empty.
  std::list<FrontClient> clients_;
  std::atomic<std::size_t> unseated_ = 0;  // of them
  absl::flat_hash_map<Address, std::list<FrontClient*>> of_address_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_FRONT_H_
