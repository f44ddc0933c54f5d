#include "lockstep/replay_layout.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "lockstep/room_state_bytes.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/status.h"

namespace parlor::lockstep::replay {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'P', 'A', 'R', 'L',
                                                'R', 'E', 'P', 0x1a};
constexpr std::uint32_t kNoRoom = 0xffffffff;
constexpr std::int64_t kOptionMax = 0xffffffff;
constexpr std::int64_t kDelayMax = limits::kDelay.ceiling;

constexpr std::array<std::uint32_t, 256> MakeSumTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320u : 0u);
    }
    table[i] = sum;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kSumTable = MakeSumTable();

std::uint32_t SumOn(std::uint32_t sum, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    sum = kSumTable[(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xff] ^
          (sum >> 8);
  }
  return sum;
}

std::array<std::int64_t ReplayHeader::*, 6> Options() {
  return {&ReplayHeader::hold_ms,
          &ReplayHeader::lobby_ms,
          &ReplayHeader::idle_ms,
          &ReplayHeader::lifetime_ms,
          &ReplayHeader::message_rate_per_s,
          &ReplayHeader::message_burst};
}

bool IsPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::uint32_t Sum(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::array<std::byte, 8> place;
  StoreU32(&place[0], static_cast<std::uint32_t>(offset));
  StoreU32(&place[4], static_cast<std::uint32_t>(offset >> 32));
  return ~SumOn(SumOn(0xffffffff, place), bytes);
}

absl::Status DamagedAt(std::uint64_t offset, std::string_view what) {
  return InvalidArgument("byte " + std::to_string(offset) + ": " +
                         std::string(what));
}

void AppendHeader(const ReplayHeader& header, std::vector<std::byte>& out) {
  ByteWriter writer(out);
  writer.Bytes(std::as_bytes(std::span(kMagic)));
  writer.U16(kReplayVersion);
  writer.U8(static_cast<std::uint8_t>(header.source));
  writer.U8(static_cast<std::uint8_t>(header.size));
  writer.U8(static_cast<std::uint8_t>(header.recorded_by));
  writer.U8(static_cast<std::uint8_t>(header.game.delay));
  writer.U16(0);
  writer.U32(header.seed);
  writer.U32(header.game.rules_version);
  writer.U32(header.room.value_or(kNoRoom));
  writer.U64(static_cast<std::uint64_t>(header.started_unix_ms));
  for (const auto option : Options()) {
    writer.U32(static_cast<std::uint32_t>(header.*option));
  }
  writer.U8(static_cast<std::uint8_t>(header.game.name.size()));
  PARLOR_CHECK(out.size() == kFixedBytes);
  writer.Bytes(AsBytes(header.game.name));
  writer.U32(Sum(0, out));
}

absl::StatusOr<std::size_t> ParseHeader(std::span<const std::byte> bytes,
                                        ReplayHeader& header) {
  // The magic and the version first: another program's file and another
  // version's deserve a better word than "checksum".
  const std::size_t known = std::min(bytes.size(), kMagic.size());
  const auto magic = std::as_bytes(std::span(kMagic)).first(known);
  if (known == 0 || !std::equal(magic.begin(), magic.end(), bytes.begin())) {
    return DamagedAt(0, "not a parlor replay");
  }
  ByteReader reader(bytes.subspan(known));
  const std::uint16_t version = reader.U16();
  if (reader.ok() && version != kReplayVersion) {
    return DamagedAt(
        8, absl::StrCat("format version ", version,
                        ", this program reads version ", kReplayVersion));
  }
  header.source = static_cast<ReplaySource>(reader.U8());
  header.size = reader.U8();
  header.recorded_by = reader.U8();
  header.game.delay = reader.U8();
  const std::uint16_t zero = reader.U16();
  header.seed = reader.U32();
  header.game.rules_version = reader.U32();
  const std::uint32_t room = reader.U32();
  header.room = room == kNoRoom ? std::nullopt : std::optional(room);
  header.started_unix_ms = static_cast<std::int64_t>(reader.U64());
  for (const auto option : Options()) header.*option = reader.U32();
  header.game.name = AsText(reader.Bytes(reader.U8()));
  const std::size_t summed = bytes.size() - reader.remaining();
  const std::uint32_t sum = reader.U32();
  if (!reader.ok()) {
    return DamagedAt(bytes.size(), "the file ends inside its header");
  }
  if (sum != Sum(0, bytes.first(summed))) {
    return DamagedAt(summed, "the header does not match its checksum");
  }
  if (zero != 0) return DamagedAt(14, "reserved bytes are not zero");
  if (absl::Status s = ReplayLogWriter::Check(header); !s.ok()) return s;
  return summed + kSumBytes;
}

void AppendChunk(std::uint64_t offset, const ChunkHead& head,
                 std::span<const std::byte> payload,
                 std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.U8(static_cast<std::uint8_t>(head.type));
  writer.U32(static_cast<std::uint32_t>(payload.size()));
  writer.U32(head.tick);
  writer.U32(head.frame);
  writer.Bytes(payload);
  writer.U32(Sum(offset, std::span(out).subspan(begin)));
}

ChunkHead LoadChunkHead(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  ChunkHead head;
  head.type = static_cast<ChunkType>(reader.U8());
  head.size = reader.U32();
  head.tick = reader.U32();
  head.frame = reader.U32();
  PARLOR_CHECK(reader.ok());
  return head;
}

void AppendKept(const ReplayHeader& header, const ReplayKept& kept,
                std::vector<std::byte>& out) {
  AppendHead({.opened_for = header.size,
              .seed = header.seed,
              .mode = kept.mode,
              .age_ms = kept.age_ms,
              .seats = {}},
             static_cast<int>(kept.seats.size()), out);
  std::uint32_t number = 0;
  for (const ReplaySeat& seat : kept.seats) {
    ++number;
    AppendSeat({.token = seat.left ? 0 : number,
                .last_input = seat.last_input,
                .last_hash = seat.last_hash,
                .inputs = {}},
               seat.inputs.size(), out);
    for (const MessageBytes& input : seat.inputs) {
      ByteWriter(out).Bytes(input);
    }
  }
}

absl::StatusOr<ReplayKept> ParseKept(std::span<const std::byte> bytes,
                                     const ReplayHeader& header) {
  absl::StatusOr<RoomState> state = ParseRoomState(bytes);
  if (!state.ok()) return state.status();
  if (state->opened_for != header.size || state->seed != header.seed) {
    return InvalidArgument("room state: not of the header's room");
  }
  ReplayKept kept{.mode = state->mode, .age_ms = state->age_ms, .seats = {}};
  std::uint32_t number = 0;
  for (SeatState& seat : state->seats) {
    ++number;
    if (seat.token != 0 && seat.token != number) {
      return InvalidArgument(
          absl::StrCat("room state: seat ", number - 1, ": not its number"));
    }
    kept.seats.push_back({.left = seat.token == 0,
                          .last_input = seat.last_input,
                          .last_hash = seat.last_hash,
                          .inputs = std::move(seat.inputs)});
  }
  return kept;
}

}  // namespace parlor::lockstep::replay

namespace parlor::lockstep {

absl::Status ReplayLogWriter::Check(const ReplayHeader& header) {
  using replay::DamagedAt;
  using replay::kDelayMax;
  if (header.source != ReplaySource::kRoom &&
      header.source != ReplaySource::kPeer) {
    return DamagedAt(
        10, absl::StrCat("recorded by source ", static_cast<int>(header.source),
                         ", neither a room nor a peer"));
  }
  if (header.size < 1 || header.size > kReplaySeatsMax) {
    return DamagedAt(11, absl::StrCat("a room for ", header.size,
                                      " seats, not 1 to ", kReplaySeatsMax));
  }
  const int seats = header.source == ReplaySource::kPeer ? header.size : 1;
  if (header.recorded_by < 0 || header.recorded_by >= seats) {
    return DamagedAt(12, absl::StrCat("recorded by seat ", header.recorded_by,
                                      ", which there is not"));
  }
  if (header.game.delay < 0 || header.game.delay > kDelayMax) {
    return DamagedAt(13, absl::StrCat("delay ", header.game.delay,
                                      ", not 0 to ", kDelayMax));
  }
  if (header.room == replay::kNoRoom) return DamagedAt(24, "no room's number");
  if (header.started_unix_ms < 0) return DamagedAt(28, "a time before 1970");
  for (const auto option : replay::Options()) {
    if (header.*option < 0 || header.*option > replay::kOptionMax) {
      return DamagedAt(36, "an option that no room has");
    }
  }
  if (header.game.name.size() > kReplayGameNameMax ||
      !replay::IsPrintable(header.game.name)) {
    return DamagedAt(60,
                     "the game's name is not up to 64 printable characters");
  }
  return absl::OkStatus();
}

}  // namespace parlor::lockstep
