// What the room says to a peer, and what a step does with it.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "authority/client_context.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/peer.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/printable.h"

namespace parlor::authority {
namespace {

// Of the reason that a game gave for its refusal, in bytes as it came.
constexpr std::size_t kReasonBytesMax = 200;

constexpr std::string_view kNoRoom =
    "the host does not speak like a room of this game";

// For a player.
std::string DescribeError(const ErrorFrame& error) {
  switch (error.code) {
    case ErrorCode::kProtocol:
      return "the room plays another game, or another version of it";
    case ErrorCode::kName:
      return "the room does not take this name";
    case ErrorCode::kFull:
      return "every seat is taken";
    case ErrorCode::kLocked:
      return "the room is locked";
    case ErrorCode::kBanned:
      return "banned from this room";
    case ErrorCode::kRefused:
      return "the game says: " +
             Printable(
                 std::string_view(error.message).substr(0, kReasonBytesMax));
    case ErrorCode::kResumeRefused:
      return "the seat is gone: away for too long, or the host restarted";
    case ErrorCode::kEnded:
      return "the room is over";
    default:
      return "the room refused to let this player in";
  }
}

// What `at` of an rtt frame says: whole milliseconds of this peer's clock.
double RttMark(TimePoint sent) {
  return static_cast<double>(sent.time_since_epoch() / kMillisecond);
}

// Which frames are kept apart. A codec may write JSON members in another order
// than ours: then a baseline waits among the others, and is applied all the
// same unless newer frames are.
bool IsBaseline(MessageKind kind, std::span<const std::byte> bytes) {
  if (kind == MessageKind::kText) {
    return AsText(bytes).starts_with(R"({"t":"baseline")");
  }
  return !bytes.empty() &&
         bytes[0] == static_cast<std::byte>(StateKind::kBaseline);
}

}  // namespace

// ---- What the room says

void Peer::OnMessage(TimePoint now, Connection&, Lane, MessageKind kind,
                     std::span<const std::byte> bytes) {
  if (state_ == PeerState::kEnded) return;
  heard_ = now;
  if (kind == MessageKind::kText) return OnText(now, bytes);
  // The state lane may be faster than the welcome.
  if (state_ != PeerState::kPlaying) {
    ++counters_.ignored;
    return;
  }
  Keep(now, kind, bytes);
}

void Peer::OnText(TimePoint now, std::span<const std::byte> bytes) {
  ServerFrame frame = ParseServerFrame(AsText(bytes));
  if (std::holds_alternative<FrameRefusal>(frame)) {
    return End(PeerEnd::kProtocol, CloseReason::kProtocolError, kNoRoom);
  }
  if (state_ == PeerState::kPlaying) {
    if (std::holds_alternative<StateTextFrame>(frame)) {
      return Keep(now, MessageKind::kText, bytes);
    }
    return OnInPlay(now, std::move(frame));
  }
  if (auto* const welcome = std::get_if<WelcomeFrame>(&frame)) {
    return OnWelcome(now, std::move(*welcome));
  }
  if (const auto* const error = std::get_if<ErrorFrame>(&frame)) {
    end_error_ = error->code;
    const bool is_other = error->code == ErrorCode::kProtocol;
    return End(is_other ? PeerEnd::kOtherGame : PeerEnd::kRefused,
               CloseReason::kNormal, DescribeError(*error));
  }
  ++counters_.ignored;
}

// What no room of ours answers to this join; empty: nothing.
std::string_view Peer::WrongWelcome(const WelcomeFrame& welcome) const {
  const auto within = [](const Limit& limit, std::int64_t value) {
    return value >= limit.floor && value <= limit.ceiling;
  };
  if (!within(limits::kTickHz, welcome.tick_hz) ||
      !within(limits::kSnapshotHz, welcome.snapshot_hz) ||
      welcome.snapshot_hz > welcome.tick_hz ||
      std::ranges::find(options_.codecs, welcome.codec) ==
          options_.codecs.end()) {
    return kNoRoom;
  }
  if (welcome_ &&
      (welcome.player != welcome_->player || welcome.seat != welcome_->seat ||
       welcome.tick_hz != welcome_->tick_hz ||
       welcome.snapshot_hz != welcome_->snapshot_hz)) {
    return "the host gave this seat's place to another player";
  }
  return {};
}

void Peer::OnWelcome(TimePoint now, WelcomeFrame&& welcome) {
  if (welcome.protocol != options_.protocol || welcome.schema != schema_json_) {
    return End(PeerEnd::kOtherGame, CloseReason::kNormal,
               "the room plays another game, or another version of it");
  }
  if (const std::string_view wrong = WrongWelcome(welcome); !wrong.empty()) {
    return End(PeerEnd::kProtocol, CloseReason::kProtocolError, wrong);
  }
  if (welcome_) {
    ++counters_.resumes;
    if (predictor_) predictor_->Restart();
  } else {
    drawn_.emplace(welcome.tick_hz, welcome.snapshot_hz);
    if (options_.move) predictor_.emplace(options_.move, welcome.tick_hz);
  }
  token_ = std::exchange(welcome.token, {});
  entity_ = welcome.entity;
  welcome_ = std::move(welcome);
  if (context_ == nullptr) context_ = std::make_unique<ClientContext>(*this);
  BeginConnection(now);
}

// All that one connection's frames count, and nothing that the game sees.
void Peer::BeginConnection(TimePoint now) {
  state_ = PeerState::kPlaying;
  alarm_ = now + kSilenceMax;
  baseline_.reset();
  frames_.clear();
  coming_ = std::make_unique<StateReceiver>(schema_);
  applied_ = now;
  body_of_.reset();
  pressed_ = 0;
  shifted_ = {};
  input_ = {};
  acked_seq_ = 0;
  stepped_.reset();
  resync_wanted_ = false;
  rtt_sent_.reset();
  rtt_after_ = now;
}

void Peer::OnInPlay(TimePoint now, ServerFrame&& frame) {
  if (std::holds_alternative<WelcomeFrame>(frame)) {
    return End(PeerEnd::kProtocol, CloseReason::kProtocolError, kNoRoom);
  }
  if (auto* const roster = std::get_if<RosterFrame>(&frame)) {
    return OnRoster(std::move(*roster));
  }
  if (auto* const tick = std::get_if<TickFrame>(&frame)) {
    return OnTick(std::move(*tick));
  }
  if (auto* const message = std::get_if<RoomMsgFrame>(&frame)) {
    return OnRoomMessage(std::move(*message));
  }
  if (const auto* const rtt = std::get_if<RoomRttFrame>(&frame)) {
    return OnRtt(now, *rtt);
  }
  if (const auto* const error = std::get_if<ErrorFrame>(&frame)) {
    ++counters_.errors;
    last_error_ = error->code;
    return;
  }
  ++counters_.ignored;
}

void Peer::OnRoster(RosterFrame&& roster) {
  players_.clear();
  for (RosterPlayer& player : roster.players) {
    const bool is_own = player.seat == seat();
    players_.push_back({.seat = player.seat,
                        .id = std::move(player.id),
                        .name = std::move(player.name),
                        .fields = {},
                        .identity = {},
                        .connected = player.connected,
                        .host = player.host,
                        .entity = is_own ? entity_ : 0});
  }
  locked_ = roster.locked;
}

void Peer::OnTick(TickFrame&& tick) {
  // An input that was not sent cannot have been applied.
  if (tick.ack <= input_.seq) acked_seq_ = tick.ack;
  entity_ = tick.entity;
  for (Player& player : players_) {
    if (player.seat == seat()) player.entity = entity_;
  }
  for (TickEvent& event : tick.events) {
    View& view = event.kind == TickEvent::Kind::kCamera ? camera_ : hud_;
    view.authority = std::move(event.value);
  }
}

void Peer::OnRoomMessage(RoomMsgFrame&& message) {
  if (known_.Check(message.name, message.payload) != MessageVerdict::kOk) {
    ++counters_.dropped;
    return;
  }
  ++counters_.received;
  if (kept_.size() == kMessagesMax) {
    kept_.pop_front();
    ++counters_.overflown;
  }
  kept_.push_back(std::move(message));
}

void Peer::OnRtt(TimePoint now, const RoomRttFrame& rtt) {
  if (!rtt_sent_ || rtt.at != RttMark(*rtt_sent_)) {
    ++counters_.ignored;
    return;
  }
  const Duration sample = now - *rtt_sent_;
  rtt_ = rtt_ ? *rtt_ + (sample - *rtt_) / 8 : sample;
  rtt_sent_.reset();
}

void Peer::Keep(TimePoint now, MessageKind kind,
                std::span<const std::byte> bytes) {
  StateFrame frame{
      .at = now, .kind = kind, .bytes = {bytes.begin(), bytes.end()}};
  if (IsBaseline(kind, bytes)) {
    if (baseline_) ++counters_.skipped;
    baseline_ = std::move(frame);
    return;
  }
  if (frames_.size() == kStateFramesMax) {
    frames_.pop_front();
    ++counters_.skipped;
  }
  frames_.push_back(std::move(frame));
}

// ---- Steps

bool Peer::Step(TimePoint now, const Controls& controls) {
  if (state_ == PeerState::kPlaying) ApplyState(now);
  HandMessages();
  if (state_ != PeerState::kPlaying) {
    pressed_ = 0;
    shifted_ = {};
    return false;
  }
  SendInput(controls);
  AskAgain(now);
  return true;
}

// The baseline first, since the others may refer to it. Of those the newest
// that applies is all there is to see: they are whole, not a story.
void Peer::ApplyState(TimePoint now) {
  const std::optional<StateFrame> baseline = std::exchange(baseline_, {});
  std::deque<StateFrame> frames = std::exchange(frames_, {});
  if (baseline) Apply(now, *baseline);
  for (; !frames.empty() && state_ == PeerState::kPlaying; frames.pop_back()) {
    if (!Apply(now, frames.back())) continue;
    counters_.skipped += frames.size() - 1;
    return;
  }
}

// False for a frame that changed nothing.
bool Peer::Apply(TimePoint now, const StateFrame& frame) {
  StateReceiver& receiver = coming_ != nullptr ? *coming_ : *shown_;
  switch (receiver.Apply(frame.kind, frame.bytes)) {
    case StateOutcome::kMalformed:
      End(PeerEnd::kProtocol, CloseReason::kProtocolError, kNoRoom);
      return false;
    case StateOutcome::kStale:
      ++counters_.stale;
      return false;
    case StateOutcome::kBaseline:
      resync_wanted_ = false;
      break;
    case StateOutcome::kRecovery:
      ++counters_.recoveries;
      break;
    case StateOutcome::kDelta:
      break;
  }
  if (coming_ != nullptr) shown_ = std::move(coming_);
  applied_ = now;
  connection_->Send(Lane::kReliable, MessageKind::kBinary,
                    EncodeAck(shown_->tick()));
  ShowRows(frame.at);
  CorrectBody();
  return true;
}

void Peer::ShowRows(TimePoint at) {
  if (shown_->epoch() != drawn_epoch_) {
    drawn_epoch_ = shown_->epoch();
    drawn_->Clear();
    context_->BeginEpoch();
  }
  // A baseline that a recovery overtook.
  if (shown_->tick() <= drawn_tick_) return;
  drawn_tick_ = shown_->tick();
  places_.clear();
  shown_->rows().ForEach([&](const RowView& row) {
    if (!row.kind().transform) return;
    places_.push_back({.id = row.id(),
                       .transform = row.GetTransform(),
                       .teleports = row.teleports()});
  });
  drawn_->Add(at, drawn_tick_, places_);
}

void Peer::CorrectBody() {
  if (!predictor_ || !shown_->own()) return;
  BodyOf body{.epoch = shown_->epoch(), .entity = entity_};
  const RowView row = shown_->rows().Get(entity_);
  if (row.exists() && row.kind().transform) body.teleports = row.teleports();
  const bool teleported = body_of_ && *body_of_ != body;
  predictor_->Correct(*shown_->own(), teleported);
  body_of_ = body;
}

void Peer::HandMessages() {
  messages_.clear();
  handed_.assign(std::make_move_iterator(kept_.begin()),
                 std::make_move_iterator(kept_.end()));
  kept_.clear();
  for (const RoomMsgFrame& message : handed_) {
    messages_.push_back({.from = message.from,
                         .name = message.name,
                         .payload = message.payload});
  }
}

void Peer::SendInput(const Controls& controls) {
  InputFrame input{.seq = input_.seq + 1};
  if (has_focus_) {
    input.held = controls.held;
    input.pressed = pressed_ | (controls.held & ~input_.held);
    input.axes = controls.axes;
    using Limits = std::numeric_limits<std::int16_t>;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      input.summed[axis] = static_cast<std::int16_t>(std::clamp<std::int64_t>(
          shifted_[axis], Limits::min(), Limits::max()));
    }
  }
  pressed_ = 0;
  shifted_ = {};
  input_ = input;
  connection_->Send(Lane::kReliable, MessageKind::kBinary, EncodeInput(input));
  if (predictor_) predictor_->Step(input);
}

// What a client asks for by itself, each at its interval.
void Peer::AskAgain(TimePoint now) {
  const bool slept = stepped_ && now - *stepped_ > kStall;
  stepped_ = now;
  // Frames come, and none of them applies.
  const bool is_lost = heard_ > applied_ && now - applied_ > kStall;
  if (slept || is_lost) resync_wanted_ = true;
  if (resync_wanted_ && now >= resync_after_) {
    resync_after_ = now + kStall;
    ++counters_.resyncs;
    SendText(Write(ResyncFrame{}));
  }
  if (now >= rtt_after_) {
    rtt_after_ = now + kRttInterval;
    rtt_sent_ = now;
    SendText(Write(RttFrame{.at = RttMark(now)}));
  }
}

void Peer::Press(std::uint64_t buttons) {
  if (has_focus_) pressed_ |= buttons;
}

void Peer::Shift(std::size_t axis, std::int32_t by) {
  PARLOR_CHECK(axis < kAxes);
  if (has_focus_) shifted_[axis] += by;
}

void Peer::SetFocus(bool has_focus) {
  has_focus_ = has_focus;
  if (has_focus) return;
  pressed_ = 0;
  shifted_ = {};
}

bool Peer::Send(std::string_view name, std::string_view payload) {
  if (known_.Check(name, payload) != MessageVerdict::kOk) {
    ++counters_.unsent;
    return false;
  }
  if (state_ != PeerState::kPlaying) return false;
  SendText(Write(
      MsgFrame{.name = std::string(name), .payload = std::string(payload)}));
  return true;
}

// ---- Getters

void Peer::SetDrawTime(TimePoint now) {
  if (drawn_) drawn_->SetTime(now);
}

std::optional<Transform> Peer::Drawn(RowId row) const {
  return drawn_ ? drawn_->Drawn(row) : std::nullopt;
}

Duration Peer::drawn_behind() const {
  return drawn_ ? drawn_->behind() : Duration{};
}

const OwnBody* Peer::body() const {
  return predictor_ && predictor_->body() ? &*predictor_->body() : nullptr;
}

PredictionCounters Peer::prediction() const {
  return predictor_ ? predictor_->counters() : PredictionCounters{};
}

Context& Peer::context() {
  PARLOR_CHECK(context_ != nullptr);
  return *context_;
}

}  // namespace parlor::authority
