// WatchedRoom: an authority room between its host and a model of it. All that
// the room hears and says goes through here, in its order and whatever way it
// came, and is compared with what the contract says must come of it:
//
//  - Who joins, resumes, drops, leaves and is held until when; who is host; who
//    is refused, put out or evicted, with which error and which close; and that
//    nobody else's connection is touched by what somebody says.
//  - A seat is one connection's, and its token alone opens it: the proven one
//    until the first ack, and the one that was issued last.
//  - Each state frame is what the game meant that player to see (PlayRoomBook),
//    of the right tick, behind its baseline, and none goes to who is blocked.
//  - Counters, and what the room and the queues hold.
//  - The room ends when it has to, for the reason it has to.
#ifndef PARLOR_TESTS_SIM_SWARM_PLAY_ROOM_H_
#define PARLOR_TESTS_SIM_SWARM_PLAY_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/authority/room.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/hosted_room.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "sim/swarm_play_game.h"

namespace parlor::test {

struct PlayFigures {
  std::uint64_t joins = 0;
  std::uint64_t resumes = 0;    // of held seats
  std::uint64_t takeovers = 0;  // of seats whose connection looked alive
  std::uint64_t refused_tokens = 0;
  std::uint64_t holds_ended = 0;
  std::uint64_t put_out = 0;
  std::uint64_t evicted = 0;
  std::uint64_t states = 0;  // frames
  std::uint64_t recoveries = 0;
  std::uint64_t failed_ticks = 0;
  std::uint64_t rooms_failed = 0;
};

class WatchedRoom final : public HostedRoom {
 public:
  // All outlive it. `options` are valid.
  WatchedRoom(TimePoint now, const authority::RoomOptions& options,
              PlayBook& book, PlayRoomBook& room, PlayFigures& figures,
              std::uint64_t seed, Entropy& entropy);
  ~WatchedRoom() override;

  void Admit(TimePoint now, Connection& connection,
             std::string_view identity) override;
  void OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                 std::span<const std::byte> bytes) override;
  void OnControl(TimePoint now, Connection& connection) override;
  void OnClose(TimePoint now, Connection& connection, CloseCode code) override;
  void OnAlarm(TimePoint now) override;
  TimePoint next_alarm() const override { return room_.next_alarm(); }
  void Drain(TimePoint now) override;
  void End(TimePoint now, CloseReason reason) override;
  bool ended() const override { return room_.ended(); }
  int seated() const override { return room_.seated(); }
  std::uint64_t resumes() const override { return room_.resumes(); }

  const authority::Room& room() const { return room_; }
  bool draining() const { return draining_; }
  struct Token {
    std::string name;  // of who has the seat
    authority::ResumeToken token;
  };
  std::vector<Token> LiveTokens() const;
  std::vector<authority::ResumeToken> DeadTokens() const;

 private:
  class Guest;
  // Messages that may still come, in billionths: so many a second more, up to a
  // burst.
  struct Credit {
    bool Take(TimePoint now);

    std::int64_t per_s = 0;
    std::int64_t burst = 0;
    std::int64_t left = 0;
    TimePoint at{};
  };
  // Texts: 40, and 20 more every 5 s.
  struct Budget {
    enum class Verdict : std::uint8_t { kOk, kTold, kDropped, kPutOut };
    Verdict Take(TimePoint now);

    int left = 40;
    int refused = 0;  // in a row
    TimePoint more_at{};
  };
  struct Seat {
    std::uint32_t number = 0;
    std::string name{};
    Guest* guest = nullptr;  // null: it is held
    TimePoint held_until{};
    bool host = false;
    std::optional<authority::ResumeToken> proven{};
    std::optional<authority::ResumeToken> issued{};
    Credit messages{};
    Credit inputs{};
    Budget texts{};

    bool Opens(const authority::ResumeToken& token) const {
      return token == proven || token == issued;
    }
  };

  Guest* Find(const Connection& connection);
  Seat* SeatOf(const Guest& guest);
  int LowestFree() const;

  // Time, up to `now`.
  void Enter(TimePoint now);
  void EndDeadlines();
  void Judge(Guest& guest, MessageKind kind, std::span<const std::byte> bytes);
  void JudgeVisitor(Guest& guest, MessageKind kind,
                    std::span<const std::byte> bytes);
  void JudgeJoin(Guest& guest, const authority::JoinFrame& join);
  void JudgeResume(Guest& guest, const authority::ResumeToken& token);
  void JudgeSeated(Guest& guest, MessageKind kind,
                   std::span<const std::byte> bytes);
  void OnInput(Guest& guest, const authority::InputFrame& input);
  void OnAck(Guest& guest, Seat& seat, std::uint32_t tick);
  // That it was told so in this call, and nothing else of the kind.
  void Told(Guest& guest, std::optional<authority::ErrorCode> error,
            CloseCode close);
  Credit Full(std::int64_t per_s, std::int64_t burst) const;
  Credit& MessagesOf(Guest& guest);
  // Above the rate, or the budget: it goes, unheld.
  void PutOut(Guest& guest, std::optional<authority::ErrorCode> error,
              CloseCode close);
  // False: it was put out.
  bool TakeText(Guest& guest, Seat& seat, const authority::ClientFrame& frame);
  void ToldInPlay(const Guest& guest,
                  std::optional<authority::ErrorCode> error);
  void EraseSeat(int number);
  void DropSeat(int number);
  void ChooseHost();

  // What the room says to a guest.
  void OnSaid(Guest& guest, Lane lane, MessageKind kind,
              std::span<const std::byte> bytes);
  void OnText(Guest& guest, std::string_view text);
  void OnWelcome(Guest& guest, const authority::WelcomeFrame& welcome);
  std::string CodecFor(const std::vector<std::string>& codecs) const;
  void OnRoster(Guest& guest, const authority::RosterFrame& roster);
  void OnTickFrame(Guest& guest, const authority::TickFrame& tick);
  void OnState(Guest& guest, Lane lane, MessageKind kind,
               std::span<const std::byte> bytes);
  void OnBaseline(Guest& guest, MessageKind kind,
                  std::span<const std::byte> bytes);
  void OnFrame(Guest& guest, MessageKind kind, std::span<const std::byte> bytes,
               bool recovery);
  void CheckOwn(const Guest& guest);
  void OnToldClose(Guest& guest, CloseCode code);
  bool IsBlocked(const Guest& guest) const;
  std::int64_t Silent(const Guest& guest) const;
  std::int64_t Apart() const;

  // After each call.
  void Settle();
  // There is nothing more to compare: it is over, or something broke.
  bool is_done() const { return ended_ || !book_.error.empty(); }
  void OnEnded();
  bool MayHaveEnded() const;
  void CheckSeats();
  void CheckCounters();
  void CheckBounds();
  void Fail(const std::string& what);
  void Fail(const Guest& guest, const std::string& what);

  PlayBook& book_;
  PlayRoomBook& book_of_room_;
  PlayFigures& figures_;
  PlayGame* const game_;  // the room's
  authority::Room room_;
  std::list<Guest> guests_;
  std::map<int, Seat> seats_;
  std::set<authority::ResumeToken> tokens_;  // all that ever were
  TimePoint now_{};
  std::uint32_t players_ever_ = 0;
  bool in_time_ = false;  // ticks and deadlines run
  bool ends_ = false;     // the host ends it
  bool draining_ = false;
  bool ended_ = false;
  bool had_seats_ = false;
  // As the room counts.
  std::uint64_t resumes_ = 0;
  std::uint64_t resumes_refused_ = 0;
  std::uint64_t evicted_ = 0;
  std::uint64_t recoveries_ = 0;
  std::uint64_t stale_acks_ = 0;
  std::uint64_t stale_inputs_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_PLAY_ROOM_H_
