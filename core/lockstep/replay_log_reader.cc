#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lockstep/replay_codec.h"
#include "lockstep/replay_layout.h"
#include "lockstep/replay_track.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

using replay::ChunkHead;
using replay::ChunkType;
using replay::DamagedAt;

// A chunk of events, as the index has it.
struct Chunk {
  std::size_t begin;  // of its payload
  std::size_t size;
  std::uint32_t tick;
  std::uint32_t frame;  // ChunkHead's
  std::uint64_t said;   // Track's, when it begins
  int players;          // 0 before the match
};

// What has been read of the file, chunk by chunk: one is taken as a whole, or
// nothing of it.
struct Progress {
  explicit Progress(const ReplayHeader& header) : track(header) {}

  replay::Track track;
  std::uint64_t events = 0;
  std::uint32_t tick = 0;  // of the last event or keyframe
  std::uint32_t event_tick = 0;
};

// "1 event", "2 events".
std::string Counted(std::uint64_t count, const char* one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

std::string NoWholeChunk(std::size_t bytes) {
  if (bytes == 0) return "it has no end";
  if (bytes == 1) return "its last byte is no whole chunk";
  return absl::StrCat("its last ", bytes, " bytes are no whole chunk");
}

Duration Time(std::uint32_t tick) { return std::int64_t{tick} * kReplayTick; }

}  // namespace

struct ReplayLogReader::State {
  explicit State(std::span<const std::byte> all) : bytes(all) {}

  absl::Status ReadAll();
  absl::Status ReadChunk();
  absl::Status ReadPayload(const ChunkHead& head, std::size_t begin,
                           Progress& to);
  absl::Status ReadEvents(const ChunkHead& head, std::size_t begin,
                          Progress& to);
  absl::Status ReadEnd(std::span<const std::byte> payload, std::size_t begin,
                       const Progress& progress) const;
  std::size_t ChunkAt(std::uint32_t tick) const;
  void GoTo(std::size_t chunk);

  std::span<const std::byte> bytes;
  ReplayHeader header;
  std::optional<Progress> so_far;
  std::optional<ReplayKept> kept;
  std::vector<Chunk> chunks;
  std::vector<ReplayKeyframe> keyframes;
  std::size_t offset = 0;  // of the next chunk
  std::size_t chunks_read = 0;
  bool ended = false;  // the end chunk was read
  std::optional<std::size_t> torn_at;
  std::string warning;

  // Where Next is: in chunk `at`, with `rest` of it to come.
  struct Place {
    std::size_t at = 0;
    ByteReader rest{{}};
    replay::Codec codec;
    std::uint32_t frames = 0;  // kPeer
  } place;
};

// --- Opening

absl::StatusOr<ReplayLogReader> ReplayLogReader::Open(
    std::span<const std::byte> bytes, bool partial) {
  auto state = std::make_unique<State>(bytes);
  if (bytes.size() > kReplayBytesMax) {
    return DamagedAt(kReplayBytesMax, "larger than any replay");
  }
  const absl::StatusOr<std::size_t> header =
      replay::ParseHeader(bytes, state->header);
  if (!header.ok()) return header.status();
  state->offset = *header;
  state->so_far.emplace(state->header);
  if (absl::Status status = state->ReadAll(); !status.ok()) {
    if (!partial) return status;
    state->torn_at = state->offset;
    state->warning = std::string(StatusText(status));
  }
  ReplayLogReader reader(std::move(state));
  reader.Rewind();
  return reader;
}

absl::Status ReplayLogReader::State::ReadAll() {
  while (!ended) {
    if (absl::Status status = ReadChunk(); !status.ok()) return status;
  }
  if (offset == bytes.size()) return absl::OkStatus();
  return DamagedAt(offset,
                   Counted(bytes.size() - offset, "byte") + " after the end");
}

// A file that was cut off ends within a chunk, or has zeros from there on,
// where its system was cut off too.
absl::Status ReplayLogReader::State::ReadChunk() {
  const std::span<const std::byte> rest = bytes.subspan(offset);
  const auto torn = [&] {
    return MakeStatus(
        absl::StatusCode::kDataLoss,
        absl::StrCat("byte ", offset, ": the recording was cut off here: ",
                     NoWholeChunk(rest.size()),
                     "; intact before it: ", Counted(so_far->events, "event")));
  };
  if (std::ranges::all_of(rest, [](std::byte b) { return b == std::byte{}; })) {
    return torn();
  }
  const auto type = static_cast<ChunkType>(rest[0]);
  if (type < ChunkType::kEvents || type > ChunkType::kEnd) {
    return DamagedAt(
        offset, absl::StrCat("unknown chunk type ", static_cast<int>(type)));
  }
  if (chunks_read == kReplayChunksMax) {
    return DamagedAt(offset, "more chunks than any replay has");
  }
  if (rest.size() < replay::kChunkHeadBytes) return torn();
  const ChunkHead head = replay::LoadChunkHead(rest);
  const std::size_t most = type == ChunkType::kKeyframe
                               ? kReplayKeyframeBytesMax
                               : replay::kEventBytesMax;
  if (head.size > most) {
    return DamagedAt(
        offset + 1,
        absl::StrCat("a chunk of ", head.size,
                     " bytes, more than there can be (", most, ")"));
  }
  if (rest.size() < replay::kChunkAround + head.size) return torn();
  const std::size_t summed = replay::kChunkHeadBytes + head.size;
  if (LoadU32(&rest[summed]) != replay::Sum(offset, rest.first(summed))) {
    return DamagedAt(offset, "the chunk does not match its checksum");
  }
  Progress progress = *so_far;
  absl::Status status =
      ReadPayload(head, offset + replay::kChunkHeadBytes, progress);
  if (!status.ok()) return status;
  so_far = progress;
  ++chunks_read;
  offset += replay::kChunkAround + head.size;
  return absl::OkStatus();
}

absl::Status ReplayLogReader::State::ReadPayload(const ChunkHead& head,
                                                 std::size_t begin,
                                                 Progress& to) {
  if (head.tick < to.tick) {
    return DamagedAt(offset + 5, "a chunk that is before the last one");
  }
  to.tick = head.tick;
  if (head.frame != to.track.frame()) {
    return DamagedAt(offset + 9,
                     absl::StrCat("a chunk of frame ", head.frame,
                                  " where the match is at ", to.track.frame()));
  }
  const auto payload = bytes.subspan(begin, head.size);
  switch (head.type) {
    case ChunkType::kEvents:
      return ReadEvents(head, begin, to);
    case ChunkType::kKeyframe: {
      const char* const wrong = to.track.TakeKeyframe();
      if (wrong != nullptr) return DamagedAt(offset, wrong);
      keyframes.push_back({head.frame, payload});
      return absl::OkStatus();
    }
    case ChunkType::kKept: {
      if (!chunks.empty() || kept || head.tick != 0 ||
          header.source != ReplaySource::kRoom) {
        return DamagedAt(offset, "what was kept, and not at the begin");
      }
      absl::StatusOr<ReplayKept> read = replay::ParseKept(payload, header);
      if (!read.ok()) return DamagedAt(begin, StatusText(read.status()));
      to.track.TakeKept(*read);
      kept = *std::move(read);
      return absl::OkStatus();
    }
    default:
      ended = true;
      return ReadEnd(payload, begin, to);
  }
}

absl::Status ReplayLogReader::State::ReadEvents(const ChunkHead& head,
                                                std::size_t begin,
                                                Progress& to) {
  const auto& match = to.track.match();
  const Chunk chunk{.begin = begin,
                    .size = head.size,
                    .tick = head.tick,
                    .frame = head.frame,
                    .said = to.track.said(),
                    .players = match ? match->players : 0};
  ByteReader reader(bytes.subspan(begin, head.size));
  replay::Codec codec;
  codec.Begin(head.tick, chunk.players);
  ReplayEvent event;
  bool first = true;
  do {
    const std::size_t at = begin + head.size - reader.remaining();
    const char* wrong = codec.Decode(reader, event);
    if (event.kind == ReplayKind::kFrames) event.frame = to.track.frames();
    if (wrong == nullptr) wrong = to.track.Take(event);
    if (wrong == nullptr && first && codec.tick() != head.tick) {
      wrong = "a chunk that begins before its first event";
    }
    if (wrong != nullptr) return DamagedAt(at, wrong);
    if (event.kind == ReplayKind::kBegin) codec.SetPlayers(event.players);
    first = false;
    ++to.events;
  } while (reader.remaining() > 0);
  to.tick = to.event_tick = codec.tick();
  chunks.push_back(chunk);
  return absl::OkStatus();
}

absl::Status ReplayLogReader::State::ReadEnd(std::span<const std::byte> payload,
                                             std::size_t begin,
                                             const Progress& progress) const {
  ByteReader reader(payload);
  const std::uint64_t events = reader.VarUint(UINT64_MAX);
  if (!reader.AtEnd()) return DamagedAt(begin, "the end is malformed");
  if (events == progress.events) return absl::OkStatus();
  return DamagedAt(begin,
                   absl::StrCat("the end counts ", Counted(events, "event"),
                                ", the file has ", progress.events));
}

// --- What there is

ReplayLogReader::ReplayLogReader(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
ReplayLogReader::ReplayLogReader(ReplayLogReader&&) noexcept = default;
ReplayLogReader& ReplayLogReader::operator=(ReplayLogReader&&) noexcept =
    default;
ReplayLogReader::~ReplayLogReader() = default;

const ReplayHeader& ReplayLogReader::header() const { return state_->header; }
const std::optional<ReplayLogReader::Match>& ReplayLogReader::match() const {
  return state_->so_far->track.match();
}
const std::optional<ReplayKept>& ReplayLogReader::kept() const {
  return state_->kept;
}
std::uint64_t ReplayLogReader::events() const { return state_->so_far->events; }
Duration ReplayLogReader::length() const {
  return Time(state_->so_far->event_tick);
}
int ReplayLogReader::delay() const {
  if (state_->header.game.delay > 0) return state_->header.game.delay;
  const std::uint32_t first = state_->so_far->track.first();
  return static_cast<int>(
      std::min(first, static_cast<std::uint32_t>(limits::kDelay.ceiling)));
}
std::optional<std::size_t> ReplayLogReader::torn_at() const {
  return state_->torn_at;
}
const std::string& ReplayLogReader::warning() const { return state_->warning; }
std::span<const ReplayKeyframe> ReplayLogReader::keyframes() const {
  return state_->keyframes;
}

const ReplayKeyframe* ReplayLogReader::KeyframeFor(std::uint32_t frame) const {
  const auto& all = state_->keyframes;
  const auto after =
      std::ranges::upper_bound(all, frame, {}, &ReplayKeyframe::frame);
  return after == all.begin() ? nullptr : &*(after - 1);
}

// --- Reading on, and going elsewhere

void ReplayLogReader::State::GoTo(std::size_t chunk) {
  place.at = chunk;
  place.rest = ByteReader({});
  if (chunk == chunks.size()) return;
  const Chunk& to = chunks[chunk];
  place.rest = ByteReader(bytes.subspan(to.begin, to.size));
  place.codec.Begin(to.tick, to.players);
  place.frames = to.frame;
}

bool ReplayLogReader::Next(ReplayEvent& event) {
  State& s = *state_;
  State::Place& place = s.place;
  if (place.at == s.chunks.size()) return false;
  if (place.rest.remaining() == 0) {
    s.GoTo(place.at + 1);
    if (place.at == s.chunks.size()) return false;
  }
  PARLOR_CHECK(place.codec.Decode(place.rest, event) == nullptr);
  if (event.kind == ReplayKind::kBegin) place.codec.SetPlayers(event.players);
  if (event.kind == ReplayKind::kFrames) {
    event.frame = place.frames;
    place.frames += event.count;
  }
  return true;
}

void ReplayLogReader::Rewind() { state_->GoTo(0); }

// The last chunk that begins before `tick`, or the first.
std::size_t ReplayLogReader::State::ChunkAt(std::uint32_t tick) const {
  const auto after = std::ranges::lower_bound(chunks, tick, {}, &Chunk::tick);
  return static_cast<std::size_t>(
      std::max<std::ptrdiff_t>(after - chunks.begin() - 1, 0));
}

void ReplayLogReader::SeekTime(Duration at) {
  State& s = *state_;
  const std::int64_t ticks = (at + kReplayTick - Duration{1}) / kReplayTick;
  s.GoTo(s.ChunkAt(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(ticks, 0, replay::kTickMax))));
  ReplayEvent event;
  State::Place before = s.place;
  while (Next(event) && event.at < at) before = s.place;
  s.place = before;
}

void ReplayLogReader::SeekFrame(std::uint32_t frame) {
  State& s = *state_;
  const auto after =
      std::ranges::upper_bound(s.chunks, frame, {}, &Chunk::said);
  s.GoTo(static_cast<std::size_t>(
      std::max<std::ptrdiff_t>(after - s.chunks.begin() - 1, 0)));
}

std::uint32_t ReplayLogReader::FrameAt(Duration at) const {
  const State& s = *state_;
  if (at >= length()) return replay::Track(s.so_far->track).frame();
  const auto after = std::ranges::upper_bound(
      s.chunks, at, {}, [](const Chunk& chunk) { return Time(chunk.tick); });
  return after == s.chunks.begin() ? 0 : (after - 1)->frame;
}

Duration ReplayLogReader::TimeOf(std::uint32_t frame) const {
  const State& s = *state_;
  const auto first =
      std::ranges::lower_bound(s.chunks, frame, {}, &Chunk::frame);
  return first == s.chunks.end() ? length() : Time(first->tick);
}

}  // namespace parlor::lockstep
