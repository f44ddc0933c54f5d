// Every cap of an authority room and its client, with its default and its
// ceiling; CheckLimit (parlor/limits.h) is how each option is taken. What these
// rooms share with the others (message rates, lanes, heartbeats) is in
// parlor::limits, which this namespace hides from within parlor::authority.
// The figures are part of what an authority room promises its players, except
// where a line gives another source.
#ifndef PARLOR_AUTHORITY_LIMITS_H_
#define PARLOR_AUTHORITY_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "parlor/limits.h"

namespace parlor::authority::limits {

// Held seats count. The ceiling is ours: a room is one thread's.
inline constexpr Limit kSeats{"seats", 16, 1, 256};
inline constexpr Limit kTickHz{"tick_hz", 60, 10, 240};
inline constexpr Limit kSnapshotHz{"snapshot_hz", 20, 1, 120};
// How long a dropped seat is held.
inline constexpr Limit kGraceMs{"grace_ms", 15'000, 0, 120'000};
// How long a connection may take to say join, and how many may be at it: as
// long as a request head, and few, since who means it joins at once.
inline constexpr Limit kJoinMs{"join_ms", 10'000, 1, 60'000};
inline constexpr Limit kUnjoined{"unjoined", 64, 1, 1'024};
inline constexpr Limit kInputRate{"input_rate_per_s", 120, 1, 480};
// Inputs a seat that a tick has not taken yet; beyond it they are folded.
inline constexpr Limit kInputsWaiting{"inputs_waiting", 2, 1, 2};

// Rows a room may have at once, all kinds together. What a client holds for a
// server that means it ill is bounded by the ceiling times a page of rows
// (row_table.h), 24 MB.
inline constexpr Limit kRows{"rows", 4'096, 1, 65'536};
// The largest baseline that a room's schema allows. Above the fallback it wants
// a larger message limit of its clients (parlor::limits::kMessageBytes, whose
// default and ceiling these are).
inline constexpr Limit kBaselineBytes{"baseline_bytes_max", 64 * 1024, 64,
                                      1024 * 1024};

}  // namespace parlor::authority::limits

namespace parlor::authority {

// What a schema may be. Ours: a kind is one byte or two on the wire, a row's
// presence mask one word.
inline constexpr std::size_t kKindsMax = 255;
inline constexpr std::size_t kFieldsMax = 64;     // of a kind
inline constexpr std::size_t kNameBytesMax = 32;  // of a kind or a field
inline constexpr std::size_t kStringBytesMax = 256;
// As JSON: all kinds with all fields, and every name at its longest.
inline constexpr std::size_t kSchemaBytesMax = 2 * 1024 * 1024;

// An int field's: what every JSON reader keeps exact (RFC 8259 section 6).
inline constexpr std::int64_t kIntMax = (std::int64_t{1} << 53) - 1;
// A float's, of either sign, and the number it becomes (values.h).
inline constexpr float kFloatMax = 1e9F;
inline constexpr std::int64_t kFloatNumberMax = 10'000'000'000'000;

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_LIMITS_H_
