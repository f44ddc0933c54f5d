// Who a peer is connected to, and until when. What the room says and what a
// step does is in peer_play.cc.
#include "parlor/authority/peer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "authority/client_context.h"
#include "parlor/authority/limits.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/limits.h"
#include "parlor/name_rule.h"
#include "parlor/status.h"
#include "refusal_words.h"
#include "retry_wait.h"

namespace parlor::authority {
namespace {

// Who asks later than this whether the link is silent was asleep, and has not
// been given what waits for it.
constexpr Duration kLateMax = 250 * kMillisecond;

// The contract's: after any other close the room wants nobody back.
constexpr bool IsRetried(CloseCode code) {
  return code == close_code::kGoingAway || code == close_code::kDropped ||
         code == close_code::kInternal || code == close_code::kRestart ||
         code == close_code::kBadGateway;
}

struct Words {
  CloseCode code;
  std::string_view words;
};

// What a close means to a player. By code alone: a text may come from anyone.
constexpr Words kClosedWords[] = {
    {close_code::kNormal, "the room closed the connection"},
    {close_code::kGoingAway, "the connection to the room was lost"},
    {close_code::kDropped, "the connection to the room was lost"},
    {close_code::kPolicy, "put out of the room for too many messages"},
    {close_code::kTooBig, "put out of the room for a message too large"},
    {close_code::kInternal, "the connection to the room was too slow"},
    {close_code::kRestart, "the host restarts"},
    {close_code::kRoomFull, "every seat is taken"},
    {close_code::kResumed, "this seat went on in another place"},
    {close_code::kPutOut, "put out of the room"},
    {close_code::kRoomEnded, "the room is over"},
};

std::string_view DescribeClose(CloseCode code) {
  const auto* const row = std::ranges::find(kClosedWords, code, &Words::code);
  return row != std::end(kClosedWords) ? row->words
                                       : "the room closed the connection";
}

bool IsKnownCodec(const std::string& name) {
  return name == BinaryStateCodec().name() || name == JsonStateCodec().name();
}

}  // namespace

absl::Status ValidateOptions(const PeerOptions& options) {
  if (!IsProtocol(options.protocol)) {
    return InvalidArgument("protocol: not 1 to 64 printable ASCII characters");
  }
  if (options.codecs.empty() || options.codecs.size() > kCodecsMax ||
      !std::ranges::all_of(options.codecs, IsKnownCodec)) {
    return InvalidArgument("codecs: not a list of binary and json");
  }
  const std::pair<const Limit&, std::int64_t> rows[] = {
      {parlor::limits::kRetries, options.retries},
      {parlor::limits::kRetryMs, options.retry_ms},
      {parlor::limits::kConnectMs, options.connect_ms}};
  for (const auto& [limit, value] : rows) {
    absl::Status status = CheckLimit(limit, limit.name, value);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Peer::Peer(Connector& connector, const Schema& schema, const Messages& messages,
           PeerOptions options)
    : connector_(connector),
      schema_(schema),
      schema_json_(schema.ToJson()),
      known_(messages),
      options_(std::move(options)),
      jitter_(options_.jitter_seed),
      shown_(std::make_unique<StateReceiver>(schema)) {
  PARLOR_CHECK_OK(ValidateOptions(options_));
}

Peer::~Peer() = default;

absl::Status Peer::Join(TimePoint now, const Hello& hello,
                        const PlayerProfile& profile) {
  PARLOR_CHECK(state_ == PeerState::kIdle);
  PARLOR_CHECK(!hello.resume.has_value());
  if (!IsName(profile.name)) {
    return InvalidArgument("name: not one that a player may have");
  }
  if (profile.fields.size() > kFieldsBytesMax ||
      !IsJsonObject(profile.fields)) {
    return InvalidArgument("fields: not a JSON object of at most 1024 bytes");
  }
  hello_ = hello;
  profile_ = profile;
  state_ = PeerState::kConnecting;
  Connect(now);
  return absl::OkStatus();
}

void Peer::Connect(TimePoint now) {
  connection_ = connector_.Connect(now, hello_, this);
  PARLOR_CHECK(connection_ != nullptr);
  alarm_ = now + options_.connect_ms * kMillisecond;
}

// A try stays under its alarm until the welcome: a room that never answers must
// not hang it.
void Peer::OnOpen(TimePoint, Connection&) {
  if (state_ == PeerState::kEnded) return;
  if (state_ == PeerState::kConnecting) state_ = PeerState::kJoining;
  SendText(Write(JoinFrame{.protocol = options_.protocol,
                           .name = profile_.name,
                           .fields = profile_.fields,
                           .codecs = options_.codecs,
                           .resume = token_}));
}

void Peer::SendText(std::string_view text) {
  connection_->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
}

void Peer::Leave() {
  if (state_ == PeerState::kEnded) return;
  if (state_ == PeerState::kPlaying) SendText(Write(LeaveFrame{}));
  End(PeerEnd::kLeft, CloseReason::kNormal, "you left");
}

void Peer::OnClose(TimePoint now, Connection& connection,
                   const CloseEvent& event) {
  PARLOR_CHECK(&connection == connection_.get());
  const CloseCode code = event.code;
  const std::uint16_t refusal = event.refusal;
  connection_.reset();  // `connection` and `event.text` are gone from here on
  if (state_ == PeerState::kEnded) return;

  const bool again = welcome_.has_value();
  const bool for_good = refusal == 403 || refusal == 404;
  if (refusal != 0 && (for_good || !again)) {
    end_refusal_ = refusal;
    return Finish(PeerEnd::kRefused, code, RefusalWords(refusal));
  }
  if (again && IsRetried(code)) return OnLost(now, code);
  if (IsRetried(code)) {
    return Finish(PeerEnd::kConnectFailed, code, "the room cannot be reached");
  }
  Finish(PeerEnd::kClosed, code, DescribeClose(code));
}

void Peer::OnLost(TimePoint now, CloseCode code) {
  if (state_ == PeerState::kPlaying) tries_ = 0;
  state_ = PeerState::kReconnecting;
  ScheduleTry(now, code);
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
  if (state_ == PeerState::kPlaying) return OnSilence(now);
  if (state_ != PeerState::kReconnecting) {
    connection_.reset();
    return Finish(PeerEnd::kConnectFailed, close_code::kDropped,
                  "the room cannot be reached");
  }
  if (connection_ != nullptr) {
    connection_.reset();
    return ScheduleTry(now, close_code::kDropped);
  }
  ++tries_;
  Connect(now);
}

void Peer::OnSilence(TimePoint now) {
  if (now > heard_ + kSilenceMax + kLateMax) heard_ = now;
  if (now < heard_ + kSilenceMax) {
    alarm_ = heard_ + kSilenceMax;
    return;
  }
  ++counters_.dead_links;
  connection_.reset();
  OnLost(now, close_code::kDropped);
}

void Peer::End(PeerEnd end, CloseReason reason, std::string_view text) {
  if (connection_ != nullptr) connection_->Close(reason);
  Finish(end, Describe(reason).code, text);
}

void Peer::Finish(PeerEnd end, CloseCode code, std::string_view text) {
  PARLOR_CHECK(state_ != PeerState::kEnded);
  state_ = PeerState::kEnded;
  alarm_ = kNever;
  end_ = end;
  end_code_ = code;
  end_text_ = text;
}

}  // namespace parlor::authority
