// The authority room of the parity suite: a game that uses all that the engine
// offers, and a room whose players may also say what a host or leader would.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_DUEL_H_
#define PARLOR_TESTS_SUPPORT_PARITY_DUEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/authority/message.h"
#include "parlor/authority/room.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/hosted_room.h"
#include "parlor/status.h"

namespace parlor::test {

// Players move, and drop crumbs that only the seats of their own parity see.
class Duel final : public authority::RoomAuthority {
 public:
  Duel() {
    for (const char* name : {"say", "crumb", "next", "fail"}) {
      PARLOR_CHECK(messages_.Define({.name = name, .bytes_max = 64}).ok());
    }
  }

  const authority::Schema& schema() const noexcept override { return schema_; }
  const authority::Messages& messages() const noexcept override {
    return messages_;
  }
  bool has_views() const noexcept override { return true; }

  absl::Status ValidateJoin(const authority::JoinRequest& request) override {
    return request.name == "Nobody" ? InvalidArgument("not you")
                                    : absl::OkStatus();
  }
  void AddPlayer(authority::Context& context,
                 const authority::Player& player) override {
    bodies_[player.seat] = {};
    Enter(context, player.seat);
    context.Send("say", "\"" + player.id + " is here\"");
  }
  void RemovePlayer(authority::Context& context,
                    const authority::Player& player) override {
    context.rows().Remove(bodies_.at(player.seat).row);
    bodies_.erase(player.seat);
  }
  void OnMessage(authority::Context& context, int seat, std::string_view name,
                 std::string_view payload) override {
    if (name == "say") context.Send("say", payload);
    if (name == "crumb") Crumb(context, seat);
    if (name == "next") {
      crumbs_.clear();
      context.NewEpoch();
      for (const auto& [number, body] : bodies_) Enter(context, number);
      context.SetPhase("level-" + std::to_string(++level_));
    }
    if (name == "fail") fails_ = true;
  }
  void Step(authority::Context& context,
            std::span<const authority::SeatInput> inputs) override {
    if (fails_) throw std::runtime_error("told to");
    for (const authority::SeatInput& input : inputs) {
      Body& body = bodies_.at(input.seat);
      body.own.position.x += static_cast<float>(input.frame.axes[0]) / 1e5F;
      body.own.velocity.y = static_cast<float>(input.frame.summed[1]);
      body.own.grounded = (input.frame.held & 1) != 0;
      context.rows().SetTransform(
          body.row, {.position = body.own.position, .rotation = {}});
      if (input.frame.pressed == 0) continue;
      context.SetHud(input.seat, R"({"pressed":)" +
                                     std::to_string(input.frame.pressed) + "}");
      context.Send("say", "\"click\"", input.seat);
    }
  }
  void WriteState(authority::Context&, authority::RowTable&) override {}
  bool InView(int seat, std::uint32_t row) override {
    const auto crumb = crumbs_.find(row);
    return crumb == crumbs_.end() || crumb->second % 2 == seat % 2;
  }
  std::optional<authority::OwnBody> Own(int seat) override {
    if (seat == 0) return std::nullopt;
    return bodies_.at(seat).own;
  }

 private:
  struct Body {
    authority::RowId row = 0;
    authority::OwnBody own{};
  };

  void Enter(authority::Context& context, int seat) {
    bodies_.at(seat).row = context.rows().Add(0);
    context.Possess(seat, bodies_.at(seat).row);
  }
  void Crumb(authority::Context& context, int seat) {
    const authority::RowId row = context.rows().Add(1);
    if (row == 0) return;  // all 32 are there
    crumbs_[row] = seat;
    context.rows().Set(row, 0, seat);
    context.rows().Set(row, 1, "left by " + std::to_string(seat));
  }

  authority::Schema schema_ = *authority::Schema::Create(
      {{.name = "body", .transform = true, .rows_max = 8},
       {.name = "crumb",
        .fields = {{.name = "by", .type = authority::FieldType::kInt},
                   {.name = "text", .type = authority::FieldType::kString}},
        .rows_max = 32}});
  authority::Messages messages_;
  std::map<int, Body> bodies_;
  std::map<authority::RowId, int> crumbs_;
  int level_ = 0;
  bool fails_ = false;
};

// A room that also obeys "!kick <seat>", "!lock", "!unlock", "!drain" and
// "!end", said as a text by anyone with a seat: what its host may do comes in
// the order of what its clients say, whatever carries that.
class ObeyingRoom final : public HostedRoom {
 public:
  explicit ObeyingRoom(std::unique_ptr<authority::Room> room)
      : room_(std::move(room)) {}

  void Admit(TimePoint now, Connection& connection,
             std::string_view identity) override {
    room_->Admit(now, connection, identity);
  }
  void OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    const std::string_view text = AsText(bytes);
    if (!text.starts_with('!') || room_->SeatOf(connection) < 0) {
      return room_->OnMessage(now, connection, kind, bytes);
    }
    if (text.starts_with("!kick ")) room_->Kick(now, text.back() - '0');
    if (text == "!lock") room_->SetLocked(now, true);
    if (text == "!unlock") room_->SetLocked(now, false);
    if (text == "!drain") room_->Drain(now);
    if (text == "!end") room_->End(now, CloseReason::kRoomEnded);
  }
  void OnControl(TimePoint now, Connection& connection) override {
    room_->OnControl(now, connection);
  }
  void OnClose(TimePoint now, Connection& connection, CloseCode code) override {
    room_->OnClose(now, connection, code);
  }
  void OnAlarm(TimePoint now) override { room_->OnAlarm(now); }
  TimePoint next_alarm() const override { return room_->next_alarm(); }
  void Drain(TimePoint now) override { room_->Drain(now); }
  void End(TimePoint now, CloseReason reason) override {
    room_->End(now, reason);
  }
  bool ended() const override { return room_->ended(); }
  std::uint64_t resumes() const override { return room_->resumes(); }
  int seated() const override { return room_->seated(); }

 private:
  std::unique_ptr<authority::Room> room_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_DUEL_H_
