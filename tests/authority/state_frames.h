// State messages of a whole table, written straight by a codec's calls: what
// SnapshotEncoder has to write for a viewer who sees every row.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_FRAMES_H_
#define PARLOR_TESTS_AUTHORITY_STATE_FRAMES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"

namespace parlor::authority {

// What `header` names of `table` as it is now: every row, or (a delta) those
// that differ from its baseline, with the receiver's body at the end.
inline std::vector<std::byte> WriteState(const WireStateCodec& codec,
                                         const StateHeader& header,
                                         const RowTable& table,
                                         const OwnWords* own = nullptr) {
  const bool delta = header.kind == StateKind::kDelta;
  StateDraft draft;
  codec.Begin(header, draft);
  for (std::size_t at = 0; at < table.page_count(); ++at) {
    const PageBits bits = table.page(at);
    const std::uint64_t whole = delta ? bits.live & ~bits.base : bits.live;
    const std::uint64_t changed = delta ? bits.changed : 0;
    const std::uint64_t gone = delta ? bits.base & ~bits.live : 0;
    std::vector<std::byte> pieces;
    unsigned count = 0;
    for (std::uint64_t rest = whole | changed; rest != 0; rest &= rest - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(rest));
      const RowView row = table.RowAt(at, index);
      if ((whole >> index & 1) != 0) {
        codec.AppendWhole(row, pieces);
      } else {
        codec.AppendChanged(row, table.BaseAt(at, index), pieces);
      }
      ++count;
    }
    if (count == 0 && gone == 0) continue;
    const std::span<const std::byte> run(pieces);
    codec.AddPage({bits.page, std::span(&run, 1), count, gone}, draft);
  }
  codec.EndRows(draft);
  if (delta) codec.AppendOwn(own, draft.bytes);
  return draft.bytes;
}

inline std::vector<std::byte> WriteBaseline(const WireStateCodec& codec,
                                            const RowTable& table,
                                            std::uint32_t tick) {
  return WriteState(
      codec, {StateKind::kBaseline, table.epoch(), table.base(), tick}, table);
}

inline std::vector<std::byte> WriteDelta(const WireStateCodec& codec,
                                         const RowTable& table,
                                         std::uint32_t tick,
                                         const OwnWords* own = nullptr) {
  return WriteState(codec,
                    {StateKind::kDelta, table.epoch(), table.base(), tick},
                    table, own);
}

inline std::vector<std::byte> WriteRecovery(const WireStateCodec& codec,
                                            const RowTable& table,
                                            std::uint32_t tick) {
  return WriteState(codec, {StateKind::kRecovery, table.epoch(), 0, tick},
                    table);
}

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_FRAMES_H_
