// A fuzzer's bytes are a room's state. Whatever they are, nothing may assert;
// those that are taken have one form, fit what is promised, and make a room
// whose players come back and play on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/room_state_run.h"
#include "parlor/check.h"
#include "parlor/lockstep/room_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto state = parlor::lockstep::ParseRoomState(bytes);
  if (!state.ok()) return 0;
  const auto again = parlor::test::SaveAgain(*state);
  PARLOR_CHECK(std::ranges::equal(again, bytes));
  PARLOR_CHECK(size <= parlor::lockstep::StateBytesMax(
                           static_cast<int>(state->seats.size())));
  parlor::test::RunRestored(*state);
  return 0;
}
