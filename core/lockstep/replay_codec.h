// Codec: the events within one chunk of a replay log, as bytes. Each chunk is
// coded on its own, so that reading can begin at any. An event has one form.
#ifndef PARLOR_CORE_LOCKSTEP_REPLAY_CODEC_H_
#define PARLOR_CORE_LOCKSTEP_REPLAY_CODEC_H_

#include <array>
#include <cstdint>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::lockstep::replay {

// Frames of one event, at most: a few bytes cannot make a program run more.
inline constexpr std::uint32_t kRunMax = 1'000;

class Codec {
 public:
  // Before the first event of a chunk, at the chunk's tick.
  void Begin(std::uint32_t tick, int players) {
    *this = Codec();
    tick_ = tick;
    players_ = players;
  }
  // Once the match has begun: how many inputs a frame has.
  void SetPlayers(int players) { players_ = players; }

  // `tick` is not below the last event's. Anything but an INPUT or HASH.
  void Encode(std::uint32_t tick, const ReplayEvent& event,
              std::vector<std::byte>& out);
  void EncodeMessage(std::uint32_t tick, const Message& message,
                     std::vector<std::byte>& out);

  // The next event. Null, or what is wrong with it. Of a kFrames, `frame` is
  // the caller's to know.
  const char* Decode(ByteReader& reader, ReplayEvent& event);
  std::uint32_t tick() const { return tick_; }

 private:
  struct Seat {
    std::uint64_t next = 0;  // the frame after its last INPUT in this chunk
    std::uint32_t word = 0;
    bool known = false;
  };

  void Head(unsigned op, unsigned low, std::uint32_t tick, ByteWriter& writer);
  void EncodeFrames(const ReplayEvent& event, ByteWriter& writer);
  const char* DecodeInput(unsigned op, ByteReader& reader, ReplayEvent& event);
  const char* DecodeFrames(ByteReader& reader, ReplayEvent& event);
  const char* DecodeSeat(ByteReader& reader, ReplayEvent& event);
  const char* DecodeRoom(unsigned sub, ByteReader& reader, ReplayEvent& event);

  std::uint32_t tick_ = 0;
  int players_ = 0;
  std::array<Seat, kReplaySeatsMax> seats_;
  // Of the last kFrames.
  std::array<std::uint32_t, kReplaySeatsMax> inputs_{};
  std::uint32_t bots_ = 0;
  bool run_open_ = false;  // the event before was one that could have gone on
};

}  // namespace parlor::lockstep::replay

#endif  // PARLOR_CORE_LOCKSTEP_REPLAY_CODEC_H_
