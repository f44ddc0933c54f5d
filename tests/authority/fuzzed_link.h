// A connection of authority_room_fuzz: lanes with a limit, of which a reader
// takes what it likes, and the client behind it. What the room may not do to a
// connection is checked as it does it; what it shows, as it is read.
#ifndef PARLOR_TESTS_AUTHORITY_FUZZED_LINK_H_
#define PARLOR_TESTS_AUTHORITY_FUZZED_LINK_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "authority/fuzzed_game.h"
#include "authority/state_model.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"

namespace parlor::authority {

class FuzzedLink final : public Connection {
 public:
  static constexpr std::size_t kReliableBytesMax = 24 * 1'024;

  FuzzedLink(FuzzedGame& game, std::string identity)
      : game_(game), identity_(std::move(identity)), receiver_(game.schema()) {}

  void SetHandler(ConnectionHandler* /*handler*/) override {}
  using Connection::Send;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override {
    PARLOR_CHECK(!closed_by_room_);  // it hears nothing more
    if (!open_) return SendResult::kClosed;
    Waiting message{
        .kind = kind, .bytes = {bytes.begin(), bytes.end()}, .shows = {}};
    if (kind == MessageKind::kBinary) {
      NoteState(lane, message);
    } else {
      NoteText(lane, message);
    }
    if (lane == Lane::kState) {
      state_ = std::move(message);
      return SendResult::kQueued;
    }
    queued_ += bytes.size() + kMessageOverhead;
    reliable_.push_back(std::move(message));
    if (queued_ <= kReliableBytesMax) return SendResult::kQueued;
    open_ = false;
    code_ = close_code::kInternal;
    return SendResult::kOverflow;
  }
  using Connection::Close;
  void Close(CloseCode code, std::string_view text) override {
    PARLOR_CHECK(IsSendableClose(code, text) && !closed_by_room_);
    closed_by_room_ = true;
    if (open_) code_ = code;
    open_ = false;
  }
  void Abort() override { Close(close_code::kGoingAway, ""); }
  bool is_open() const override { return open_; }
  std::size_t queued_bytes(Lane lane) const override {
    return lane == Lane::kReliable ? queued_ : 0;
  }
  std::string_view identity() const override { return identity_; }

  // The link ends with this code: its OnClose is still to be told.
  void Lose(CloseCode code) {
    if (open_) code_ = code;
    open_ = false;
  }
  CloseCode code() const { return code_; }

  // Takes one message of this lane.
  void Read(Lane lane) {
    if (lane == Lane::kState && state_) {
      const Waiting message = *std::exchange(state_, {});
      Show(message);
    } else if (lane == Lane::kReliable && !reliable_.empty()) {
      const Waiting message = std::move(reliable_.front());
      reliable_.pop_front();
      queued_ -= message.bytes.size() + kMessageOverhead;
      if (message.shows) Show(message);
    }
  }
  void LoseState() { state_.reset(); }

  // By what was sent to it: of its seat; and ticks as room.h counts them.
  std::optional<WelcomeFrame> welcome;
  bool news = false;  // a welcome the fuzzer has not seen
  std::uint32_t sent_tick = 0;
  std::optional<std::uint32_t> acked_tick;
  // By what it has read.
  std::uint32_t shown_tick() const { return receiver_.tick(); }
  std::uint32_t next_seq = 1;

 private:
  struct Waiting {
    MessageKind kind = MessageKind::kText;
    std::vector<std::byte> bytes;
    std::optional<ModelRows> shows;  // of a state frame
    bool baseline = false;
  };

  void NoteText(Lane lane, Waiting& message) {
    const ServerFrame frame = ParseServerFrame(AsText(message.bytes));
    PARLOR_CHECK(!std::holds_alternative<FrameRefusal>(frame));
    if (std::holds_alternative<StateTextFrame>(frame)) {
      return NoteState(lane, message);
    }
    PARLOR_CHECK(lane == Lane::kReliable);
    if (const auto* said = std::get_if<WelcomeFrame>(&frame)) {
      PARLOR_CHECK(!welcome);  // one a connection
      welcome = *said;
      news = true;
    } else {
      PARLOR_CHECK(welcome || std::holds_alternative<ErrorFrame>(frame));
    }
  }

  // Which rows it has to show once it is read.
  void NoteState(Lane lane, Waiting& message) {
    PARLOR_CHECK(welcome.has_value());
    const WireStateCodec& codec =
        welcome->codec == "json" ? JsonStateCodec() : BinaryStateCodec();
    PARLOR_CHECK(codec.message_kind() == message.kind);
    RowTable nothing(game_.schema());
    StateEdits edits;
    PARLOR_CHECK(codec.Decode(message.bytes, nothing, edits) !=
                 DecodeResult::kMalformed);
    const StateHeader& header = edits.header();
    message.baseline = header.kind == StateKind::kBaseline;
    // Baselines alone have to arrive.
    PARLOR_CHECK(message.baseline == (lane == Lane::kReliable));
    const ModelRows& rows = game_.written.at(header.tick);
    message.shows = game_.Seen(welcome->seat, rows);
    if (message.baseline) {
      // No view is asked about a row that is gone.
      const ModelRows& now = game_.written.rbegin()->second;
      if (game_.has_views()) {
        std::erase_if(*message.shows, [&](const auto& row) {
          return !now.contains(row.first);
        });
      }
      NoteBaseline(header, *message.shows);
    } else {
      PARLOR_CHECK(header.tick > sent_tick || last_was_baseline_);
      PARLOR_CHECK(header.tick == game_.written.rbegin()->first);
      // What a blocked viewer gets is no delta.
      PARLOR_CHECK(header.kind == StateKind::kRecovery || last_was_baseline_ ||
                   !HasBaselineWaiting());
    }
    if (!acked_tick) acked_tick = header.tick - 1;
    sent_tick = game_.written.rbegin()->first;
    last_was_baseline_ = message.baseline;
  }

  // One that is given once more is the same, whatever is seen by then.
  void NoteBaseline(const StateHeader& header, ModelRows& shows) {
    PARLOR_CHECK(!HasBaselineWaiting());
    if (base_ == header.base) {
      shows = base_shows_;
    } else {
      PARLOR_CHECK(header.base > base_);
      base_ = header.base;
      base_shows_ = shows;
    }
  }
  bool HasBaselineWaiting() const {
    for (const Waiting& waiting : reliable_) {
      if (waiting.baseline) return true;
    }
    return false;
  }

  void Show(const Waiting& message) {
    const StateOutcome outcome = receiver_.Apply(message.kind, message.bytes);
    PARLOR_CHECK(outcome != StateOutcome::kMalformed);
    if (outcome == StateOutcome::kStale) return;
    if (ModelOf(receiver_.rows()) == *message.shows) return;
    std::fputs(Difference(*message.shows, ModelOf(receiver_.rows())).c_str(),
               stderr);
    PARLOR_CHECK(false);
  }

  FuzzedGame& game_;
  const std::string identity_;
  StateReceiver receiver_;
  bool open_ = true;
  bool closed_by_room_ = false;
  CloseCode code_ = close_code::kDropped;
  std::deque<Waiting> reliable_;
  std::optional<Waiting> state_;
  std::size_t queued_ = 0;
  std::uint32_t base_ = 0;
  ModelRows base_shows_;
  bool last_was_baseline_ = false;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_FUZZED_LINK_H_
