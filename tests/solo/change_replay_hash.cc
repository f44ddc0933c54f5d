// change_replay_hash FILE FRAME: makes the hash that was recorded of the state
// before that frame a wrong one, in a good replay of a match that went
// otherwise. The recording is a peer's; its keyframes are left out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"
#include "storage/replay_file.h"
#include "support/replay_bytes.h"

namespace parlor::lockstep {
namespace {

// Writes `log` again. False: there was no such hash.
bool Change(ReplayLogReader& log, std::uint32_t frame, ReplayLogWriter& out) {
  bool found = false;
  ReplayEvent event;
  while (log.Next(event)) {
    const TimePoint at = TimePoint{} + event.at;
    const auto players =
        static_cast<std::size_t>(log.match() ? log.match()->players : 0);
    if (event.kind == ReplayKind::kHash) {
      const bool here = event.frame == frame;
      out.AddHash(at, event.value ^ (here ? 1 : 0));
      found = found || here;
    } else if (event.kind == ReplayKind::kFrames) {
      for (std::uint32_t i = 0; i < event.count; ++i) {
        out.AddFrame(at, std::span(event.inputs).first(players), event.bots);
      }
    } else {
      out.Add(at, event);
    }
  }
  out.Finish();
  return found;
}

absl::Status Run(const std::string& path, std::uint32_t frame) {
  const absl::StatusOr<std::vector<std::byte>> bytes =
      host::ReadReplayBytes(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(*bytes);
  if (!log.ok()) return log.status();
  test::MemoryReplaySink sink;
  ReplayLogWriter writer(sink, log->header(), TimePoint{});
  if (!Change(*log, frame, writer)) return absl::NotFoundError("no such hash");
  std::filesystem::remove(path);
  auto file = host::ReplayFile::Create(path);
  return file.ok() ? (*file)->Write(sink.bytes) : file.status();
}

}  // namespace
}  // namespace parlor::lockstep

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = parlor::lockstep::Run(
      argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(parlor::StatusText(status)).c_str());
  return 1;
}
