// The words of text frames, each in one table that reading and writing share.
#ifndef PARLOR_CORE_AUTHORITY_FRAME_WORDS_H_
#define PARLOR_CORE_AUTHORITY_FRAME_WORDS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "parlor/authority/frames.h"
#include "parlor/check.h"

namespace parlor::authority {

template <typename Enum>
struct WordRow {
  Enum value;
  std::string_view word;
};

// Every code but kOther.
inline constexpr auto kErrorWords = std::to_array<WordRow<ErrorCode>>({
    {ErrorCode::kProtocol, "protocol"},
    {ErrorCode::kName, "name"},
    {ErrorCode::kFull, "full"},
    {ErrorCode::kLocked, "locked"},
    {ErrorCode::kBanned, "banned"},
    {ErrorCode::kRefused, "refused"},
    {ErrorCode::kResumeRefused, "resume_refused"},
    {ErrorCode::kBudget, "budget"},
    {ErrorCode::kRate, "rate"},
    {ErrorCode::kPayload, "payload"},
    {ErrorCode::kQuota, "quota"},
    {ErrorCode::kNotLeader, "not_leader"},
    {ErrorCode::kBanNeedsIdentity, "ban_needs_identity"},
    {ErrorCode::kBanListFull, "ban_list_full"},
    {ErrorCode::kEnded, "ended"},
});

inline constexpr auto kPingWords = std::to_array<WordRow<PingKind>>({
    {PingKind::kHere, "here"},
    {PingKind::kHelp, "help"},
    {PingKind::kBall, "ball"},
});

inline constexpr auto kModWords = std::to_array<WordRow<ModAction>>({
    {ModAction::kLock, "lock"},
    {ModAction::kUnlock, "unlock"},
    {ModAction::kKick, "kick"},
    {ModAction::kBan, "ban"},
});

inline constexpr auto kEventWords = std::to_array<WordRow<TickEvent::Kind>>({
    {TickEvent::Kind::kCamera, "camera"},
    {TickEvent::Kind::kHud, "hud"},
});

// `value` is in the table.
template <typename Table, typename Enum>
std::string_view WordOf(const Table& table, Enum value) {
  for (const auto& row : table) {
    if (row.value == value) return row.word;
  }
  PARLOR_CHECK(false);
  return {};
}

template <typename Enum, std::size_t kCount>
std::optional<Enum> ValueOf(const std::array<WordRow<Enum>, kCount>& table,
                            std::string_view word) {
  for (const auto& row : table) {
    if (row.word == word) return row.value;
  }
  return std::nullopt;
}

// Whether a mod frame is about one player, whom it names.
constexpr bool NeedsTarget(ModAction action) {
  return action == ModAction::kKick || action == ModAction::kBan;
}

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_FRAME_WORDS_H_
