#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cycles/game.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"
#include "replay/diff.h"
#include "replay/recording.h"
#include "replay_player.h"
#include "storage/replay_file.h"

namespace parlor::replay_program {
namespace {

absl::StatusOr<lockstep::DesyncDump> ParseDump(const File& file) {
  absl::StatusOr<lockstep::DesyncDump> dump =
      lockstep::ParseDesyncDump(file.bytes);
  if (dump.ok()) return dump;
  return absl::Status(dump.status().code(),
                      absl::StrCat(file.path, ": ", dump.status().message()));
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

bool IsDump(const File& file) { return host::BeginsAsDump(file.bytes); }

Outcome DiffDumps(const std::vector<File>& files) {
  std::vector<lockstep::DesyncDump> dumps;
  for (const File& file : files) {
    absl::StatusOr<lockstep::DesyncDump> dump = ParseDump(file);
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
