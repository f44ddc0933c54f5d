#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cycles/game.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"
#include "replay/commands.h"
#include "replay/diff.h"
#include "replay/recording.h"
#include "replay_player.h"
#include "storage/replay_file.h"

namespace parlor::replay_program {
namespace {

constexpr std::string_view kMagic = "PARLORDS";  // core/lockstep/DESYNC.md

absl::StatusOr<lockstep::DesyncDump> LoadDump(const std::string& file) {
  const absl::StatusOr<std::vector<std::byte>> bytes =
      host::ReadReplayBytes(file);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<lockstep::DesyncDump> dump = lockstep::ParseDesyncDump(*bytes);
  if (dump.ok()) return dump;
  return absl::Status(dump.status().code(),
                      absl::StrCat(file, ": ", dump.status().message()));
}

// What can run the frames again: Cycles, where all are dumps of these rules.
lockstep::FreshGame GameOf(const std::vector<lockstep::DesyncDump>& dumps) {
  const bool cycles =
      std::ranges::all_of(dumps, [](const lockstep::DesyncDump& dump) {
        return dump.game == solo::CyclesGame(1).name &&
               dump.schema == lockstep::SchemaOf<cycles::State>();
      });
  if (!cycles) return nullptr;
  return [] { return std::make_unique<cycles::ReplayedGame>(); };
}

}  // namespace

bool IsDump(const std::string& file) {
  const absl::StatusOr<std::vector<std::byte>> bytes =
      host::ReadReplayBytes(file);
  if (!bytes.ok() || bytes->size() < kMagic.size()) return false;
  return std::equal(
      kMagic.begin(), kMagic.end(), bytes->begin(),
      [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
}

Outcome DiffDumps(const std::vector<std::string>& files) {
  std::vector<lockstep::DesyncDump> dumps;
  for (const std::string& file : files) {
    absl::StatusOr<lockstep::DesyncDump> dump = LoadDump(file);
    if (!dump.ok()) return {kRefused, "", ErrorLine(StatusText(dump.status()))};
    dumps.push_back(*std::move(dump));
  }
  const absl::StatusOr<lockstep::DesyncReport> report =
      lockstep::FindDesync(dumps, GameOf(dumps));
  if (!report.ok()) {
    return {kRefused, "", ErrorLine(StatusText(report.status()))};
  }
  const bool same = report->kind == lockstep::DesyncKind::kNone;
  return {same ? kFine : kFinding, lockstep::DesyncText(*report), ""};
}

}  // namespace parlor::replay_program
