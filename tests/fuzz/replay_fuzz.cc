// Any bytes as a replay log, as they are and with right checksums. What is
// accepted has one form: written again, it is the same file. Every event of it
// can be read, sought and made frames of.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/check.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "support/replay_again.h"
#include "support/replay_bytes.h"

namespace parlor::lockstep {
namespace {

constexpr std::uint32_t kFramesMax = 1'000;  // that are read: keeps runs fast

void ReadAll(ReplayLogReader& log) {
  ReplayEvent event;
  std::uint64_t events = 0;
  Duration last{};
  while (log.Next(event)) {
    PARLOR_CHECK(event.at >= last && event.at <= log.length());
    last = event.at;
    ++events;
  }
  PARLOR_CHECK(events == log.events() && last == log.length());
  // From the middle on, there is what is left.
  log.SeekTime(last / 2);
  PARLOR_CHECK(log.Next(event) == (events > 0));
  PARLOR_CHECK(events == 0 || event.at >= last / 2);
  log.SeekFrame(log.FrameAt(last / 2));
  PARLOR_CHECK(log.Next(event) == (events > 0));
  PARLOR_CHECK(log.TimeOf(log.FrameAt(last)) <= last);
  for (const ReplayKeyframe& keyframe : log.keyframes()) {
    PARLOR_CHECK(log.KeyframeFor(keyframe.frame) == &keyframe);
  }
}

void ReadFrames(ReplayLogReader& log) {
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  PARLOR_CHECK(frames.ok() == log.match().has_value());
  if (!frames.ok()) return;
  PARLOR_CHECK(frames->begin() <= frames->end());
  PARLOR_CHECK(!frames->Append(log).ok() || log.kept());
  ReplayFrame frame;
  const std::uint32_t count =
      std::min(frames->end() - frames->begin(), kFramesMax);
  for (std::uint32_t i = 0; i < count; ++i) {
    PARLOR_CHECK(frames->Read(frames->begin() + i, frame));
    const ReplayFrame forward = frame;
    PARLOR_CHECK(frames->Read(frames->end() - 1 - i, frame));
    PARLOR_CHECK(frames->Read(frames->begin() + i, frame));
    PARLOR_CHECK(frame == forward);
  }
  PARLOR_CHECK(!frames->Read(frames->end(), frame));
}

void Try(const std::vector<std::byte>& bytes, bool partial) {
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(bytes, partial);
  if (!log.ok()) {
    PARLOR_CHECK(!log.status().message().empty());
    return;
  }
  PARLOR_CHECK(partial || !log->torn_at());
  const std::vector<std::byte> again = test::WrittenAgain(*log, bytes);
  PARLOR_CHECK(again.size() == log->torn_at().value_or(bytes.size()));
  PARLOR_CHECK(std::equal(again.begin(), again.end(), bytes.begin()));
  ReadAll(*log);
  ReadFrames(*log);
}

}  // namespace
}  // namespace parlor::lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> bytes(input.begin(), input.end());
  for (const bool partial : {false, true}) {
    parlor::lockstep::Try(bytes, partial);
    parlor::lockstep::Try(parlor::test::Resealed(bytes), partial);
  }
  return 0;
}
