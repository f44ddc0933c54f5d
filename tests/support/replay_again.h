// A replay log written again from what was read of it, chunk by chunk. Every
// recording has one form: it must come out as it was.
#ifndef PARLOR_TESTS_SUPPORT_REPLAY_AGAIN_H_
#define PARLOR_TESTS_SUPPORT_REPLAY_AGAIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/replay_codec.h"
#include "lockstep/replay_layout.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lockstep/replay_log.h"
#include "support/replay_bytes.h"

namespace parlor::test {

// Of a chunk of events, where `players` are in the match when it begins, 0
// before it.
inline std::vector<std::byte> EventsAgain(std::span<const std::byte> payload,
                                          std::uint32_t tick, int& players) {
  namespace replay = lockstep::replay;
  replay::Codec from;
  replay::Codec to;
  from.Begin(tick, players);
  to.Begin(tick, players);
  ByteReader reader(payload);
  std::vector<std::byte> again;
  lockstep::ReplayEvent event;
  while (reader.remaining() > 0) {
    PARLOR_CHECK(from.Decode(reader, event) == nullptr);
    const bool hash = event.kind == lockstep::ReplayKind::kHash;
    if (hash || event.kind == lockstep::ReplayKind::kInput) {
      to.EncodeMessage(
          from.tick(),
          {.kind = hash ? lockstep::Kind::kHash : lockstep::Kind::kInput,
           .slot = static_cast<std::uint8_t>(event.seat),
           .players = event.byte2,
           .mode = event.byte3,
           .frame = event.frame,
           .value = event.value},
          again);
    } else {
      to.Encode(from.tick(), event, again);
    }
    if (event.kind != lockstep::ReplayKind::kBegin) continue;
    players = event.players;
    from.SetPlayers(players);
    to.SetPlayers(players);
  }
  return again;
}

// `bytes` is what `log` was opened with; up to where it is torn.
inline std::vector<std::byte> WrittenAgain(const lockstep::ReplayLogReader& log,
                                           std::span<const std::byte> bytes) {
  namespace replay = lockstep::replay;
  bytes = bytes.first(log.torn_at().value_or(bytes.size()));
  std::vector<std::byte> again;
  replay::AppendHeader(log.header(), again);
  int players = log.kept() ? log.match()->players : 0;
  while (again.size() < bytes.size()) {
    const std::size_t at = again.size();
    const replay::ChunkHead head = replay::LoadChunkHead(bytes.subspan(at));
    const auto payload = bytes.subspan(at + kReplayChunkHead, head.size);
    std::vector<std::byte> own(payload.begin(), payload.end());
    if (head.type == replay::ChunkType::kEvents) {
      own = EventsAgain(payload, head.tick, players);
    } else if (head.type == replay::ChunkType::kKept) {
      own.clear();
      replay::AppendKept(log.header(), *log.kept(), own);
    } else if (head.type == replay::ChunkType::kEnd) {
      own.clear();
      ByteWriter(own).VarUint(log.events());
    }
    replay::AppendChunk(at, head, own, again);
  }
  return again;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_REPLAY_AGAIN_H_
