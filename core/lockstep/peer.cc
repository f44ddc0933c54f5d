#include "parlor/lockstep/peer.h"

#include <algorithm>
#include <utility>

#include "lockstep/hash_ring.h"
#include "lockstep/input_window.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/limits.h"
#include "parlor/status.h"
#include "refusal_words.h"
#include "retry_wait.h"

namespace parlor::lockstep {
namespace {

// Resends stay under the room's default rate of 240/s and burst of 480, with
// room for the inputs and hashes of play, which are never held back.
constexpr Duration kSendInterval = 5 * kMillisecond;  // 200/s
constexpr int kSendBurst = 300;

// Frames that hashes are kept for: the resent ones reach back 2 * delay + 2,
// and whoever hears them may be delay + 2 ahead of that.
int HashFrames(int delay) { return 3 * delay + 4; }

struct Words {
  CloseReason reason;
  std::string_view words;
};

// What a close means to a player, by code and text; the first row of a code
// serves for its other texts. Ours, because a text may come from anyone.
constexpr Words kClosedWords[] = {
    {CloseReason::kHostLeft, "the host left"},
    {CloseReason::kNormal, "the host closed the match"},
    {CloseReason::kRoomNotFilled, "the room was not filled in time"},
    {CloseReason::kRoomIdle, "nobody played for too long"},
    {CloseReason::kRoomTimeUp, "the room's time is up"},
    {CloseReason::kMessageRate, "put out of the room for too many messages"},
    {CloseReason::kKicked, "put out of the room"},
    {CloseReason::kMessageSize, "put out of the room for a wrong message"},
    {CloseReason::kTooSlow, "the connection to the room was too slow"},
    {CloseReason::kRestart, "the host restarts"},
    {CloseReason::kRoomFull, "the room is full or plays already"},
    {CloseReason::kResumed, "this seat went on in another place"},
    {CloseReason::kSeatGone,
     "the seat is gone: away for too long, or the host restarted"},
};

std::string_view DescribeClose(const CloseEvent& event) {
  std::string_view words = event.code == close_code::kDropped
                               ? "the connection to the room was lost"
                               : "the room closed the connection";
  bool known_code = false;
  for (const Words& row : kClosedWords) {
    const CloseReasonRow& reason = Describe(row.reason);
    if (reason.code != event.code) continue;
    if (reason.text == event.text) return row.words;
    if (!known_code) words = row.words;
    known_code = true;
  }
  return words;
}

std::string SeatText(int seat, std::string_view rest) {
  std::string text = "seat ";
  text += std::to_string(seat);
  text += ' ';
  text += rest;
  return text;
}

}  // namespace

absl::Status ValidateOptions(const PeerOptions& options) {
  const std::pair<const Limit&, std::int64_t> rows[] = {
      {limits::kDelay, options.delay},
      {limits::kHashEvery, options.hash_every},
      {limits::kRetries, options.retries},
      {limits::kRetryMs, options.retry_ms},
      {limits::kConnectMs, options.connect_ms}};
  for (const auto& [limit, value] : rows) {
    absl::Status status = CheckLimit(limit, limit.name, value);
    if (!status.ok()) return status;
  }
  if (options.left_seat > LeftSeat::kEnd) {
    return InvalidArgument("left_seat: not one of its values");
  }
  return absl::OkStatus();
}

struct Peer::Seat {
  explicit Seat(const PeerOptions& options)
      : hashes(HashFrames(options.delay), options.hash_every) {
    // The frames before the first input are 0 for everyone.
    for (int i = 0; i < options.delay; ++i) inputs.Push(0);
  }

  InputWindow inputs;  // of the own seat: unused, words_ has them
  HashRing hashes;
  std::int64_t last_hash = -1;
  std::int64_t agreed = -1;

  // The seat skipped its next frame: nothing more of it will ever run.
  bool skipped = false;
  // Since the own RESUME an INPUT came that joins what was here before, so
  // that nothing between was lost. Until then: how many came beyond.
  bool joined = true;
  std::size_t beyond = 0;
};

Peer::Peer(Connector& connector, Game& game, const PeerOptions& options)
    : connector_(connector),
      game_(game),
      options_(options),
      jitter_(options.jitter_seed) {
  PARLOR_CHECK_OK(ValidateOptions(options));
}

Peer::~Peer() = default;

// ---- Joining, leaving, coming back

void Peer::Join(TimePoint now, const Hello& hello) {
  PARLOR_CHECK(state_ == PeerState::kIdle);
  PARLOR_CHECK(!hello.resume.has_value());
  PARLOR_CHECK(hello.players >= 1 && hello.players <= limits::kSeats.ceiling);
  hello_ = hello;
  size_ = hello.players;
  budget_ = now;
  state_ = PeerState::kConnecting;
  Connect(now);
}

void Peer::Connect(TimePoint now) {
  welcomed_ = false;
  connection_ = connector_.Connect(now, hello_, this);
  PARLOR_CHECK(connection_ != nullptr);
  alarm_ = now + options_.connect_ms * kMillisecond;
}

void Peer::OnOpen(TimePoint, Connection&) {
  // A resume stays under its alarm until the own RESUME: a room that never
  // answers must not hang it.
  if (state_ != PeerState::kConnecting) return;
  state_ = PeerState::kLobby;
  alarm_ = kNever;
}

bool Peer::Start(int players, std::uint8_t mode) {
  PARLOR_CHECK(players >= 0 && players <= 255);
  if (state_ != PeerState::kLobby || seat_ != 0) return false;
  const MessageBytes bytes =
      Encode({.kind = Kind::kStart,
              .players = static_cast<std::uint8_t>(players),
              .mode = mode});
  return connection_->Send(Lane::kReliable, MessageKind::kBinary, bytes) ==
         SendResult::kQueued;
}

void Peer::Leave() {
  if (state_ == PeerState::kEnded) return;
  End(PeerEnd::kLeft, CloseReason::kNormal, "you left");
}

void Peer::OnClose(TimePoint now, Connection& connection,
                   const CloseEvent& event) {
  PARLOR_CHECK(&connection == connection_.get());
  const CloseCode code = event.code;
  const std::uint16_t refusal = event.refusal;
  const std::string_view words =
      refusal != 0 ? RefusalWords(refusal) : DescribeClose(event);
  connection_.reset();  // `connection` and `event.text` are gone from here on
  if (state_ == PeerState::kEnded) return;

  const bool again = InMatch();
  const bool for_good = refusal == 403 || refusal == 404 || refusal == 409;
  if (refusal != 0 && (for_good || !again)) {
    end_refusal_ = refusal;
    return Finish(PeerEnd::kRefused, code, std::string(words));
  }
  if (again && IsDrop(code)) {
    if (state_ == PeerState::kPlaying) tries_ = 0;
    state_ = PeerState::kReconnecting;
    away_ |= Bit(seat_);
    return ScheduleTry(now, code);
  }
  if (state_ == PeerState::kConnecting && IsDrop(code)) {
    return Finish(PeerEnd::kConnectFailed, code, "the room cannot be reached");
  }
  Finish(PeerEnd::kClosed, code, std::string(words));
}

void Peer::ScheduleTry(TimePoint now, CloseCode code) {
  if (tries_ == options_.retries) {
    return Finish(PeerEnd::kRetriesSpent, code,
                  "the connection was lost and did not come back");
  }
  alarm_ = now + RetryWait(options_.retry_ms, tries_, code, jitter_);
}

void Peer::OnAlarm(TimePoint now) {
  if (now < alarm_) return;
  alarm_ = kNever;
  if (state_ == PeerState::kConnecting) {
    connection_.reset();
    return Finish(PeerEnd::kConnectFailed, close_code::kDropped,
                  "the room cannot be reached");
  }
  PARLOR_CHECK(state_ == PeerState::kReconnecting);
  if (connection_ != nullptr) {
    connection_.reset();
    return ScheduleTry(now, close_code::kDropped);
  }
  ++tries_;
  hello_.resume = TokenText(token_);
  Connect(now);
}

void Peer::End(PeerEnd end, CloseReason reason, std::string text) {
  if (connection_ != nullptr) connection_->Close(reason);
  Finish(end, Describe(reason).code, std::move(text));
}

void Peer::Finish(PeerEnd end, CloseCode code, std::string text) {
  PARLOR_CHECK(state_ != PeerState::kEnded);
  if (state_ == PeerState::kReconnecting) {
    away_ &= ~Bit(seat_);
    lost_ |= Bit(seat_);
  }
  state_ = PeerState::kEnded;
  alarm_ = kNever;
  end_ = end;
  end_code_ = code;
  end_text_ = std::move(text);
}

// ---- What the room says

void Peer::OnMessage(TimePoint now, Connection&, Lane, MessageKind kind,
                     std::span<const std::byte> bytes) {
  if (state_ == PeerState::kEnded) return;
  if (kind != MessageKind::kBinary || bytes.size() != kMessageSize) {
    return End(PeerEnd::kProtocol, CloseReason::kProtocolError,
               "the host does not speak like a room of this game");
  }
  const Message message = Decode(bytes.first<kMessageSize>());
  switch (state_) {
    case PeerState::kLobby:
      return OnLobbyMessage(now, message);
    case PeerState::kPlaying:
      return OnMatchMessage(message);
    case PeerState::kReconnecting:
      return OnResumeMessage(message);
    default:
      ++counters_.dropped;
  }
}

void Peer::OnLobbyMessage(TimePoint now, const Message& message) {
  if (message.kind == Kind::kWelcome) return OnWelcome(now, message);
  if (message.kind != Kind::kLobby || message.players != size_ ||
      message.slot >= message.players || message.mode > message.players) {
    ++counters_.dropped;
    return;
  }
  seat_ = message.slot;
  seated_ = message.mode;
}

void Peer::OnWelcome(TimePoint now, const Message& message) {
  if (message.players > size_ || message.slot >= message.players ||
      message.value == 0) {
    return End(PeerEnd::kProtocol, CloseReason::kProtocolError,
               "the host began a match that cannot be");
  }
  seat_ = message.slot;
  seated_ = message.players;
  token_ = message.value;
  match_ = Match{.seat = seat_,
                 .players = message.players,
                 .size = size_,
                 .seed = message.frame,
                 .mode = message.mode,
                 .delay = options_.delay};
  seats_.reserve(message.players);
  for (int s = 0; s < message.players; ++s) seats_.emplace_back(options_);
  said_end_ = sent_end_ = send_next_ = delay();
  state_ = PeerState::kPlaying;
  game_.OnStart(*match_);
  if (state_ == PeerState::kPlaying) TakeHash(now);
}

void Peer::OnResumeMessage(const Message& message) {
  if (message.kind == Kind::kWelcome && !welcomed_) {
    if (message.slot != seat_ || message.players != match_->players ||
        message.mode != match_->mode || message.frame != match_->seed ||
        message.value != token_) {
      return End(PeerEnd::kProtocol, CloseReason::kProtocolError,
                 "the host plays another match by now");
    }
    welcomed_ = true;
    return;
  }
  if (message.kind == Kind::kResume && welcomed_ && message.slot == seat_) {
    return OnOwnResume();
  }
  // The replay and the state of the other seats follow the own RESUME.
  ++counters_.dropped;
}

void Peer::OnOwnResume() {
  state_ = PeerState::kPlaying;
  away_ &= ~Bit(seat_);
  alarm_ = kNever;
  ++counters_.resumes;
  for (Seat& seat : seats_) {
    seat.joined = false;
    seat.beyond = 0;
  }
  resend_end_ = 0;  // what was left of an earlier resend is part of this one
  resend_wanted_ = true;
  // Hashes around the drop go out again, or a difference passes unseen: the
  // one of frame 0 tells another build, and nobody sends it twice.
  const auto every = static_cast<std::uint32_t>(options_.hash_every);
  const std::uint32_t back = 2 * delay() + 2;
  const std::uint32_t oldest = frame_ > back ? frame_ - back : 0;
  hash_next_ = (oldest + every - 1) / every * every;
}

void Peer::OnMatchMessage(const Message& message) {
  if (message.slot >= match_->players || message.slot == seat_) {
    ++counters_.dropped;
    return;
  }
  const std::uint32_t bit = Bit(message.slot);
  const bool lost = (lost_ & bit) != 0;
  switch (message.kind) {
    case Kind::kInput:
      return OnInput(message);
    case Kind::kHash:
      return OnHash(message);
    case Kind::kLeave:
      // A resumed seat is told again of those that left.
      if (!lost) OnLeave(message.slot);
      return;
    case Kind::kAway:
      if (lost) break;
      away_ |= bit;
      return;
    case Kind::kResume:
      if (lost) break;
      away_ &= ~bit;
      resend_wanted_ = true;
      return;
    default:
      break;
  }
  ++counters_.dropped;
}

void Peer::OnInput(const Message& message) {
  Seat& from = seats_[message.slot];
  if (from.skipped || (lost_ & Bit(message.slot)) != 0) {
    ++counters_.dropped;
    return;
  }
  const std::uint64_t next = std::uint64_t{frame_} + from.inputs.size();
  if (message.frame > next) return OnGap(message.slot, from);
  from.joined = true;
  if (message.frame < next) {
    ++counters_.dropped;
    return;
  }
  if (!from.inputs.Push(message.value)) {
    End(PeerEnd::kAhead, CloseReason::kNormal,
        SeatText(message.slot, "ran too far ahead of the match"));
  }
}

// An INPUT beyond the next frame of its seat. Frames of a seat rise, so either
// the seat skipped that frame, which then is the first missing one for every
// peer; or, if nothing since the own RESUME joins what was here before, it may
// have been lost while this peer was away and the replay did not reach back.
// A replay of fewer than kReplayInputs inputs is all that the seat ever said.
void Peer::OnGap(int seat, Seat& from) {
  ++counters_.dropped;
  if (from.joined) {
    from.skipped = true;
    return;
  }
  if (++from.beyond < kReplayInputs) return;
  End(PeerEnd::kHole, CloseReason::kNormal,
      SeatText(seat, "played on too far while you were away"));
}

void Peer::OnLeave(int seat) {
  const Seat& from = seats_[static_cast<std::size_t>(seat)];
  lost_ |= Bit(seat);
  away_ &= ~Bit(seat);
  if (options_.left_seat == LeftSeat::kEnd) {
    return End(PeerEnd::kSeatLeft, CloseReason::kNormal,
               SeatText(seat, "left the match"));
  }
  // Inputs of this seat were here before the own RESUME, and the room replayed
  // none that joins them: nobody can tell where the bot takes over. No room of
  // ours does that to a seat; one that forgets its replays may.
  const bool lacks_replay =
      !from.skipped && !from.joined && frame_ + from.inputs.size() > delay();
  if (options_.left_seat == LeftSeat::kBot && lacks_replay) {
    End(PeerEnd::kHole, CloseReason::kNormal,
        SeatText(seat,
                 "left while you were away, and its last moves are gone"));
  }
}

void Peer::OnHash(const Message& message) {
  Seat& from = seats_[message.slot];
  // An honest seat has run no frame without an input of ours.
  const std::uint64_t newest = std::uint64_t{frame_} + delay() + 1;
  if (message.frame <= from.last_hash || message.frame > newest ||
      message.frame % static_cast<std::uint32_t>(options_.hash_every) != 0) {
    ++counters_.dropped;
    return;
  }
  from.last_hash = message.frame;
  if (message.frame > frame_) {
    return from.hashes.Put(message.frame, message.value);
  }
  const auto own =
      seats_[static_cast<std::size_t>(seat_)].hashes.Find(message.frame);
  if (own) Compare(message.slot, message.frame, *own, message.value);
}

void Peer::Compare(int seat, std::uint32_t frame, std::uint32_t own,
                   std::uint32_t theirs) {
  if (own == theirs) {
    // A state may look right again once what was wrong has been written over.
    if (desync_ >= 0 && frame > desync_) return;
    std::int64_t& agreed = seats_[static_cast<std::size_t>(seat)].agreed;
    agreed = std::max<std::int64_t>(agreed, frame);
    return;
  }
  if (frame == 0) {
    return End(PeerEnd::kOtherBuild, CloseReason::kNormal,
               SeatText(seat,
                        "plays another build of this game, or with "
                        "other options"));
  }
  if (desync_ >= 0 && desync_ <= frame) return;
  desync_ = frame;
  desync_seat_ = seat;
}

// ---- Steps

StepResult Peer::Step(TimePoint now) {
  if (!InMatch()) return StepResult::kNotPlaying;
  AskInput();
  if (!InMatch()) return StepResult::kNotPlaying;
  if (state_ == PeerState::kPlaying) SendInputs(now);
  if (waiting_for() != 0) {
    ++counters_.stalls;
    return StepResult::kStalled;
  }
  Run();
  if (InMatch()) TakeHash(now);
  return StepResult::kRan;
}

void Peer::Flush(TimePoint now) {
  if (state_ == PeerState::kPlaying) SendInputs(now);
}

bool Peer::all_said() const {
  return state_ == PeerState::kPlaying && !resend_wanted_ &&
         send_next_ == said_end_;
}

void Peer::AskInput() {
  const std::uint32_t due = frame_ + delay();
  if (said_end_ > due) return;
  words_[due % kOwnWords] = game_.Input(due);
  said_end_ = due + 1;
}

void Peer::SendInputs(TimePoint now) {
  // One resend after another, never anew from within: the newest inputs get
  // their turn however many RESUMEs arrive.
  if (resend_wanted_ && send_next_ >= resend_end_) StartResend();
  SendHashes(now);
  // Words that gave way are of frames that everyone has run.
  if (said_end_ - send_next_ > kOwnWords) send_next_ = said_end_ - kOwnWords;
  for (; send_next_ < said_end_; ++send_next_) {
    if (send_next_ < resend_end_ && !HasBudget(now)) return;
    Send(now, {.kind = Kind::kInput,
               .slot = static_cast<std::uint8_t>(seat_),
               .frame = send_next_,
               .value = words_[send_next_ % kOwnWords]});
    if (send_next_ < sent_end_) ++counters_.resends;
    sent_end_ = std::max(sent_end_, send_next_ + 1);
  }
  SendHashes(now);
}

void Peer::StartResend() {
  resend_wanted_ = false;
  // Another seat may still lack the frame before the oldest it can be at.
  const std::uint32_t back = delay() + 1;
  send_next_ = std::max(delay(), frame_ > back ? frame_ - back : 0);
  resend_end_ = said_end_;
}

// A hash follows the own inputs that its state was made with. If the link were
// lost for good between the two, a bot would play those frames to the others,
// and the hash would be a false alarm.
void Peer::SendHashes(TimePoint now) {
  const HashRing& own = seats_[static_cast<std::size_t>(seat_)].hashes;
  const auto every = static_cast<std::uint32_t>(options_.hash_every);
  for (; hash_next_ <= std::min(frame_, send_next_); hash_next_ += every) {
    const auto hash = own.Find(hash_next_);
    if (!hash) continue;
    Send(now, {.kind = Kind::kHash,
               .slot = static_cast<std::uint8_t>(seat_),
               .frame = hash_next_,
               .value = *hash});
  }
}

void Peer::Run() {
  std::array<std::uint32_t, 32> inputs{};
  std::uint32_t bots = 0;
  const auto players = static_cast<std::size_t>(match_->players);
  for (std::size_t s = 0; s < players; ++s) {
    InputWindow& window = seats_[s].inputs;
    if (static_cast<int>(s) == seat_) {
      if (frame_ >= delay()) inputs[s] = words_[frame_ % kOwnWords];
    } else if (window.empty()) {
      bots |= Bit(static_cast<int>(s));
    } else {
      inputs[s] = window.Take();
    }
  }
  game_.Step(frame_, std::span(inputs.data(), players), bots);
  ++frame_;
}

// The hash of frame f is that of the state before f runs.
void Peer::TakeHash(TimePoint now) {
  if (frame_ % static_cast<std::uint32_t>(options_.hash_every) != 0) return;
  const std::uint32_t own = game_.Hash();
  if (!InMatch()) return;
  seats_[static_cast<std::size_t>(seat_)].hashes.Put(frame_, own);
  if (state_ == PeerState::kPlaying) SendHashes(now);
  for (int s = 0; s < match_->players && InMatch(); ++s) {
    if (s == seat_) continue;
    const auto theirs = seats_[static_cast<std::size_t>(s)].hashes.Find(frame_);
    if (theirs) Compare(s, frame_, own, *theirs);
  }
}

bool Peer::HasBudget(TimePoint now) const {
  return budget_ - now <= (kSendBurst - 1) * kSendInterval;
}

void Peer::Send(TimePoint now, const Message& message) {
  // Bounded, so that a game of more than 200 steps a second, whose inputs are
  // never held back, has not spent the resends of hours to come.
  budget_ = std::min(std::max(budget_, now) + kSendInterval,
                     now + 2 * kSendBurst * kSendInterval);
  connection_->Send(Lane::kReliable, MessageKind::kBinary, Encode(message));
}

// ---- Getters

std::uint32_t Peer::waiting_for() const {
  if (!match_) return 0;
  const bool bots_play = options_.left_seat == LeftSeat::kBot;
  std::uint32_t mask = 0;
  for (int s = 0; s < match_->players; ++s) {
    if (s == seat_ || !seats_[static_cast<std::size_t>(s)].inputs.empty()) {
      continue;
    }
    if (!bots_play || (lost_ & Bit(s)) == 0) mask |= Bit(s);
  }
  return mask;
}

std::int64_t Peer::agreed(int seat) const {
  if (seat < 0 || static_cast<std::size_t>(seat) >= seats_.size()) return -1;
  return seats_[static_cast<std::size_t>(seat)].agreed;
}

std::uint32_t Peer::bots() const {
  if (!match_ || options_.left_seat != LeftSeat::kBot) return 0;
  std::uint32_t mask = 0;
  for (int s = 0; s < match_->players; ++s) {
    const bool taken = seats_[static_cast<std::size_t>(s)].inputs.empty();
    if (s != seat_ && taken) mask |= Bit(s) & lost_;
  }
  return mask;
}

}  // namespace parlor::lockstep
