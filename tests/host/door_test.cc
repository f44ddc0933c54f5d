// The door of a host: what comes from the front and from within the process,
// in virtual time, over streams in memory.
#include "logic/door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "logic/handover.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/parts.h"
#include "stream/server_answer.h"
#include "stream/stream_connection.h"
#include "stream/websocket_codec.h"
#include "support/lockstep_client.h"
#include "support/memory_stream.h"
#include "support/recording_connection.h"
#include "support/seed.h"
#include "support/websocket_frames.h"

namespace parlor::test {
namespace {

using host::Door;
using host::Handover;
using host::Shard;
using host::ShardOptions;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

using Client = LockstepClient;

// As a front does it, for requests that are all right.
class Reading final : stream::ByteStream::Events {
 public:
  Reading(VirtualLoop& loop, NetTransport transport, stream::ServerParts parts,
          std::function<void(Handover)> hand_over)
      : loop_(loop),
        transport_(transport),
        parts_(std::move(parts)),
        hand_over_(std::move(hand_over)) {
    parts_.stream->SetEvents(this);
    parts_.stream->WantRead(true);
  }

 private:
  void OnReadable() override {
    const stream::IoResult read = parts_.stream->Read(loop_.read_buffer());
    ASSERT_EQ(read.status, stream::IoStatus::kOk);
    std::span<std::byte> input = loop_.read_buffer().first(read.bytes);
    if (parts_.handshake->Feed(input) !=
        stream::ServerHandshake::Progress::kRequest) {
      return;
    }
    Handover handover;
    ASSERT_EQ(
        ParseRoomRequest(parts_.handshake->request(), "", &handover.hello), 0);
    handover.transport = transport_;
    handover.unread.assign(input.begin(), input.end());
    handover.handshake = std::move(parts_.handshake);
    parts_.stream->SetEvents(nullptr);
    handover.stream = parts_.stream->Park();
    parts_.stream = nullptr;
    hand_over_(std::move(handover));
  }
  void OnWritable() override {}

  VirtualLoop& loop_;
  NetTransport transport_;
  stream::ServerParts parts_;
  std::function<void(Handover)> hand_over_;
};

ShardOptions QuickRooms() {
  ShardOptions options;
  options.seats = 4;
  options.rooms = 8;
  options.room.hold_ms = 1'000;
  options.room.lobby_ms = 5'000;
  options.room.message_burst = limits::kMessageBurst.ceiling;
  return options;
}

class DoorTest : public testing::TestWithParam<NetTransport> {
 protected:
  DoorTest()
      : seed_(TestSeed()),
        entropy_(seed_),
        executor_(seed_, Executor::Ties::kShuffled),
        keys_(entropy_) {
    stream_.linger_ms = 2'000;
    MakeDoor(QuickRooms());
  }
  ~DoorTest() override {
    // Ends on the client's pump go before it, as those on the door's do.
    for (Client& client : clients_) client.connection.reset();
  }

  void MakeDoor(const ShardOptions& options) {
    door_ = std::make_unique<Door>(
        shard_loop_,
        [this] {
          shard_loop_.Post([this] {
            if (door_ != nullptr) door_->OnWake();
          });
        },
        options, stream_, entropy_);
  }

  stream::ClientStart Start(const Hello& hello,
                            std::unique_ptr<stream::ByteStream> stream) {
    const Request request = RequestForRoom(hello);
    return stream::MakeClientStart(GetParam(), stream_, std::move(stream),
                                   {.request = request,
                                    .authority = "test",
                                    .entropy = entropy_,
                                    .keys = keys_});
  }
  std::vector<std::byte> HelloBytes(const Hello& hello) {
    const stream::ClientStart start = Start(hello, nullptr);
    const auto bytes = AsBytes(start.handshake->hello());
    return {bytes.begin(), bytes.end()};
  }

  Client& Join(const Hello& hello) {
    Client& client = clients_.emplace_back();
    client.connection = stream::MakeClientConnection(
        client_loop_, stream_, Start(hello, Dial()), &client);
    Settle();
    return client;
  }
  Client& Join(std::uint32_t room, std::int32_t players) {
    return Join({.room = room, .players = players});
  }

  // A client's end of a stream to the front.
  std::unique_ptr<stream::ByteStream> Dial() {
    MemoryStreamPair streams =
        MakeMemoryStreams(executor_, client_loop_, front_loop_, memory_);
    readings_.emplace_back(
        front_loop_, GetParam(),
        stream::MakeServerParts(GetParam(), stream_, std::move(streams.second)),
        [this](Handover handover) {
          auto moved = std::make_shared<Handover>(std::move(handover));
          shard_loop_.Post(
              [this, moved] { door_->OnHandover(std::move(*moved)); });
        });
    return std::move(streams.first);
  }

  // A pipe whose other end is handed to the door.
  Client& JoinByPipe(const Hello& hello) {
    Client& client = clients_.emplace_back();
    PipePair pipe = MakePipe(client_pump_, door_->pump());
    pipe.first->SetHandler(&client);
    client.connection = std::move(pipe.first);
    auto end =
        std::make_shared<std::unique_ptr<Connection>>(std::move(pipe.second));
    shard_loop_.Post(
        [this, end, hello] { door_->Attach(std::move(*end), hello); });
    Settle();
    return client;
  }

  // In the next turn; `ended` tells when the door says that it is over.
  void EndDoor(bool& ended) {
    shard_loop_.Post([this, &ended] {
      door_->End(CloseReason::kRestart, [&ended] { ended = true; });
    });
  }

  // Everything that is due now, pipes included.
  void Settle() {
    do {
      executor_.RunUntil(executor_.now(), 1'000'000);
    } while (pump_clients_ && client_pump_.Pump(executor_.now()) > 0);
  }
  void Advance(Duration time) {
    executor_.RunFor(time);
    Settle();
  }

  const std::uint64_t seed_;
  SeededEntropy entropy_;
  Executor executor_;
  stream::MaskKeys keys_;
  StreamOptions stream_;
  MemoryStreamOptions memory_;
  VirtualLoop client_loop_{executor_}, front_loop_{executor_},
      shard_loop_{executor_};
  PipePump client_pump_;
  bool pump_clients_ = true;
  std::list<Reading> readings_;
  std::list<Client> clients_;
  std::unique_ptr<Door> door_;
};

INSTANTIATE_TEST_SUITE_P(Transports, DoorTest,
                         testing::Values(NetTransport::kWebSocket,
                                         NetTransport::kTcp),
                         [](const auto& row) {
                           return row.param == NetTransport::kTcp ? "tcp"
                                                                  : "ws";
                         });

TEST_P(DoorTest, SeatsThoseWhoAreHandedOverAndRelays) {
  Client& first = Join(3, 2);
  EXPECT_THAT(first.Take(), ElementsAre("open", "LOBBY 0 2 1"));
  Client& second = Join(3, 2);
  EXPECT_THAT(first.Take(), ElementsAre("WELCOME 0"));
  EXPECT_THAT(second.Take(), ElementsAre("open", "WELCOME 1"));
  first.Input(7);
  Settle();
  EXPECT_THAT(second.Take(), ElementsAre("INPUT 0 0 0 7 7"));
}

TEST_P(DoorTest, HandsOverInPiecesOfAByte) {
  memory_.piece_bytes_max = 1;
  Client& first = Join(3, 2);
  Client& second = Join(3, 2);
  EXPECT_THAT(first.Take(), ElementsAre("open", "LOBBY 0 2 1", "WELCOME 0"));
  EXPECT_THAT(second.Take(), ElementsAre("open", "WELCOME 1"));
}

TEST_P(DoorTest, AnswersWhatOnlyTheRoomKnows) {
  Join(3, 2);
  EXPECT_THAT(Join(3, 3).Take(), ElementsAre("refused 409"));
  EXPECT_THAT(Join(8, 2).Take(), ElementsAre("refused 404"));
  EXPECT_THAT(Join(2, 5).Take(), ElementsAre("refused 400"));
  Join(3, 2);
  EXPECT_THAT(Join(3, 2).Take(), ElementsAre("open", "close 4000 room full"));
  EXPECT_THAT(Join({.room = 3, .players = 2, .resume = "0"}).Take(),
              ElementsAre("open", "close 4002 seat gone"));
}

TEST_P(DoorTest, SeatsAgainWhoComesBack) {
  Client& first = Join(3, 2);
  Client& second = Join(3, 2);
  first.connection.reset();
  Settle();
  second.Input(1);
  Settle();
  first.Take();
  second.Take();
  const Client& back = Join(
      {.room = 3, .players = 2, .resume = lockstep::TokenText(first.token)});
  EXPECT_THAT(back.heard, ElementsAre("open", "WELCOME 0", "RESUME 0 2",
                                      "INPUT 1 0 0 1 1"));
  EXPECT_THAT(second.Take(), ElementsAre("RESUME 0 2"));
}

TEST_P(DoorTest, WhatCameBehindTheRequestCounts) {
  Client& first = Join(3, 2);
  first.Take();
  // Says hello and two inputs in one breath, before it can know its seat.
  std::vector<std::byte> wire = HelloBytes({.room = 3, .players = 2});
  for (const std::uint32_t frame : {1, 2}) {
    const auto bytes = lockstep::Encode(
        {.kind = lockstep::Kind::kInput, .frame = frame, .value = frame});
    if (GetParam() == NetTransport::kWebSocket) {
      AppendFrame(wire, Reader::kServer, 0x82, bytes);
    } else {
      constexpr std::array kHeader = {std::byte{2}, std::byte{12}, std::byte{0},
                                      std::byte{0}};
      wire.insert(wire.end(), kHeader.begin(), kHeader.end());
      wire.insert(wire.end(), bytes.begin(), bytes.end());
    }
  }
  const std::unique_ptr<stream::ByteStream> stream = Dial();
  const stream::Bytes pieces[] = {wire};
  stream->Write(pieces);
  Settle();
  EXPECT_THAT(first.Take(),
              ElementsAre("WELCOME 0", "INPUT 1 0 0 1 1", "INPUT 1 0 0 2 2"));
}

TEST_P(DoorTest, ActsOnTheRoomsDeadlinesInTime) {
  Client& alone = Join(1, 2);
  const TimePoint opened = executor_.now();
  Advance(100 * kMillisecond);
  Client& first = Join(3, 2);
  Client& second = Join(3, 2);
  // A deadline that comes before those that are set.
  second.connection.reset();
  Settle();
  EXPECT_THAT(first.Take(),
              ElementsAre("open", "LOBBY 0 2 1", "WELCOME 0", "AWAY 1 2"));
  Advance(999 * kMillisecond);
  EXPECT_THAT(first.Take(), IsEmpty());
  Advance(kMillisecond);
  EXPECT_THAT(first.Take(), ElementsAre("LEAVE 1 2"));
  Advance(10'000 * kMillisecond);
  EXPECT_THAT(alone.Take(),
              ElementsAre("open", "LOBBY 0 2 1", "close 1001 room not filled"));
  EXPECT_EQ(alone.closed_at, opened + 5'000 * kMillisecond);
}

// Those who play have the loop in between.
TEST_P(DoorTest, RoomsOfOneInstantEndInSeveralTurns) {
  constexpr std::uint32_t kCount = 2 * Shard::kRoomsPerAlarm + 1;
  ShardOptions options = QuickRooms();
  options.rooms = kCount;
  MakeDoor(options);
  for (std::uint32_t room = 0; room < kCount; ++room) Join(room, 2);
  std::vector<std::size_t> left;
  Advance(milliseconds(options.room.lobby_ms) - kMillisecond);
  for (int i = 0; i < 4; ++i) {
    left.push_back(door_->shard().rooms());
    Advance(kMillisecond);
  }
  EXPECT_THAT(left, ElementsAre(kCount, Shard::kRoomsPerAlarm + 1, 1, 0));
}

TEST_P(DoorTest, SeatsAPipeBesideTheNetwork) {
  Client& own = JoinByPipe({.room = 3, .players = 2});
  EXPECT_THAT(own.Take(), ElementsAre("open", "LOBBY 0 2 1"));
  Client& guest = Join(3, 2);
  EXPECT_THAT(own.Take(), ElementsAre("WELCOME 0"));
  guest.Take();
  own.Input(1);
  Settle();
  EXPECT_THAT(guest.Take(), ElementsAre("INPUT 0 0 0 1 1"));
  guest.Input(2);
  Settle();
  EXPECT_THAT(own.Take(), ElementsAre("INPUT 1 0 0 2 2"));
}

TEST_P(DoorTest, AFullPipeIsReadToItsEnd) {
  Client& own = JoinByPipe({.room = 3, .players = 2});
  Client& guest = Join(3, 2);
  guest.Take();
  constexpr std::size_t kMany = 5'000;
  for (std::uint32_t frame = 1; frame <= kMany; ++frame) own.Input(frame);
  Settle();
  EXPECT_EQ(guest.Take().size(), kMany);
}

TEST_P(DoorTest, RefusesWhatIsAttachedAndNotAdmitted) {
  JoinByPipe({.room = 3, .players = 2});
  EXPECT_THAT(JoinByPipe({.room = 3, .players = 3}).Take(),
              ElementsAre("open", "close 1008 refused"));
  EXPECT_EQ(door_->shard().connections(), 1);
}

TEST_P(DoorTest, LetsGoOfAPipeThatNobodyReads) {
  pump_clients_ = false;
  JoinByPipe({.room = 3, .players = 2});
  // The lobby's time, then the pipe's linger.
  Advance(5'000 * kMillisecond);
  EXPECT_EQ(door_->shard().connections(), 1);
  Advance(limits::kLingerMs.fallback * kMillisecond);
  EXPECT_EQ(door_->shard().connections(), 0);
}

TEST_P(DoorTest, EndsWhenEverybodyHasHeard) {
  Client& first = Join(3, 2);
  Client& second = Join(3, 2);
  Client& own = JoinByPipe({.room = 4, .players = 2});
  first.Take();
  second.Take();
  own.Take();
  int ended = 0;
  shard_loop_.Post(
      [&] { door_->End(CloseReason::kHostLeft, [&ended] { ++ended; }); });
  Settle();
  Advance(5 * kMillisecond);
  for (Client* client : {&first, &second, &own}) {
    EXPECT_THAT(client->Take(), ElementsAre("close 1001 host left"));
  }
  EXPECT_EQ(ended, 1);
  EXPECT_THAT(Join(5, 2).Take(), ElementsAre("refused 503"));
  EXPECT_THAT(JoinByPipe({.room = 5, .players = 2}).Take(),
              ElementsAre("open", "close 1001 host left"));
  Advance(60'000 * kMillisecond);
  EXPECT_EQ(ended, 1);
}

TEST_P(DoorTest, EndsWhenThoseItRefusedHaveHeardToo) {
  pump_clients_ = false;
  Client& refused = JoinByPipe({.room = 3, .players = 0});
  bool ended = false;
  EndDoor(ended);
  Advance(100 * kMillisecond);
  EXPECT_FALSE(ended);
  pump_clients_ = true;
  Settle();
  EXPECT_THAT(refused.Take(), ElementsAre("open", "close 1008 refused"));
  Advance(5 * kMillisecond);
  EXPECT_TRUE(ended);
}

// Whom the room refused, and who does not end his side.
TEST_P(DoorTest, EndsWhenTheRefusalsAreOverToo) {
  Join(3, 2);
  const std::unique_ptr<stream::ByteStream> refused = Dial();
  const std::vector<std::byte> hello = HelloBytes({.room = 3, .players = 3});
  const stream::Bytes pieces[] = {hello};
  refused->Write(pieces);
  Settle();
  ASSERT_EQ(door_->shard().connections(), 1);
  bool ended = false;
  EndDoor(ended);
  Advance(stream_.linger_ms * kMillisecond - kMillisecond);
  EXPECT_EQ(door_->shard().connections(), 0);
  EXPECT_FALSE(ended);
  Advance(6 * kMillisecond);
  EXPECT_TRUE(ended);
}

TEST_P(DoorTest, EndsWithoutWhoDoesNotAnswer) {
  const std::unique_ptr<stream::ByteStream> deaf = Dial();
  const std::vector<std::byte> hello = HelloBytes({.room = 3, .players = 2});
  const stream::Bytes pieces[] = {hello};
  deaf->Write(pieces);
  Settle();
  ASSERT_EQ(door_->shard().connections(), 1);
  bool ended = false;
  EndDoor(ended);
  Advance(stream_.linger_ms * kMillisecond - kMillisecond);
  EXPECT_FALSE(ended);
  Advance(6 * kMillisecond);
  EXPECT_TRUE(ended);
}

TEST_P(DoorTest, EndsWithoutAConnectionThatDoesNotClose) {
  bool ended = false;
  shard_loop_.Post([&] {
    door_->Attach(std::make_unique<RecordingConnection>(),
                  {.room = 3, .players = 2});
    door_->End(CloseReason::kRestart, [&ended] { ended = true; });
  });
  Advance(2 * stream_.linger_ms * kMillisecond - kMillisecond);
  EXPECT_FALSE(ended);
  Advance(kMillisecond);
  EXPECT_TRUE(ended);
}

TEST_P(DoorTest, ItsEndIsALostLinkToEveryone) {
  Client& first = Join(3, 2);
  Client& own = JoinByPipe({.room = 4, .players = 2});
  first.Take();
  own.Take();
  door_.reset();
  Settle();
  EXPECT_THAT(first.Take(), ElementsAre("close 1006 "));
  EXPECT_THAT(own.Take(), ElementsAre("close 1006 "));
}

}  // namespace
}  // namespace parlor::test
