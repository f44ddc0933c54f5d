// FrontClient: one client of a Front, from the connection to its end or to the
// room. Reads requests in their time, answers in their order, and says who is
// let in. Front has what it answers.
//
// What one client can have of the host's memory: a head and a body up to their
// limits, and what is pipelined in kFrontReadBytes or the answers to it, since
// nothing is read while one waits to be written, or for the access store.
#ifndef PARLOR_HOST_LOGIC_FRONT_CLIENT_H_
#define PARLOR_HOST_LOGIC_FRONT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "logic/front.h"
#include "logic/http_body.h"
#include "logic/numeric_address.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/http_head.h"
#include "stream/http_reply.h"
#include "stream/segments.h"
#include "stream/stream_loop.h"

namespace parlor::host {

// Of one turn, and of what may be unread behind a request. Ours: a browser's
// request fits, and sixty of the shortest, whose answers are 10 KB.
inline constexpr std::size_t kFrontReadBytes = 2 * 1024;

class FrontClient final : private stream::LoopMember,
                          private stream::ByteStream::Events {
 public:
  // In the front's lists.
  struct Place {
    std::list<FrontClient>::iterator of_all;
    std::optional<Address> address{};  // that it counts for, in whose list:
    std::list<FrontClient*>::iterator of_address;
  };

  // In a turn of the front's loop, which is when its time begins. `peer`: where
  // the connection comes from, nothing when that could not be read.
  FrontClient(Front& front, std::unique_ptr<stream::ByteStream> stream,
              const std::optional<NumericAddress>& peer,
              NetTransport transport);
  // Cuts the client off, unless it went on to a room or its end is on its way.
  ~FrontClient() override;

  // Of the peer, or of the client behind it that the last head told of.
  const Address& address() const { return address_; }
  // Whether each head tells which client it is.
  bool IsProxy() const;
  Place& place() { return place_; }

  // Of the access store. May end with the client gone.
  void OnAnswer(PassAnswer answer);

 private:
  enum class Step : std::uint8_t {
    kNothing,  // there was nothing to read
    kTaken,    // what there was
    kGone,     // this object
  };

  // What waits for the access store.
  struct Asked {
    std::uint64_t number = 0;  // Front::Ask's
    Hello hello{};
    // Null: it is not about a room, but the invite in head_ and body_.
    std::unique_ptr<stream::ServerHandshake> handshake{};
  };

  void OnReadable() override { Receive(); }
  void OnWritable() override { Flush(); }
  void OnTurnEnd() override {}  // never asked for
  void OnAlarm() override;

  // What is being read has so much time from now on.
  void SetDeadline(std::int64_t ms);
  void TimeUp();

  Step Receive();
  // Those that answer whether this object is still there say false when not.
  // As much as can be answered; the rest is kept.
  bool TakeAll(std::span<std::byte> input);
  // Takes some off the front of `input`.
  bool Take(std::span<std::byte>& input);
  bool TakeHello(std::span<std::byte>& input);
  bool TakeHead(std::span<std::byte>& input);
  bool TakeBody(std::span<std::byte>& input);
  // Whose the head is.
  void FindClient();
  bool OnRequest(std::span<std::byte>& input);
  bool ReplyNotAllowed(std::string_view allow);
  bool TellHealth();
  bool ExpectBody(std::span<std::byte>& input);
  bool AnswerInvite();
  bool TellInvite(const Gate::InviteAnswer& answer);
  bool Reply(stream::HttpReply reply);
  bool Fail(std::uint16_t status);
  bool Flush();

  bool OnRoomRequest(std::span<const std::byte> unread);
  // The gate's word about what the handshake has read.
  bool Decide(std::unique_ptr<stream::ServerHandshake> handshake,
              std::span<const std::byte> unread);
  bool Ask(const PassUse& use, Asked asked);
  bool Answer(PassAnswer answer);

  // All of these end with the client gone.
  void Admit(std::unique_ptr<stream::ServerHandshake> handshake, Hello hello,
             std::span<const std::byte> unread);
  // Says `last` behind what waits to be written, and ends the connection.
  void End(std::string_view last);
  void CutOff();

  Front& front_;
  std::unique_ptr<stream::ByteStream> stream_;
  const std::optional<NumericAddress> peer_;
  const NetTransport transport_;
  Address address_;
  Place place_;
  TimePoint deadline_{};  // of what is being read
  // Over TCP.
  std::unique_ptr<stream::ServerHandshake> hello_;
  // Over HTTP: of the request that is being read, none between two of them.
  std::unique_ptr<stream::HttpRequestHead> head_;
  std::optional<HttpBody> body_;
  std::optional<Asked> asked_;
  // What was read behind the request that is being answered.
  std::vector<std::byte> unread_;
  stream::Segments out_;
  // The stream takes no more of out_ now. Nothing is read meanwhile.
  bool blocked_ = false;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_FRONT_CLIENT_H_
