#include "parlor/close_reason.h"

#include <array>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/utf8.h"

namespace parlor {
namespace {

// In the order of the enum, so that a reason indexes its row.
constexpr std::array<CloseReasonRow, 19> kRows = {{
    {CloseReason::kNormal, close_code::kNormal, "", "normal"},
    {CloseReason::kHostLeft, close_code::kGoingAway, "host left", "host_left"},
    {CloseReason::kRoomNotFilled, close_code::kGoingAway, "room not filled",
     "room_not_filled"},
    {CloseReason::kRoomIdle, close_code::kGoingAway, "room idle", "room_idle"},
    {CloseReason::kRoomTimeUp, close_code::kGoingAway, "room time is up",
     "room_time_up"},
    {CloseReason::kProtocolError, close_code::kProtocolError, "protocol error",
     "protocol_error"},
    {CloseReason::kUnsupported, close_code::kUnsupported, "unsupported message",
     "unsupported"},
    {CloseReason::kInvalidText, close_code::kInvalidText, "text is not UTF-8",
     "invalid_text"},
    {CloseReason::kMessageRate, close_code::kPolicy, "message rate",
     "message_rate"},
    {CloseReason::kMessageSize, close_code::kTooBig, "message size",
     "message_size"},
    {CloseReason::kTooSlow, close_code::kInternal, "too slow", "too_slow"},
    {CloseReason::kRestart, close_code::kRestart, "restart", "restart"},
    {CloseReason::kRoomFull, close_code::kRoomFull, "room full", "room_full"},
    {CloseReason::kResumed, close_code::kResumed, "resumed", "resumed"},
    {CloseReason::kSeatGone, close_code::kSeatGone, "seat gone", "seat_gone"},
    {CloseReason::kKicked, close_code::kPolicy, "kicked", "kicked"},
    {CloseReason::kRefused, close_code::kPolicy, "refused", "refused"},
    {CloseReason::kRoomEnded, close_code::kRoomEnded, "room ended",
     "room_ended"},
    {CloseReason::kPutOut, close_code::kPutOut, "put out", "put_out"},
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

bool IsSendableClose(CloseCode code, std::string_view text) {
  return IsSendableCloseCode(code) && text.size() <= kCloseTextMax &&
         IsUtf8(AsBytes(text));
}

}  // namespace parlor
