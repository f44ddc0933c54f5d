#include "parlor/close_reason.h"

#include <array>

#include "parlor/check.h"

namespace parlor {
namespace {

// In the order of the enum, so that a reason indexes its row.
constexpr std::array<CloseReasonRow, 16> kRows = {{
    {CloseReason::kNormal, 1000, "", "normal"},
    {CloseReason::kHostLeft, 1001, "host left", "host_left"},
    {CloseReason::kRoomNotFilled, 1001, "room not filled", "room_not_filled"},
    {CloseReason::kRoomIdle, 1001, "room idle", "room_idle"},
    {CloseReason::kRoomTimeUp, 1001, "room time is up", "room_time_up"},
    {CloseReason::kProtocolError, 1002, "protocol error", "protocol_error"},
    {CloseReason::kUnsupported, 1003, "unsupported message", "unsupported"},
    {CloseReason::kInvalidText, 1007, "text is not UTF-8", "invalid_text"},
    {CloseReason::kMessageRate, 1008, "message rate", "message_rate"},
    {CloseReason::kMessageSize, 1009, "message size", "message_size"},
    {CloseReason::kTooSlow, 1011, "too slow", "too_slow"},
    {CloseReason::kRestart, 1012, "restart", "restart"},
    {CloseReason::kRoomFull, 4000, "room full", "room_full"},
    {CloseReason::kResumed, 4001, "resumed", "resumed"},
    {CloseReason::kSeatGone, 4002, "seat gone", "seat_gone"},
    {CloseReason::kKicked, 1008, "kicked", "kicked"},
}};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].reason) != i) return false;
    if (kRows[i].text.size() > kCloseTextMax) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

const CloseReasonRow& Describe(CloseReason reason) {
  const auto index = static_cast<std::size_t>(reason);
  PARLOR_CHECK(index < kRows.size());
  return kRows[index];
}

bool IsSendableCloseCode(CloseCode code) {
  if (code >= 3000) return code <= 4999;
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

}  // namespace parlor
