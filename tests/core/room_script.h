// A lockstep room driven by lines of text, so that a rule of the room is a
// few lines of a table. Connections are named by a letter; each line gives
// what every connection was told by it.
#ifndef PARLOR_TESTS_CORE_ROOM_SCRIPT_H_
#define PARLOR_TESTS_CORE_ROOM_SCRIPT_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/lockstep/room.h"
#include "support/lockstep_text.h"
#include "support/recording_connection.h"

namespace parlor::test {

// Gives `values` in order, then counts on from the last.
class ListedEntropy final : public Entropy {
 public:
  explicit ListedEntropy(std::deque<std::uint32_t> values)
      : values_(std::move(values)) {}
  void Fill(std::span<std::byte> out) override {
    PARLOR_CHECK(out.size() == 4);
    if (!values_.empty()) {
      next_ = values_.front();
      values_.pop_front();
    }
    StoreU32(out.data(), next_++);
  }

 private:
  std::deque<std::uint32_t> values_;
  std::uint32_t next_ = 0;
};

// The seed is 77 and seat s has the token 10 + s, unless `draws` says
// otherwise.
struct RoomSetup {
  int players = 2;
  lockstep::RoomOptions options{};
  std::deque<std::uint32_t> draws{77, 10};
};

class RoomScript {
 public:
  explicit RoomScript(const RoomSetup& setup)
      : entropy_(setup.draws),
        room_(now_, setup.players, setup.options, entropy_) {}

  // Does one line and returns what the connections were told, by name, each
  // in its order: "a AWAY 1 2; c closed 4001 resumed". The verbs:
  //   join a                     a new connection, or one that has no seat
  //   resume b <token>           a new connection with a token ("-": empty)
  //   a INPUT slot players mode frame value    zeros at the end may be left
  //                              out; also HASH, START and any kind as KIND7
  //   bytes a 11                 that many zero bytes; text a: 12 as text
  //   ping a                     a control frame
  //   lose a 1006                its link ended with that code
  //   late a 1006                the same, when the room has put it out
  //   full a 3                   its lane takes 3 more messages
  //   kick 1
  //   wait 500                   that many ms pass; alarm: the room is told
  //   look                       gives phase, seats, seated and held
  std::string Do(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "look") return Look();
    Act(verb, words);
    return Told();
  }

  lockstep::Room& room() { return room_; }
  TimePoint now() const { return now_; }
  RecordingConnection& connection(const std::string& name) {
    return connections_[name];
  }
  // What the connections were told since the last Do or Told.
  std::string Told() {
    std::string text;
    for (auto& [name, connection] : connections_) {
      for (const RecordingConnection::Entry& entry : connection.Take()) {
        if (!text.empty()) text += "; ";
        text += name + " " + EntryText(entry);
      }
    }
    return text;
  }

 private:
  std::string Look() {
    static constexpr const char* kPhases[] = {"lobby", "playing", "ended"};
    return std::string(kPhases[static_cast<int>(room_.phase())]) + " " +
           std::to_string(room_.players()) + " seats " +
           std::to_string(room_.seated()) + " seated " +
           std::to_string(room_.held()) + " held";
  }

  void Act(const std::string& verb, std::istringstream& words) {
    std::string name;
    if (verb == "wait") {
      std::int64_t ms = 0;
      words >> ms;
      now_ += std::chrono::milliseconds(ms);
    } else if (verb == "alarm") {
      room_.OnAlarm(now_);
    } else if (verb == "kick") {
      int seat = 0;
      words >> seat;
      room_.Kick(now_, seat, CloseReason::kKicked);
    } else if (verb == "join") {
      words >> name;
      room_.Join(now_, connections_[name]);
    } else if (verb == "resume") {
      std::string token;
      words >> name >> token;
      if (token == "-") token.clear();
      room_.Resume(now_, connections_[name], token);
    } else if (verb == "ping") {
      words >> name;
      room_.OnControl(now_, connections_.at(name));
    } else if (verb == "lose" || verb == "late") {
      CloseCode code = 0;
      words >> name >> code;
      RecordingConnection& connection = connections_.at(name);
      PARLOR_CHECK((verb == "late") == (room_.SeatOf(connection) < 0));
      connection.Lose();
      room_.OnClose(now_, connection, code);
    } else if (verb == "full") {
      std::size_t messages = 0;
      words >> name >> messages;
      connections_.at(name).FillUpAfter(messages);
    } else if (verb == "bytes" || verb == "text") {
      std::size_t size = lockstep::kMessageSize;
      words >> name;
      if (verb == "bytes") words >> size;
      const std::vector<std::byte> bytes(size);
      room_.OnMessage(
          now_, connections_.at(name),
          verb == "text" ? MessageKind::kText : MessageKind::kBinary, bytes);
    } else {
      Say(verb, words);
    }
  }

  void Say(const std::string& name, std::istringstream& words) {
    std::string kind;
    words >> kind;
    std::uint32_t fields[5] = {};
    for (std::uint32_t& field : fields) words >> field;
    const lockstep::Message message{
        .kind = KindNamed(kind),
        .slot = static_cast<std::uint8_t>(fields[0]),
        .players = static_cast<std::uint8_t>(fields[1]),
        .mode = static_cast<std::uint8_t>(fields[2]),
        .frame = fields[3],
        .value = fields[4]};
    room_.OnMessage(now_, connections_.at(name), MessageKind::kBinary,
                    Encode(message));
  }

  static lockstep::Kind KindNamed(const std::string& text) {
    for (std::size_t i = 1; i < kKindNames.size(); ++i) {
      if (text == kKindNames[i]) return static_cast<lockstep::Kind>(i);
    }
    PARLOR_CHECK(text.starts_with("KIND"));
    return static_cast<lockstep::Kind>(std::stoi(text.substr(4)));
  }

  TimePoint now_{};
  ListedEntropy entropy_;
  std::map<std::string, RecordingConnection> connections_;
  lockstep::Room room_;
};

// A room that is full and plays: a, b, c and so on are seats 0, 1, 2.
class StartedRoom : public RoomScript {
 public:
  explicit StartedRoom(const RoomSetup& setup) : RoomScript(setup) {
    for (int i = 0; i < setup.players; ++i) {
      Do(std::string("join ") + static_cast<char>('a' + i));
    }
  }
};

// What RoomScript::Do is given, and what it returns.
struct RoomLine {
  std::string action;
  std::string told{};
};

// A row of a test of rules, run by TellsExactly and named by RoomRowName.
struct RoomRow {
  const char* name;
  RoomSetup setup;
  std::vector<RoomLine> lines;
};

inline void TellsExactly(const RoomRow& row) {
  RoomScript script(row.setup);
  int number = 0;
  for (const RoomLine& line : row.lines) {
    SCOPED_TRACE("line " + std::to_string(++number) + ": " + line.action);
    EXPECT_EQ(script.Do(line.action), line.told);
  }
}

inline std::string RoomRowName(const testing::TestParamInfo<RoomRow>& info) {
  return info.param.name;
}

// `lines` of a room of two seats that plays: a is seat 0, b seat 1.
inline std::vector<RoomLine> AfterTwoJoined(
    const std::vector<RoomLine>& lines) {
  std::vector<RoomLine> all = {
      {"join a", "a LOBBY 0 2 1"},
      {"join b", "a WELCOME 0 2 0 77 10; b WELCOME 1 2 0 77 11"}};
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

// And of three: a, b and c are 0, 1 and 2.
inline std::vector<RoomLine> AfterThreeJoined(
    const std::vector<RoomLine>& lines) {
  std::vector<RoomLine> all = {
      {"join a", "a LOBBY 0 3 1"},
      {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
      {"join c",
       "a WELCOME 0 3 0 77 10; b WELCOME 1 3 0 77 11; c WELCOME 2 3 0 77 12"}};
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_CORE_ROOM_SCRIPT_H_
