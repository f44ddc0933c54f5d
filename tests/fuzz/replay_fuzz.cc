// Any bytes as a replay file, as they are and with right checksums. What is
// accepted has one encoding: written again, it is the same file. And any inputs
// may be played.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/check.h"
#include "replay_file.h"
#include "replay_player.h"
#include "solo/replay_seal.h"

namespace parlor::solo {
namespace {

constexpr std::uint32_t kFramesMax = 100;  // that are played: keeps runs fast

void WriteAgain(ReplayReader& reader, std::span<const std::byte> bytes) {
  ReplayEncoder encoder(reader.header());
  const auto seats = static_cast<std::size_t>(reader.header().seats);
  std::uint64_t hash = reader.header().start_hash;
  std::uint32_t frames = 0;
  ReplayFrame frame;
  while (reader.Next(frame)) {
    PARLOR_CHECK(frame.frame == frames++);
    encoder.Add(std::span(frame.inputs).first(seats), frame.bots);
    if (!frame.hash) continue;
    hash = *frame.hash;
    encoder.CloseBlock(hash);
  }
  PARLOR_CHECK(frames == reader.frames());
  if (!reader.torn_at()) encoder.Finish(hash);
  const std::span<const std::byte> again = encoder.TakeBytes();
  PARLOR_CHECK(again.size() == reader.torn_at().value_or(bytes.size()));
  PARLOR_CHECK(std::equal(again.begin(), again.end(), bytes.begin()));
}

void Try(const std::vector<std::byte>& bytes, bool partial) {
  absl::StatusOr<ReplayReader> reader = ReplayReader::Open(bytes, partial);
  if (!reader.ok()) {
    PARLOR_CHECK(!reader.status().message().empty());
    return;
  }
  WriteAgain(*reader, bytes);
  absl::StatusOr<ReplayPlayer> player = ReplayPlayer::FromBytes(bytes, partial);
  while (player.ok() && player->frame() < kFramesMax) {
    const absl::StatusOr<bool> ran = player->Step();
    if (!ran.ok() || !*ran) break;
  }
}

}  // namespace
}  // namespace parlor::solo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> bytes(input.begin(), input.end());
  for (const bool partial : {false, true}) {
    parlor::solo::Try(bytes, partial);
    parlor::solo::Try(parlor::solo::Resealed(bytes), partial);
  }
  return 0;
}
