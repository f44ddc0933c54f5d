// One random sequence of what can happen to the seats of a match: links that
// are lost, noticed at once or late, tokens that are right, wrong, dead or used
// twice, seats that are taken over while their old link still looks alive, and
// closes that come when the seat has long moved on. After each action the seats
// are compared with a book that is kept beside them, and every connection's
// view of them with both.
//
// The same sequence runs against a room, and against a shard that holds it.
#ifndef PARLOR_TESTS_SIM_RESUME_RUN_H_
#define PARLOR_TESTS_SIM_RESUME_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/connection.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor::test {

// The room's end of a connection, and what was said to it. It outlives the
// connection, which whoever has it destroys.
struct ResumeLine {
  std::vector<lockstep::Message> told;  // since it was last looked at
  std::optional<CloseCode> closed;      // by the room
  bool lost = false;  // nothing can be said to it; the room may not know yet
  bool gone = false;  // its OnClose has been passed on
  Connection* connection = nullptr;
  ConnectionHandler* handler = nullptr;

  bool open() const { return !closed && !lost && !gone; }
};

// Where the sequence happens.
class ResumePlace {
 public:
  virtual ~ResumePlace() = default;
  virtual void Join(TimePoint now, ResumeLine& line) = 0;
  virtual void Resume(TimePoint now, ResumeLine& line,
                      std::string_view token) = 0;
  virtual void Say(TimePoint now, ResumeLine& line,
                   const lockstep::Message& message) = 0;
  virtual void Close(TimePoint now, ResumeLine& line, CloseCode code) = 0;
  virtual void OnAlarm(TimePoint now) = 0;
  virtual TimePoint next_alarm() const = 0;
  // Null once it has ended.
  virtual const lockstep::Room* room() const = 0;
  // Nobody has a seat or a connection here.
  virtual bool empty() const = 0;
};

enum class ResumeAt : std::uint8_t { kRoom, kShard };

std::unique_ptr<ResumePlace> MakeResumePlace(ResumeAt at, int players,
                                             const lockstep::RoomOptions& room,
                                             Entropy& entropy);

class ResumeRun {
 public:
  ResumeRun(std::uint64_t seed, ResumeAt at);

  // What broke, and behind which actions; empty when nothing did.
  std::string Run();

  struct Figures {
    std::uint64_t drops = 0;
    std::uint64_t resumes = 0;
    std::uint64_t takeovers = 0;
    std::uint64_t wrong_tokens = 0;
    std::uint64_t late_closes = 0;
    std::uint64_t freed = 0;  // holds that ended by their deadline
    std::uint64_t leaves = 0;
  };
  const Figures& figures() const { return figures_; }

 private:
  // The book: what a seat is.
  struct Seat {
    int line = -1;  // whose it is; -1: held, or left
    bool left = false;
    bool ever_away = false;
    TimePoint hold_end = kNever;
    std::uint32_t token = 0;
    std::vector<lockstep::Message> inputs;  // as they are relayed
    bool held() const { return line < 0 && !left; }
  };
  // What a connection knows of another seat.
  struct View {
    bool away = false;
    bool left = false;
    std::size_t inputs = 0;  // the next it should hear of
  };
  struct Line {
    ResumeLine line;
    int seat = -1;  // that it was given
    bool welcomed = false;
    std::vector<View> views;
  };

  void Begin();
  void Act();
  void Finish();

  void Drop();
  void Leave();
  void Resume();
  void WrongToken();
  void LateClose();
  void LateMessage();
  void Talk();
  void PassTime();
  void RunUntil(TimePoint at);

  int NewLine();
  int AnySeat(bool connected);
  std::string TokenText(std::uint32_t token);
  void OpenBy(int line, int seat);
  // Of the book.
  void EndHolds();
  void FreeSeat(Seat& seat);
  bool ended() const;

  void Check();
  void CheckRoom();
  void Hear(int line);
  void HearOne(Line& line, const lockstep::Message& message);
  void CheckViews(Line& line);
  void Fail(const std::string& what);
  void Note(std::string action) { history_.push_back(std::move(action)); }

  Random random_;
  SeededEntropy entropy_;
  int players_;
  lockstep::RoomOptions options_;
  std::unique_ptr<ResumePlace> place_;
  TimePoint now_{};
  std::vector<Seat> seats_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<std::uint32_t> dead_tokens_;
  std::vector<std::string> history_;
  std::string error_;
  Figures figures_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_RESUME_RUN_H_
