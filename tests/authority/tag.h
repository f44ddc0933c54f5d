// Tag: the smallest game that a room can run and people can move in, and a
// client of it that says frames by hand.
#ifndef PARLOR_TESTS_AUTHORITY_TAG_H_
#define PARLOR_TESTS_AUTHORITY_TAG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/authority/frames.h"
#include "parlor/authority/hosted_game.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/hosted_game.h"
#include "parlor/time.h"

namespace parlor::test {

inline const authority::Schema& TagSchema() {
  static const authority::Schema schema = *authority::Schema::Create(
      {{.name = "runner", .transform = true, .rows_max = 16}});
  return schema;
}

// Everybody has a runner, whom the first axis moves 6 m a second at most.
class Tag final : public authority::RoomAuthority {
 public:
  const authority::Schema& schema() const noexcept override {
    return TagSchema();
  }
  const authority::Messages& messages() const noexcept override {
    return messages_;
  }
  void AddPlayer(authority::Context& context,
                 const authority::Player& player) override {
    runners_[player.seat] = {.row = context.rows().Add(0)};
    context.Possess(player.seat, runners_[player.seat].row);
  }
  void RemovePlayer(authority::Context& context,
                    const authority::Player& player) override {
    context.rows().Remove(runners_[player.seat].row);
    runners_.erase(player.seat);
  }
  void Step(authority::Context& context,
            std::span<const authority::SeatInput> inputs) override {
    for (const authority::SeatInput& input : inputs) {
      Runner& runner = runners_.at(input.seat);
      runner.x += static_cast<float>(input.frame.axes[0]) / 32'767.0F * 0.1F;
      context.rows().SetTransform(
          runner.row, {.position = {.x = runner.x}, .rotation = {}});
    }
  }
  void WriteState(authority::Context&, authority::RowTable&) override {}

 private:
  struct Runner {
    authority::RowId row = 0;
    float x = 0;
  };
  authority::Messages messages_;
  std::map<int, Runner> runners_;
};

inline HostedGame TagGame() {
  return authority::MakeHostedGame("tag", {.protocol = "tag-1"},
                                   [] { return std::make_unique<Tag>(); });
}

class TagClient final : private ConnectionHandler {
 public:
  explicit TagClient(std::string codec) : codec_(std::move(codec)) {}

  void Connect(Connector& way, TimePoint now, std::string key) {
    connection_ = way.Connect(now, {.play = std::move(key)}, this);
  }
  // As a link that was lost.
  void Lose() {
    connection_->Abort();
    connection_ = nullptr;
  }
  void Run(double part) {
    const authority::InputFrame input{
        .seq = ++seq_, .axes = {static_cast<std::int16_t>(part * 32'767)}};
    Say(authority::Write(input));
  }
  void Leave() { Say(authority::Write(authority::LeaveFrame())); }

  // Where the runner of that row is; nothing where there is none.
  std::optional<float> Place(std::uint32_t row) const {
    const authority::RowView view = state_->rows().Get(row);
    if (!view.exists()) return std::nullopt;
    return view.GetTransform().position.x;
  }
  bool open() const { return connection_ != nullptr; }

  std::optional<authority::WelcomeFrame> welcome;  // the newest
  std::vector<authority::RosterPlayer> roster;
  std::string close;  // "4004 room ended"

 private:
  void Say(const std::string& text) {
    if (connection_ == nullptr) return;
    connection_->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
  }

  void OnOpen(TimePoint, Connection&) override {
    authority::JoinFrame join{
        .protocol = "tag-1", .name = "Ada", .codecs = {codec_}};
    if (welcome) join.resume = welcome->token;
    seq_ = 0;
    Say(authority::Write(join));
  }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    if (kind == MessageKind::kBinary) return OnState(kind, bytes);
    const authority::ServerFrame frame =
        authority::ParseServerFrame(AsText(bytes));
    if (std::holds_alternative<authority::StateTextFrame>(frame)) {
      OnState(kind, bytes);
    } else if (const auto* w = std::get_if<authority::WelcomeFrame>(&frame)) {
      welcome = *w;
      state_.emplace(TagSchema());
    } else if (const auto* r = std::get_if<authority::RosterFrame>(&frame)) {
      roster = r->players;
    }
  }
  void OnState(MessageKind kind, std::span<const std::byte> bytes) {
    if (state_->Apply(kind, bytes) > authority::StateOutcome::kRecovery) return;
    Say(authority::Write(authority::AckFrame{.tick = state_->tick()}));
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    close = std::to_string(event.refusal != 0 ? event.refusal : event.code);
    close.append(" ").append(event.text);
    connection_ = nullptr;
  }

  const std::string codec_;
  std::unique_ptr<Connection> connection_;
  std::uint32_t seq_ = 0;
  std::optional<authority::StateReceiver> state_{TagSchema()};
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_AUTHORITY_TAG_H_
