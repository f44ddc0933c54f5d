// WireStateCodec: how state messages are written and read. Two are ours, binary
// and JSON (WIRE.md); join lists those that a client reads, welcome names the
// one that is used. Both say the same: a message of one, decoded, is that of
// the other.
//
// Writing, which SnapshotEncoder does: each row that has changed is written
// once a tick into a piece, which depends on nothing beside it; a viewer's
// message is a header and copies of pieces, in runs as long as they come:
//
//   Begin(header, draft)
//   AddPage(pieces, draft)   for each page that has any, by rising number
//   EndRows(draft)           same for all who see the same rows
//   AppendOwn(own, bytes)    a delta's end: the receiver's own body, or none
//
// Reading, which StateReceiver does: Decode checks all of a message and fills a
// StateEdits; nothing has changed then. RowTable::Apply does what it says.
//
// Codecs have no state: one object serves every room and thread.
#ifndef PARLOR_AUTHORITY_WIRE_STATE_CODEC_H_
#define PARLOR_AUTHORITY_WIRE_STATE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/values.h"
#include "parlor/lane.h"

namespace parlor::authority {

// A message being written.
struct StateDraft {
  StateHeader header;
  std::vector<std::byte> bytes;
  // The codec's own: what comes after the rows, and the number that the next
  // page is written relative to.
  std::vector<std::byte> later;
  std::uint32_t next_page = 0;
};

// What a message says of one page.
struct PagePieces {
  std::uint32_t page = 0;
  // Pieces by rising index, one or more in a run, `count` in all.
  std::span<const std::span<const std::byte>> runs;
  unsigned count = 0;
  // A bit a row that is gone. 1 to 64 with `count`, no row in both.
  std::uint64_t gone = 0;
};

enum class DecodeResult : std::uint8_t {
  kDecoded,    // `edits` is complete and may be applied to the table
  kOther,      // a delta for another epoch or baseline than the table's; only
               // edits.header() is filled, and the rest was not looked at
  kMalformed,  // no encoder of ours wrote it
};

class WireStateCodec {
 public:
  WireStateCodec() = default;
  WireStateCodec(const WireStateCodec&) = delete;
  WireStateCodec& operator=(const WireStateCodec&) = delete;
  virtual ~WireStateCodec() = default;

  // "binary" or "json", as in join and welcome.
  virtual std::string_view name() const = 0;
  virtual MessageKind message_kind() const = 0;

  // Appends a row's piece to `out`. Whole: kind and every field that is not a
  // new row's (row.NotDefault()); `row` is of now, or of the baseline for a
  // baseline that is sent later than it was taken.
  virtual void AppendWhole(const RowView& row,
                           std::vector<std::byte>& out) const = 0;
  // The fields of now.changed(), of which there is one at least.
  virtual void AppendChanged(const RowView& now, const RowView& base,
                             std::vector<std::byte>& out) const = 0;

  // Empties the draft, keeping its memory, and begins it anew.
  virtual void Begin(const StateHeader& header, StateDraft& draft) const = 0;
  // Pieces of a page, from AppendWhole (any kind of message) and AppendChanged
  // (a delta alone, as is `gone`).
  virtual void AddPage(const PagePieces& pieces, StateDraft& draft) const = 0;
  // The message is complete, but for AppendOwn if it is a delta.
  virtual void EndRows(StateDraft& draft) const = 0;
  // Ends a delta: the receiver's own body, or null for a receiver without one.
  // `out` has a copy of what EndRows left.
  virtual void AppendOwn(const OwnWords* own,
                         std::vector<std::byte>& out) const = 0;

  // Reads a message for `table`. Bytes are hostile: what is malformed is
  // refused whole, and memory grows with the message's size at most.
  //
  // `edits` may be applied to `table` or, a recovery, to another table of the
  // same schema. Who takes a message's tick for too old drops the edits.
  virtual DecodeResult Decode(std::span<const std::byte> bytes,
                              const RowTable& table,
                              StateEdits& edits) const = 0;

  // The most bytes a whole row of this kind takes in a message, its part of
  // the page included; and what a message has beside its rows.
  virtual std::size_t WholeBytesMax(const KindLayout& kind) const = 0;
  virtual std::size_t BaselineOverheadMax() const = 0;
};

// They live for ever.
const WireStateCodec& BinaryStateCodec();
const WireStateCodec& JsonStateCodec();

// The most bytes that a baseline of this schema takes, every kind at its
// rows_max and every value at its longest. A room checks it against
// limits::kBaselineBytes as configured, for each codec it offers.
std::size_t BaselineBytesMax(const Schema& schema, const WireStateCodec& codec);

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_WIRE_STATE_CODEC_H_
