// SnapshotEncoder: the state messages of a room. What a row says at a tick is
// written once for all viewers of a codec; viewers who see every row share one
// Payload, those who have a view of their own or a body of their own get copies
// of the same pieces.
//
// A viewer is a number (its seat). It is given a baseline, then deltas to that
// baseline until the next; which of the two, and when, is the room's to say:
//
//   BeginTick(tick, views)          first, at every tick that sends anything
//   TakeBaseline()                  once a second, and after NewEpoch
//   Baseline(viewer)                reliable lane; to all who can take it now,
//                                   and later to who joins or reads again
//   Delta(viewer, own)              state lane; only to who HasBaseline
//   Recovery(viewer)                state lane; to who lags behind
//
// The rows do not change between BeginTick and the tick's last message. A
// viewer's rows are then the same as the table's in its view, whichever deltas
// were lost.
//
// One thread. Table, codecs and views outlive it. But for the payloads it
// makes, nothing is allocated once there are as many rows and pieces as ever.
#ifndef PARLOR_AUTHORITY_SNAPSHOT_ENCODER_H_
#define PARLOR_AUTHORITY_SNAPSHOT_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/connection.h"

namespace parlor::authority {

// Which rows a viewer sees. It is asked for each row there is, again for each
// of the viewer's messages, and answers the same throughout a tick.
class ViewFilter {
 public:
  // It may read the table, and not change it.
  virtual bool InView(int viewer, RowId row) = 0;

 protected:
  ~ViewFilter() = default;
};

class SnapshotEncoder {
 public:
  explicit SnapshotEncoder(RowTable& rows);

  SnapshotEncoder(const SnapshotEncoder&) = delete;
  SnapshotEncoder& operator=(const SnapshotEncoder&) = delete;
  ~SnapshotEncoder();

  // `viewer` is below limits::kSeats.ceiling and is not one already. It has no
  // baseline. With a view, it sees the rows that ViewFilter says, else all.
  void AddViewer(int viewer, const WireStateCodec& codec, bool has_view);
  // Nothing happens if it is none.
  void RemoveViewer(int viewer);

  // The tick whose state the table has. `views` is asked until the next
  // BeginTick, and may be null if no viewer with a view gets a message.
  void BeginTick(std::uint32_t tick, ViewFilter* views);

  // The table's TakeBaseline, at this tick. From here on no viewer has the
  // baseline until Baseline gave it.
  void TakeBaseline();

  // Whether the viewer's next message may be a delta: Baseline was called for
  // it since the last TakeBaseline, in this epoch.
  bool HasBaseline(int viewer) const;

  // The current baseline, which there is: as it was taken, also when it is sent
  // later; of a view, the rows of it that are seen now. Given once more, it is
  // the same, whatever is seen by then: deltas to it are on their way.
  Payload Baseline(int viewer);
  // What differs from it now. The viewer HasBaseline. `own` is the viewer's own
  // body, or null.
  Payload Delta(int viewer, const OwnWords* own);
  // All rows seen now.
  Payload Recovery(int viewer);

 private:
  struct PieceCache;
  struct Stream;
  struct Viewer {
    Stream* stream = nullptr;  // null: no viewer
    bool has_view = false;
    std::uint32_t base = 0;  // the number of the baseline it has
    // With a view: which rows of the baseline it has, by the place of the page
    // in the table.
    std::vector<std::uint64_t> base_rows;
  };

  Stream& StreamOf(const WireStateCodec& codec);
  Viewer& ViewerAt(int viewer);
  std::uint64_t InView(int viewer, const PageBits& bits);
  // The rows of the baseline that the viewer has, noted when it is first given.
  std::uint64_t BaseInView(int viewer, std::size_t at);
  StateHeader Header(StateKind kind) const;
  void ResetTick(Stream& stream);

  void EncodeDelta(Stream& stream, std::size_t at, std::uint64_t rows);
  void EncodeNow(Stream& stream, std::size_t at, std::uint64_t rows);
  void EncodeBase(Stream& stream, std::size_t at, std::uint64_t rows);
  // Runs of the pieces of these rows, from `cache` or, those of `others`, from
  // `other`.
  void CollectRuns(const PieceCache& cache, std::uint64_t rows,
                   const PieceCache& other, std::uint64_t others,
                   std::size_t at);
  void AddPage(Stream& stream, std::uint32_t page, unsigned count,
               std::uint64_t gone);

  void WriteAllDelta(Stream& stream);
  void WriteViewDelta(int viewer);
  void WriteWhole(Stream& stream, int viewer, StateKind kind);

  RowTable& rows_;
  std::uint32_t tick_ = 0;
  std::uint32_t base_tick_ = 0;
  ViewFilter* views_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;  // one a codec
  std::vector<Viewer> viewers_;
  std::vector<std::span<const std::byte>> runs_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_SNAPSHOT_ENCODER_H_
