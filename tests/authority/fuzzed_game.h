// A small game for authority_room_fuzz: it does in its next step what the
// fuzzer ordered, throws where it is told, and remembers what its rows were at
// each snapshot. It holds the room to the promises of room_authority.h.
#ifndef PARLOR_TESTS_AUTHORITY_FUZZED_GAME_H_
#define PARLOR_TESTS_AUTHORITY_FUZZED_GAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/state_model.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/text_budget.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/status.h"
#include "parlor/time.h"

namespace parlor::authority {

inline constexpr int kFuzzedSeatsMax = 4;

class FuzzedGame final : public RoomAuthority {
 public:
  // What it does in its next step, in turn: `what` says which of its acts.
  struct Order {
    std::uint8_t what = 0;
    std::uint8_t row = 0;
    std::uint8_t value = 0;
  };
  // Bits of `throws`.
  enum Call { kValidate, kAdd, kRemove, kMessage, kStep, kWrite, kView, kOwn };

  explicit FuzzedGame(bool views) : views_(views) {
    PARLOR_CHECK_OK(messages_.Define({.name = "vote", .bytes_max = 16}));
    PARLOR_CHECK_OK(messages_.Define(
        {.name = "picky", .check = [](std::string_view payload) {
           if (payload == "13") throw 13;
           return payload == "1";
         }}));
  }

  const Schema& schema() const noexcept override { return schema_; }
  const Messages& messages() const noexcept override { return messages_; }
  bool has_views() const noexcept override { return views_; }

  absl::Status ValidateJoin(const JoinRequest& request) override {
    MayThrow(kValidate);
    return request.fields == R"({"no":1})" ? InvalidArgument("not you")
                                           : absl::OkStatus();
  }

  void AddPlayer(Context& context, const Player& player) override {
    PARLOR_CHECK(context.player(player.seat) == &player);
    PARLOR_CHECK(ids_.insert(player.id).second);  // never one twice
    MayThrow(kAdd);
    PARLOR_CHECK(present_.insert({player.id, {*clock, 0}}).second);
    const RowId row = context.rows().Add(0);
    context.Possess(player.seat, row);
    context.Send("vote", "1", player.seat);
  }
  void RemovePlayer(Context& context, const Player& player) override {
    PARLOR_CHECK(context.player(player.seat) == nullptr);
    PARLOR_CHECK(present_.erase(player.id) == 1);
    heard_.erase(player.seat);  // what they said goes with them
    context.rows().Remove(player.entity);
    MayThrow(kRemove);
  }

  void OnMessage(Context& context, int seat, std::string_view name,
                 std::string_view payload) override {
    const Player* const from = context.player(seat);
    PARLOR_CHECK(from != nullptr && from->connected);
    PARLOR_CHECK(name == "vote" || (name == "picky" && payload == "1"));
    Present& present = present_.at(from->id);
    const auto refills = (*clock - present.since) / TextBudget::kRefill;
    PARLOR_CHECK(++present.texts <=
                 TextBudget::kTextsMax + TextBudget::kTextsRefilled * refills);
    ++heard_[seat];
    context.Send("picky", "1");
    MayThrow(kMessage);
  }

  void Step(Context& context, std::span<const SeatInput> inputs) override {
    std::map<int, int> waiting;
    for (const ReceivedMessage& message : context.messages()) {
      ++waiting[message.from];
    }
    PARLOR_CHECK(waiting == std::exchange(heard_, {}));
    PARLOR_CHECK(inputs.size() == context.players().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Player& player = context.players()[i];
      PARLOR_CHECK(inputs[i].seat == player.seat);
      const InputFrame neutral{.seq = inputs[i].frame.seq};
      PARLOR_CHECK(player.connected || inputs[i].frame == neutral);
      context.rows().Set(player.entity, kTransformFields,
                         std::int64_t{inputs[i].frame.seq});
    }
    for (const Order& order : std::exchange(orders, {})) Do(context, order);
    MayThrow(kStep);
  }

  void WriteState(Context& context, RowTable& rows) override {
    if ((throws >> kWrite & 1) != 0) ++unwritten;
    MayThrow(kWrite);
    written[context.tick()] = ModelOf(rows);
  }
  bool InView(int seat, RowId row) override {
    if (!Hides(seat, row)) return true;
    MayThrow(kView);
    return false;
  }
  std::optional<OwnBody> Own(int seat) override {
    MayThrow(kOwn);
    if ((own_ >> (seat % 4) & 1) == 0) return std::nullopt;
    OwnBody body;
    body.position = {1, static_cast<float>(seat), 2};
    if ((own_ & 16) != 0)
      body.velocity.x = std::numeric_limits<float>::infinity();
    return body;
  }

  // What this seat may see of these rows now.
  ModelRows Seen(int seat, ModelRows rows) const {
    if (views_) {
      std::erase_if(rows,
                    [&](const auto& row) { return Hides(seat, row.first); });
    }
    return rows;
  }

  const TimePoint* clock = nullptr;  // the fuzzer's clock
  std::vector<Order> orders;
  unsigned throws = 0;
  // Rows at each tick that was written, and ticks that were not.
  std::map<std::uint32_t, ModelRows> written;
  std::uint32_t unwritten = 0;
  const std::set<std::string>& ids() const { return ids_; }
  std::size_t present() const { return present_.size(); }

 private:
  struct Present {
    TimePoint since;
    int texts = 0;
  };

  void MayThrow(Call call) const {
    if ((throws >> call & 1) != 0) throw std::runtime_error("a game's fault");
  }
  bool Hides(int seat, RowId row) const {
    return (hidden_[static_cast<std::size_t>(seat)] >> (row % 8) & 1) != 0;
  }

  void Do(Context& context, const Order& order) {
    RowTable& rows = context.rows();
    const RowId row = order.row % 16;
    const int seat = order.row % kFuzzedSeatsMax;
    const auto real = static_cast<float>(order.value) / 7;
    switch (order.what % 14) {
      case 0:
      case 1:
        rows.Add(order.what % 2);
        break;
      case 2:
        rows.Remove(row);
        break;
      case 3:
        rows.Set(row, 0, real);
        break;
      case 4:
        rows.Set(row, 1, std::string(order.value, 'x'));
        break;
      case 5:
        rows.SetTransform(row, {.position = {real, 0, 1}, .rotation = {}});
        break;
      case 6:
        rows.Teleport(row, {.position = {0, real, 1}, .rotation = {}});
        break;
      case 7:
        hidden_[static_cast<std::size_t>(seat)] = order.value;
        break;
      case 8:
        own_ = order.value;
        break;
      case 9:
        if (order.value % 4 == 0) context.NewEpoch();
        break;
      case 10:
        context.SetPhase(order.value % 2 == 0 ? "play" : "over");
        break;
      case 11:
        context.SetCamera(seat,
                          R"({"zoom":)" + std::to_string(order.value) + "}");
        context.SetHud(seat, order.value % 2 == 0 ? "null" : "[");
        break;
      case 12:
        context.Send("vote", std::to_string(order.value),
                     order.value % 3 == 0 ? kEverybody : seat);
        break;
      default:
        rows.SetNull(row, 0);
        context.Possess(seat, order.value);
        break;
    }
  }

  const bool views_;
  Schema schema_ = *Schema::Create(
      {{.name = "player",
        .fields = {{.name = "seq", .type = FieldType::kInt}},
        .transform = true,
        .rows_max = 6},
       {.name = "thing",
        .fields = {{.name = "size", .type = FieldType::kFloat},
                   {.name = "text", .type = FieldType::kString}},
        .rows_max = 6}});
  Messages messages_;
  std::set<std::string> ids_;
  std::map<std::string, Present> present_;
  std::map<int, int> heard_;  // messages since the last step, by seat
  std::array<std::uint8_t, kFuzzedSeatsMax> hidden_{};
  std::uint8_t own_ = 0;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_FUZZED_GAME_H_
