// Any bytes as a desync dump, as they are and with the right sum. What is
// accepted comes back the same, and can be looked into: next to itself, next to
// itself without its last frame's hash, and with a game.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parlor/check.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/state_schema.h"
#include "support/desync_seal.h"
#include "support/toy_game.h"

namespace parlor::test {
namespace {

using lockstep::DesyncDump;

void LookInto(const DesyncDump& dump) {
  if (dump.match.players < 2 || dump.frames.empty()) return;
  std::vector<DesyncDump> dumps = {dump, dump};
  dumps[1].match.seat = dump.match.seat == 0 ? 1 : 0;
  const auto same = lockstep::FindDesync(dumps);
  PARLOR_CHECK(same.ok());
  PARLOR_CHECK(same->kind == lockstep::DesyncKind::kNone);
  ++dumps[1].frames.back().hash;
  auto& state = dumps[1].frames.back().state;
  if (state && !state->empty()) state->back() ^= std::byte{1};
  // One that is no state any more is not read.
  if (state && !CheckState(*dump.schema, *state).ok()) return;
  const auto differs =
      lockstep::FindDesync(dumps, [] { return std::make_unique<ToyGame>(); });
  PARLOR_CHECK(differs.ok());
  PARLOR_CHECK(!DesyncText(*differs).empty());
}

void Try(std::span<const std::byte> bytes) {
  const auto dump = lockstep::ParseDesyncDump(bytes);
  if (!dump.ok()) {
    PARLOR_CHECK(!dump.status().message().empty());
    return;
  }
  const auto again =
      lockstep::ParseDesyncDump(lockstep::EncodeDesyncDump(*dump));
  PARLOR_CHECK(again.ok());
  PARLOR_CHECK(again->schema == dump->schema);
  PARLOR_CHECK(again->frames == dump->frames);
  PARLOR_CHECK(again->desync == dump->desync);
  for (const auto& frame : dump->frames) {
    if (frame.state) (void)StateText(*dump->schema, *frame.state);
  }
  LookInto(*dump);
}

}  // namespace
}  // namespace parlor::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  parlor::test::Try(input);
  parlor::test::Try(parlor::test::Resealed(input));
  return 0;
}
