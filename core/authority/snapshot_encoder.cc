#include "parlor/authority/snapshot_encoder.h"

#include <bit>
#include <utility>

#include "parlor/authority/limits.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

// What AppendOwn adds in either codec, so that a copy is allocated once.
constexpr std::size_t kOwnBytes = 192;

std::uint64_t BitAt(unsigned index) { return std::uint64_t{1} << index; }

unsigned First(std::uint64_t rows) {
  return static_cast<unsigned>(std::countr_zero(rows));
}

// Calls with each index whose bit is set, rising.
template <typename Call>
void ForEachBit(std::uint64_t rows, Call&& call) {
  for (; rows != 0; rows &= rows - 1) call(First(rows));
}

Payload Copied(const WireStateCodec& codec,
               const std::vector<std::byte>& bytes) {
  return {codec.message_kind(), bytes};
}

}  // namespace

// Pieces that were written, one behind the other.
struct SnapshotEncoder::PieceCache {
  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> have;  // by page; a bit a row
  std::vector<Piece> pieces;        // by page and index, where `have` says so

  void Reset(std::size_t pages) {
    bytes.clear();
    have.assign(pages, 0);
    pieces.resize(pages * kPageRows);
  }

  const Piece& At(std::size_t at, unsigned index) const {
    return pieces[at * kPageRows + index];
  }
  std::span<const std::byte> BytesOf(const Piece& piece) const {
    return std::span(bytes).subspan(piece.begin, piece.end - piece.begin);
  }

  // Writes those of `rows` that are not there yet by append(index).
  template <typename Append>
  void Encode(std::size_t at, std::uint64_t rows, Append&& append) {
    ForEachBit(rows & ~have[at], [&](unsigned index) {
      Piece& piece = pieces[at * kPageRows + index];
      piece.begin = static_cast<std::uint32_t>(bytes.size());
      append(index);
      piece.end = static_cast<std::uint32_t>(bytes.size());
    });
    have[at] |= rows;
  }
};

// What was written in one codec.
struct SnapshotEncoder::Stream {
  explicit Stream(const WireStateCodec& its_codec) : codec(its_codec) {}

  const WireStateCodec& codec;
  PieceCache delta;  // of this tick: a changed row's, and a new one's whole
  PieceCache now;    // of this tick, whole
  PieceCache base;   // of this baseline, whole
  StateDraft draft;
  // Of this tick, for all who see every row: a delta up to its own body, and
  // messages.
  std::vector<std::byte> all_delta_rows;
  bool has_all_delta_rows = false;
  std::optional<Payload> all_delta;
  std::optional<Payload> all_recovery;
  std::optional<Payload> all_baseline;  // of this baseline
};

SnapshotEncoder::SnapshotEncoder(RowTable& rows)
    : rows_(rows), viewers_(static_cast<std::size_t>(limits::kSeats.ceiling)) {}

SnapshotEncoder::~SnapshotEncoder() = default;

SnapshotEncoder::Stream& SnapshotEncoder::StreamOf(
    const WireStateCodec& codec) {
  for (const auto& stream : streams_) {
    if (&stream->codec == &codec) return *stream;
  }
  Stream& stream = *streams_.emplace_back(std::make_unique<Stream>(codec));
  ResetTick(stream);
  stream.base.Reset(rows_.page_count());
  return stream;
}

SnapshotEncoder::Viewer& SnapshotEncoder::ViewerAt(int viewer) {
  Viewer& at = viewers_.at(static_cast<std::size_t>(viewer));
  PARLOR_CHECK(at.stream != nullptr);
  return at;
}

void SnapshotEncoder::AddViewer(int viewer, const WireStateCodec& codec,
                                bool has_view) {
  PARLOR_CHECK(viewer >= 0 && viewer < limits::kSeats.ceiling);
  Viewer& at = viewers_[static_cast<std::size_t>(viewer)];
  PARLOR_CHECK(at.stream == nullptr);
  at.stream = &StreamOf(codec);
  at.has_view = has_view;
  at.base = 0;
}

void SnapshotEncoder::RemoveViewer(int viewer) {
  PARLOR_CHECK(viewer >= 0 && viewer < limits::kSeats.ceiling);
  viewers_[static_cast<std::size_t>(viewer)].stream = nullptr;
}

void SnapshotEncoder::ResetTick(Stream& stream) {
  const std::size_t pages = rows_.page_count();
  stream.delta.Reset(pages);
  stream.now.Reset(pages);
  stream.has_all_delta_rows = false;
  stream.all_delta.reset();
  stream.all_recovery.reset();
}

void SnapshotEncoder::BeginTick(std::uint32_t tick, ViewFilter* views) {
  tick_ = tick;
  views_ = views;
  for (const auto& stream : streams_) ResetTick(*stream);
}

void SnapshotEncoder::TakeBaseline() {
  rows_.TakeBaseline();
  base_tick_ = tick_;
  for (const auto& stream : streams_) {
    ResetTick(*stream);
    stream->base.Reset(rows_.page_count());
    stream->all_baseline.reset();
  }
}

bool SnapshotEncoder::HasBaseline(int viewer) const {
  const Viewer& at = viewers_.at(static_cast<std::size_t>(viewer));
  return at.stream != nullptr && at.base != 0 && at.base == rows_.base();
}

std::uint64_t SnapshotEncoder::InView(int viewer, const PageBits& bits) {
  PARLOR_CHECK(views_ != nullptr);
  std::uint64_t seen = 0;
  ForEachBit(bits.live, [&](unsigned index) {
    if (views_->InView(viewer, bits.page * kPageRows + index)) {
      seen |= BitAt(index);
    }
  });
  return seen;
}

StateHeader SnapshotEncoder::Header(StateKind kind) const {
  const bool recovery = kind == StateKind::kRecovery;
  return {kind, rows_.epoch(), recovery ? 0 : rows_.base(),
          kind == StateKind::kBaseline ? base_tick_ : tick_};
}

std::uint64_t SnapshotEncoder::BaseInView(int viewer, std::size_t at) {
  std::vector<std::uint64_t>& base_rows = ViewerAt(viewer).base_rows;
  if (at == base_rows.size()) {
    const PageBits bits = rows_.page(at);
    base_rows.push_back(bits.base & InView(viewer, bits));
  }
  return base_rows[at];
}

// --- Pieces ---

void SnapshotEncoder::EncodeDelta(Stream& stream, std::size_t at,
                                  std::uint64_t rows) {
  const std::uint64_t base = rows_.page(at).base;
  stream.delta.Encode(at, rows, [&](unsigned index) {
    const RowView now = rows_.RowAt(at, index);
    if ((base & BitAt(index)) == 0) {
      stream.codec.AppendWhole(now, stream.delta.bytes);
    } else {
      stream.codec.AppendChanged(now, rows_.BaseAt(at, index),
                                 stream.delta.bytes);
    }
  });
}

void SnapshotEncoder::EncodeNow(Stream& stream, std::size_t at,
                                std::uint64_t rows) {
  stream.now.Encode(at, rows, [&](unsigned index) {
    stream.codec.AppendWhole(rows_.RowAt(at, index), stream.now.bytes);
  });
}

void SnapshotEncoder::EncodeBase(Stream& stream, std::size_t at,
                                 std::uint64_t rows) {
  stream.base.Encode(at, rows, [&](unsigned index) {
    stream.codec.AppendWhole(rows_.BaseAt(at, index), stream.base.bytes);
  });
}

void SnapshotEncoder::CollectRuns(const PieceCache& cache, std::uint64_t rows,
                                  const PieceCache& other, std::uint64_t others,
                                  std::size_t at) {
  runs_.clear();
  ForEachBit(rows | others, [&](unsigned index) {
    const PieceCache& from = (others & BitAt(index)) != 0 ? other : cache;
    const auto bytes = from.BytesOf(from.At(at, index));
    // Copied in one go with the last, if it lies behind it.
    if (!runs_.empty() &&
        runs_.back().data() + runs_.back().size() == bytes.data()) {
      runs_.back() = {runs_.back().data(), runs_.back().size() + bytes.size()};
    } else {
      runs_.push_back(bytes);
    }
  });
}

void SnapshotEncoder::AddPage(Stream& stream, std::uint32_t page,
                              unsigned count, std::uint64_t gone) {
  stream.codec.AddPage({page, runs_, count, gone}, stream.draft);
}

// --- Messages ---

void SnapshotEncoder::WriteAllDelta(Stream& stream) {
  stream.codec.Begin(Header(StateKind::kDelta), stream.draft);
  for (std::size_t at = 0; at < rows_.page_count(); ++at) {
    const PageBits bits = rows_.page(at);
    const std::uint64_t pieces = bits.changed | (bits.live & ~bits.base);
    const std::uint64_t gone = bits.base & ~bits.live;
    if ((pieces | gone) == 0) continue;
    EncodeDelta(stream, at, pieces);
    CollectRuns(stream.delta, pieces, stream.delta, 0, at);
    AddPage(stream, bits.page, static_cast<unsigned>(std::popcount(pieces)),
            gone);
  }
  stream.codec.EndRows(stream.draft);
}

void SnapshotEncoder::WriteViewDelta(int viewer) {
  const Viewer& to = ViewerAt(viewer);
  Stream& stream = *to.stream;
  stream.codec.Begin(Header(StateKind::kDelta), stream.draft);
  for (std::size_t at = 0; at < rows_.page_count(); ++at) {
    const PageBits bits = rows_.page(at);
    // Pages that came after the baseline have none of it.
    const std::uint64_t had = at < to.base_rows.size() ? to.base_rows[at] : 0;
    const std::uint64_t seen = InView(viewer, bits);
    const std::uint64_t gone = had & ~seen;
    const std::uint64_t entered = seen & bits.base & ~had;
    const std::uint64_t pieces =
        seen & ((bits.changed & had) | (bits.live & ~bits.base));
    if ((pieces | entered | gone) == 0) continue;
    EncodeDelta(stream, at, pieces);
    EncodeNow(stream, at, entered);
    CollectRuns(stream.delta, pieces, stream.now, entered, at);
    AddPage(stream, bits.page,
            static_cast<unsigned>(std::popcount(pieces | entered)), gone);
  }
  stream.codec.EndRows(stream.draft);
}

// A baseline or a recovery; of every row if `viewer` is below 0.
void SnapshotEncoder::WriteWhole(Stream& stream, int viewer, StateKind kind) {
  const bool baseline = kind == StateKind::kBaseline;
  const PieceCache& cache = baseline ? stream.base : stream.now;
  stream.codec.Begin(Header(kind), stream.draft);
  for (std::size_t at = 0; at < rows_.page_count(); ++at) {
    const PageBits bits = rows_.page(at);
    std::uint64_t rows = baseline ? bits.base : bits.live;
    if (viewer >= 0) {
      rows = baseline ? BaseInView(viewer, at) : rows & InView(viewer, bits);
    }
    if (rows == 0) continue;
    if (baseline) {
      EncodeBase(stream, at, rows);
    } else {
      EncodeNow(stream, at, rows);
    }
    CollectRuns(cache, rows, cache, 0, at);
    AddPage(stream, bits.page, static_cast<unsigned>(std::popcount(rows)), 0);
  }
  stream.codec.EndRows(stream.draft);
}

Payload SnapshotEncoder::Baseline(int viewer) {
  Viewer& to = ViewerAt(viewer);
  Stream& stream = *to.stream;
  PARLOR_CHECK(rows_.base() != 0);
  if (!HasBaseline(viewer)) to.base_rows.clear();
  to.base = rows_.base();
  if (to.has_view) {
    WriteWhole(stream, viewer, StateKind::kBaseline);
    return Copied(stream.codec, stream.draft.bytes);
  }
  if (!stream.all_baseline) {
    WriteWhole(stream, -1, StateKind::kBaseline);
    stream.all_baseline = Copied(stream.codec, stream.draft.bytes);
  }
  return *stream.all_baseline;
}

Payload SnapshotEncoder::Delta(int viewer, const OwnWords* own) {
  PARLOR_CHECK(HasBaseline(viewer));
  const Viewer& to = ViewerAt(viewer);
  Stream& stream = *to.stream;
  if (to.has_view) {
    WriteViewDelta(viewer);
    stream.codec.AppendOwn(own, stream.draft.bytes);
    return Copied(stream.codec, stream.draft.bytes);
  }
  if (!stream.has_all_delta_rows) {
    WriteAllDelta(stream);
    std::swap(stream.all_delta_rows, stream.draft.bytes);
    stream.has_all_delta_rows = true;
  }
  if (own == nullptr && stream.all_delta) return *stream.all_delta;
  std::vector<std::byte> bytes;
  bytes.reserve(stream.all_delta_rows.size() + kOwnBytes);
  bytes = stream.all_delta_rows;
  stream.codec.AppendOwn(own, bytes);
  Payload payload(stream.codec.message_kind(), std::move(bytes));
  if (own == nullptr) stream.all_delta = payload;
  return payload;
}

Payload SnapshotEncoder::Recovery(int viewer) {
  const Viewer& to = ViewerAt(viewer);
  Stream& stream = *to.stream;
  if (to.has_view) {
    WriteWhole(stream, viewer, StateKind::kRecovery);
    return Copied(stream.codec, stream.draft.bytes);
  }
  if (!stream.all_recovery) {
    WriteWhole(stream, -1, StateKind::kRecovery);
    stream.all_recovery = Copied(stream.codec, stream.draft.bytes);
  }
  return *stream.all_recovery;
}

}  // namespace parlor::authority
