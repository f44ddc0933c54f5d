#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "support/parity_script.h"
#include "support/parity_seat.h"
#include "support/parity_world.h"

namespace parlor::test {
namespace {

constexpr std::size_t kSeats = 6;
constexpr std::uint32_t kRooms = 3;
constexpr int kActions = 60;

class ShardHost final : public ParityHost {
 public:
  ShardHost(const host::ShardOptions& options, std::uint64_t seed)
      : entropy_(seed),
        shard_(std::make_unique<host::Shard>(options, entropy_)) {}

  std::uint16_t Admit(TimePoint now, const Hello& hello) override {
    return shard_->Admit(now, hello).status;
  }
  void Attach(TimePoint now, std::unique_ptr<Connection> connection,
              const Hello& hello) override {
    shard_->Attach(now, std::move(connection), hello);
  }
  void OnAlarm(TimePoint now) override {
    now_ = now;
    shard_->OnAlarm(now);
  }
  TimePoint next_alarm() const override {
    return shard_ == nullptr ? kNever : shard_->next_alarm();
  }

  void EndAll() { shard_->EndAll(now_, CloseReason::kHostLeft); }
  void Drop() { shard_.reset(); }

 private:
  SeededEntropy entropy_;
  std::unique_ptr<host::Shard> shard_;
  TimePoint now_{};
};

class ShardRooms final : public ParityRooms {
 public:
  ShardRooms(const host::ShardOptions& options, std::uint64_t seed,
             const ParityLimits& limits, const MakeParityWorld& make_world)
      : host_(options, seed), world_(make_world(host_, limits)) {}

  ParityWorld& world() override { return *world_; }
  void EndAll() override {
    world_->OnHost([this] { host_.EndAll(); });
  }
  void Drop() override {
    world_->OnHost([this] { host_.Drop(); });
  }

 private:
  ShardHost host_;
  std::unique_ptr<ParityWorld> world_;
};

// Everything that a room may do within a script, within seconds.
host::ShardOptions QuickRooms() {
  host::ShardOptions options;
  options.rooms = kRooms;
  options.seats = 4;
  options.room.hold_ms = 1'000;
  options.room.lobby_ms = 4'000;
  options.room.idle_ms = 3'000;
  options.room.lifetime_ms = 12'000;
  options.room.message_rate_per_s = 20;
  options.room.message_burst = 40;
  return options;
}

class RoomScript {
 public:
  RoomScript(std::uint64_t seed, const MakeParityRooms& make_rooms)
      : random_(seed, /*stream=*/2),
        rooms_(make_rooms(QuickRooms(), seed,
                          ParityLimits{.message_bytes_max = 64})) {
    for (std::size_t i = 0; i < kSeats; ++i) {
      seats_.push_back(std::make_unique<Seat>(i));
    }
  }

  std::vector<std::string> Run() {
    for (int i = 0; i < kActions; ++i) {
      Act();
      world().Barrier();
      Collect();
    }
    Note("the host leaves");
    rooms_->EndAll();
    world().Barrier();
    Collect();
    rooms_->Drop();
    world().Barrier();
    Collect();
    return std::move(trace_);
  }

 private:
  struct Seat {
    explicit Seat(std::size_t index) : end("seat " + std::to_string(index)) {
      end.on_message = [this](MessageKind, std::span<const std::byte> bytes) {
        if (bytes.size() != lockstep::kMessageSize) return;
        const auto message =
            lockstep::Decode(bytes.first<lockstep::kMessageSize>());
        if (message.kind == lockstep::Kind::kWelcome) token = message.value;
      };
    }

    ParitySeat end;
    Hello hello;
    std::uint32_t token = 0;  // of the last WELCOME
    std::uint32_t frame = 0;
  };

  ParityWorld& world() { return rooms_->world(); }

  void Note(const std::string& action) { trace_.push_back("== " + action); }

  void Collect() {
    for (const std::unique_ptr<Seat>& seat : seats_) {
      for (std::string& line : seat->end.Take()) {
        trace_.push_back(std::move(line));
      }
    }
  }

  void Act() {
    const std::size_t index = random_.Below(kSeats);
    Seat& seat = *seats_[index];
    if (random_.Chance(1, 6)) return LetTimePass();
    if (seat.end.connection == nullptr) return Join(index, seat);
    const std::uint32_t draw = random_.Below(20);
    const std::string who = "seat " + std::to_string(index);
    if (draw < 14) return SendSome(who, seat);
    if (draw == 14) return SendWrong(who, seat);
    if (draw == 15) return Flood(who, seat);
    if (draw == 16) {
      Note(who + " aborts");
      seat.end.connection->Abort();
    } else if (draw == 17) {
      Note(who + " is gone");
      seat.end.connection.reset();
    } else {
      Close(who, seat);
    }
  }

  void LetTimePass() {
    const std::int64_t ms = random_.Below(random_.Chance(1, 6) ? 5'000 : 700);
    Note(std::to_string(ms) + " ms pass");
    world().Advance(ms * kMillisecond);
  }

  void Join(std::size_t index, Seat& seat) {
    seat.hello.resume.reset();
    seat.frame = 0;
    const std::uint32_t draw = random_.Below(16);
    if (draw < 5 && seat.token != 0) {
      seat.hello.resume = lockstep::TokenText(seat.token);
      // Sometimes somebody else's, who may still be there.
      if (draw == 4) {
        const Seat& other = *seats_[random_.Below(kSeats)];
        seat.hello = other.hello;
        seat.hello.resume = lockstep::TokenText(other.token);
      }
    } else if (draw == 5) {
      constexpr std::array<std::string_view, 5> kWrong = {"1", "0", "zz",
                                                          "123456789", ""};
      seat.hello.resume = kWrong[random_.Below(kWrong.size())];
    } else {
      seat.hello.room = draw == 6 ? random_.Below(9) : random_.Below(kRooms);
      // Mostly of one size, so that rooms fill.
      seat.hello.players =
          draw == 7 ? static_cast<std::int32_t>(random_.Below(7)) : 3;
    }
    Note("seat " + std::to_string(index) + " joins room " +
         std::to_string(seat.hello.room) + " for " +
         std::to_string(seat.hello.players) + " with " +
         seat.hello.resume.value_or("no token"));
    seat.end.connection = world().Connect(seat.hello, &seat.end);
  }

  void SendSome(const std::string& who, Seat& seat) {
    const std::uint32_t count = random_.Below(4) + 1;
    Note(who + " sends " + std::to_string(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      lockstep::Message message;
      const std::uint32_t draw = random_.Below(10);
      if (draw == 0) {
        message.kind = lockstep::Kind::kStart;
        message.players = static_cast<std::uint8_t>(random_.Below(4));
      } else if (draw == 1) {
        message.kind = static_cast<lockstep::Kind>(random_.Below(12));
      } else {
        message.kind =
            draw < 8 ? lockstep::Kind::kInput : lockstep::Kind::kHash;
      }
      message.mode = static_cast<std::uint8_t>(random_.Below(256));
      // Now and then the same frame again.
      if (draw != 2) ++seat.frame;
      message.frame = seat.frame;
      message.value = random_.Next();
      seat.end.Send(AsText(lockstep::Encode(message)));
    }
  }

  void SendWrong(const std::string& who, Seat& seat) {
    constexpr std::array<std::size_t, 6> kSizes = {0, 11, 13, 64, 65, 300};
    const std::size_t size = kSizes[random_.Below(kSizes.size())];
    const bool text = random_.Chance(1, 2);
    // Half of the texts are none.
    const char fill = random_.Chance(1, 2) ? 'a' : '\xc3';
    Note(who + " sends " + std::to_string(size) + (text ? " text" : " bytes"));
    seat.end.Send(std::string(size, fill),
                  text ? MessageKind::kText : MessageKind::kBinary);
    // It is not read any more.
    seat.end.Send(AsText(lockstep::Encode({.kind = lockstep::Kind::kInput})));
  }

  void Flood(const std::string& who, Seat& seat) {
    Note(who + " floods");
    for (int i = 0; i < 60; ++i) {
      seat.end.Send(AsText(lockstep::Encode(
          {.kind = lockstep::Kind::kInput, .frame = ++seat.frame})));
    }
  }

  void Close(const std::string& who, Seat& seat) {
    constexpr std::array<CloseCode, 10> kCodes = {1000, 1001, 1003, 1008, 1011,
                                                  1012, 1014, 3000, 4001, 4999};
    const CloseCode code = kCodes[random_.Below(kCodes.size())];
    Note(who + " closes " + std::to_string(code));
    if (random_.Chance(1, 2)) {
      seat.end.Send(AsText(lockstep::Encode(
          {.kind = lockstep::Kind::kInput, .frame = ++seat.frame})));
    }
    seat.end.connection->Close(code, "as I like");
  }

  Random random_;
  std::unique_ptr<ParityRooms> rooms_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::string> trace_;
};

}  // namespace

MakeParityRooms RoomsIn(const MakeParityWorld& make_world) {
  return [make_world](const host::ShardOptions& options, std::uint64_t seed,
                      const ParityLimits& limits) {
    return std::make_unique<ShardRooms>(options, seed, limits, make_world);
  };
}

std::vector<std::string> RunRoomScript(std::uint64_t seed,
                                       const MakeParityRooms& make_rooms) {
  return RoomScript(seed, make_rooms).Run();
}

}  // namespace parlor::test
