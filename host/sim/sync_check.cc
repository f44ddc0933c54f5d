#include "sim/sync_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"
#include "sim/watched_game.h"

namespace parlor::sim {
namespace {

// The first state of those they share that differs, or SharedStates.
std::size_t FirstDifference(const WatchedGame& a, const WatchedGame& b) {
  const auto shared = static_cast<std::ptrdiff_t>(SharedStates(a, b));
  const auto ours = a.hashes();
  return static_cast<std::size_t>(
      std::mismatch(ours.begin(), ours.begin() + shared, b.hashes().begin())
          .first -
      ours.begin());
}

std::string HashText(std::uint32_t hash) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", hash);
  return text;
}

// "client 2 (seat 2)".
std::string MemberText(const SyncMember& member) {
  return member.name + " (seat " + std::to_string(member.game->match()->seat) +
         ")";
}

// Who had which hash of state `at`; those that most had come first.
std::string SidesText(const std::vector<SyncMember>& members, std::size_t at) {
  std::map<std::uint32_t, std::vector<std::string>> by_hash;
  for (const SyncMember& member : members) {
    if (at >= member.game->hashes().size()) continue;
    by_hash[member.game->hashes()[at]].push_back(MemberText(member));
  }
  std::vector<std::pair<std::uint32_t, std::vector<std::string>>> sides(
      by_hash.begin(), by_hash.end());
  std::stable_sort(sides.begin(), sides.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.size() > b.second.size();
                   });
  std::string text;
  for (const auto& [hash, names] : sides) {
    text += text.empty() ? "" : "; ";
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += (i > 0 ? ", " : "") + names[i];
    }
    text += ": " + HashText(hash);
  }
  return text;
}

// A line of who, and one a field; empty where the games do not say theirs.
std::string FieldsText(const std::vector<SyncMember>& members) {
  std::vector<lockstep::DesyncDump> dumps;
  lockstep::FreshGame fresh;
  for (const SyncMember& member : members) {
    if (!member.game->kept()) continue;
    dumps.push_back(member.game->kept()->Dump());
    if (member.fresh) fresh = member.fresh;
  }
  if (dumps.empty()) return "";
  const absl::StatusOr<lockstep::DesyncReport> report =
      lockstep::FindDesync(dumps, fresh);
  if (!report.ok()) return "\n" + std::string(StatusText(report.status()));
  if (report->kind == lockstep::DesyncKind::kNone) {
    return "\nno states are kept of that frame any more: check sooner, or give "
           "ClientOptions::desync more bytes_max";
  }
  return "\n" + lockstep::DesyncText(*report);
}

}  // namespace

absl::Status CheckSync(const std::vector<SyncMember>& members) {
  std::size_t first = SIZE_MAX;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const WatchedGame& a = *members[i].game;
      const WatchedGame& b = *members[j].game;
      const std::size_t at = FirstDifference(a, b);
      if (at < SharedStates(a, b)) first = std::min(first, at);
    }
  }
  if (first == SIZE_MAX) return absl::OkStatus();
  const std::string when =
      first == 0
          ? "the states differ before the first frame: "
          : "the states differ after frame " + std::to_string(first - 1) + ": ";
  return MakeStatus(absl::StatusCode::kInternal,
                    when + SidesText(members, first) + FieldsText(members));
}

}  // namespace parlor::sim
