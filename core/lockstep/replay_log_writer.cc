#include <algorithm>
#include <utility>

#include "lockstep/replay_codec.h"
#include "lockstep/replay_layout.h"
#include "lockstep/replay_track.h"
#include "parlor/check.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"

namespace parlor::lockstep {

using replay::ChunkType;

struct ReplayLogWriter::State {
  State(ReplaySink& its_sink, const ReplayHeader& its_header, TimePoint at)
      : sink(its_sink), header(its_header), start(at), track(its_header) {
    payload.reserve(replay::kChunkFull + 1'024);
    out.reserve(replay::kChunkFull + 2'048);
  }

  // Never falls, whatever the clock does, and fits.
  std::uint32_t TickOf(TimePoint now) {
    const std::int64_t passed = (now - start) / kReplayTick;
    const auto limited = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(passed, 0, replay::kTickMax));
    return tick = std::max(tick, limited);
  }
  // Events that are not with the sink yet begin here.
  std::uint32_t pending_since() const {
    return payload.empty() ? run.tick : chunk_tick;
  }
  bool pending() const { return !payload.empty() || run.event.count > 0; }

  ReplaySink& sink;
  const ReplayHeader header;
  const TimePoint start;
  replay::Track track;
  replay::Codec codec;
  std::uint32_t tick = 0;  // of the last call

  // The events of the chunk that is being filled.
  std::vector<std::byte> payload;
  std::uint32_t chunk_tick = 0;
  std::uint32_t chunk_frame = 0;
  // Frames alike that are not in `payload` yet.
  struct {
    std::uint32_t tick = 0;
    ReplayEvent event{};
  } run;

  std::vector<std::byte> out;
  std::uint64_t written = 0;
  std::uint64_t events = 0;
  std::size_t chunks = 0;
  bool finished = false;
};

ReplayLogWriter::ReplayLogWriter(ReplaySink& sink, const ReplayHeader& header,
                                 TimePoint start,
                                 const std::optional<ReplayKept>& kept)
    : state_(std::make_unique<State>(sink, header, start)) {
  PARLOR_CHECK(Check(header).ok());
  replay::AppendHeader(header, state_->out);
  if (!kept) return;
  PARLOR_CHECK(header.source == ReplaySource::kRoom);
  std::vector<std::byte> bytes;
  replay::AppendKept(header, *kept, bytes);
  PARLOR_CHECK(replay::ParseKept(bytes, header).ok());
  AddChunk({.type = ChunkType::kKept}, bytes);
  state_->track.TakeKept(*kept);
}

ReplayLogWriter::~ReplayLogWriter() = default;

std::uint32_t ReplayLogWriter::frames() const {
  return state_->track.frames() + state_->run.event.count;
}

std::uint64_t ReplayLogWriter::bytes() const { return state_->written; }

// --- What happened

void ReplayLogWriter::Add(TimePoint now, const ReplayEvent& event) {
  if (!status_.ok()) return;
  PARLOR_CHECK(event.kind != ReplayKind::kFrames);
  if (event.kind == ReplayKind::kInput || event.kind == ReplayKind::kHash) {
    return AddMessage(
        now, lockstep::Encode({.kind = event.kind == ReplayKind::kInput
                                           ? Kind::kInput
                                           : Kind::kHash,
                               .slot = static_cast<std::uint8_t>(event.seat),
                               .players = event.byte2,
                               .mode = event.byte3,
                               .frame = event.frame,
                               .value = event.value}));
  }
  const std::uint32_t tick = MakeRoom(now);
  PARLOR_CHECK(state_->track.Take(event) == nullptr);
  state_->codec.Encode(tick, event, state_->payload);
  ++state_->events;
  if (event.kind == ReplayKind::kBegin) state_->codec.SetPlayers(event.players);
}

void ReplayLogWriter::AddMessage(TimePoint now, const MessageBytes& message) {
  if (!status_.ok()) return;
  const Message said = Decode(message);
  PARLOR_DCHECK(state_->track.MayRelay(said.kind, said.slot, said.frame));
  const std::uint32_t tick = MakeRoom(now);
  state_->track.Relayed(said.kind, said.slot, said.frame);
  state_->codec.EncodeMessage(tick, said, state_->payload);
  ++state_->events;
}

void ReplayLogWriter::Begin(TimePoint now, int players, std::uint8_t mode) {
  ReplayEvent event;
  event.kind = ReplayKind::kBegin;
  event.players = players;
  event.mode = mode;
  event.taken = static_cast<std::uint32_t>((std::uint64_t{1} << players) - 1);
  Add(now, event);
}

void ReplayLogWriter::AddFrame(TimePoint now,
                               std::span<const std::uint32_t> inputs,
                               std::uint32_t bots) {
  if (!status_.ok()) return;
  State& s = *state_;
  PARLOR_CHECK(s.track.match() &&
               inputs.size() ==
                   static_cast<std::size_t>(s.track.match()->players));
  const std::uint32_t tick = s.TickOf(now);
  ReplayEvent& run = s.run.event;
  const bool same =
      run.count > 0 && run.bots == bots &&
      std::equal(inputs.begin(), inputs.end(), run.inputs.begin());
  if (run.count > 0 && (!same || run.count == replay::kRunMax)) TakeRun();
  CloseIfDue(tick);
  if (!status_.ok()) return;
  if (run.count == 0) {
    s.run.tick = tick;
    run.kind = ReplayKind::kFrames;
    run.frame = s.track.frames();
    std::copy(inputs.begin(), inputs.end(), run.inputs.begin());
    run.bots = bots;
  }
  ++run.count;
}

void ReplayLogWriter::AddHash(TimePoint now, std::uint32_t hash) {
  if (!status_.ok()) return;
  const std::uint32_t tick = MakeRoom(now);
  ReplayEvent event;
  event.kind = ReplayKind::kHash;
  event.seat = state_->header.recorded_by;
  event.frame = state_->track.frames();
  PARLOR_CHECK(state_->header.source == ReplaySource::kPeer &&
               state_->track.Take(event) == nullptr);
  state_->codec.EncodeMessage(tick,
                              {.kind = Kind::kHash,
                               .slot = static_cast<std::uint8_t>(event.seat),
                               .frame = event.frame,
                               .value = hash},
                              state_->payload);
  ++state_->events;
}

bool ReplayLogWriter::AddKeyframe(TimePoint now,
                                  std::span<const std::byte> state) {
  if (state.size() > kReplayKeyframeBytesMax) return false;
  const std::uint32_t tick = state_->TickOf(now);
  Flush();
  if (!status_.ok()) return true;
  PARLOR_CHECK(state_->track.TakeKeyframe() == nullptr);
  AddChunk({.type = ChunkType::kKeyframe,
            .tick = tick,
            .frame = state_->track.frame()},
           state);
  Write();
  return true;
}

// --- Chunks

// Ends what has to end before the next event, and begins what it needs.
std::uint32_t ReplayLogWriter::MakeRoom(TimePoint now) {
  State& s = *state_;
  PARLOR_DCHECK(!s.finished);
  const std::uint32_t tick = s.TickOf(now);
  if (s.run.event.count > 0) TakeRun();
  CloseIfDue(tick);
  if (s.payload.empty()) BeginChunk(tick);
  return tick;
}

void ReplayLogWriter::BeginChunk(std::uint32_t tick) {
  State& s = *state_;
  const std::optional<ReplayLogReader::Match>& match = s.track.match();
  s.chunk_tick = tick;
  s.chunk_frame = s.track.frame();
  s.codec.Begin(tick, match ? match->players : 0);
}

void ReplayLogWriter::CloseIfDue(std::uint32_t tick) {
  const State& s = *state_;
  if (!s.pending()) return;
  if (tick - s.pending_since() >= replay::kChunkTicks ||
      s.payload.size() >= replay::kChunkFull) {
    Flush();
  }
}

// The frames that were alike become an event.
void ReplayLogWriter::TakeRun() {
  State& s = *state_;
  if (s.payload.empty()) BeginChunk(s.run.tick);
  PARLOR_CHECK(s.track.Take(s.run.event) == nullptr);
  s.codec.Encode(s.run.tick, s.run.event, s.payload);
  ++s.events;
  s.run.event.count = 0;
}

void ReplayLogWriter::Flush() {
  State& s = *state_;
  if (!status_.ok()) return;
  if (s.run.event.count > 0) TakeRun();
  if (!s.payload.empty()) {
    AddChunk({.type = ChunkType::kEvents,
              .tick = s.chunk_tick,
              .frame = s.chunk_frame},
             s.payload);
    s.payload.clear();
  }
  Write();
}

void ReplayLogWriter::Finish() {
  State& s = *state_;
  PARLOR_CHECK(!s.finished);
  s.finished = true;
  Flush();
  if (!status_.ok()) return;
  ByteWriter(s.payload).VarUint(s.events);
  AddChunk({.type = ChunkType::kEnd, .tick = s.tick, .frame = s.track.frame()},
           s.payload);
  s.payload.clear();
  Write();
}

void ReplayLogWriter::AddChunk(const replay::ChunkHead& head,
                               std::span<const std::byte> payload) {
  State& s = *state_;
  ++s.chunks;
  replay::AppendChunk(s.written + s.out.size(), head, payload, s.out);
}

void ReplayLogWriter::Write() {
  State& s = *state_;
  if (s.out.empty()) return;
  if (s.written + s.out.size() > kReplayBytesMax ||
      s.chunks > kReplayChunksMax) {
    status_ = MakeStatus(absl::StatusCode::kResourceExhausted,
                         "the replay is as large as one may be");
    s.sink.OnFull();
    return;
  }
  status_ = s.sink.Write(s.out);
  if (status_.ok()) s.written += s.out.size();
  s.out.clear();
}

}  // namespace parlor::lockstep
