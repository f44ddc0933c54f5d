// What a client's systems are handed. Nothing they do leaves their page but the
// messages they send.
#ifndef PARLOR_CORE_AUTHORITY_CLIENT_CONTEXT_H_
#define PARLOR_CORE_AUTHORITY_CLIENT_CONTEXT_H_

#include <span>
#include <string_view>

#include "parlor/authority/context.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/message.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/row_table.h"

namespace parlor::authority {

class Peer::ClientContext final : public Context {
 public:
  explicit ClientContext(Peer& peer) : peer_(peer), rows_(peer.schema_) {}

  Role role() const override { return Role::kClient; }
  std::uint32_t tick() const override { return peer_.tick(); }
  int tick_hz() const override { return peer_.welcome_->tick_hz; }
  std::span<const Player> players() const override { return peer_.players_; }
  int local_seat() const override { return peer_.seat(); }
  const InputFrame& input(int seat) const override {
    static constexpr InputFrame kNeutral;
    return seat == local_seat() ? peer_.input_ : kNeutral;
  }
  std::span<const ReceivedMessage> messages() const override {
    return peer_.messages_;
  }
  RowTable& rows() override { return rows_; }

  // The room began another world: what the client made belongs to the old one.
  void BeginEpoch() { rows_.NewEpoch(); }

 private:
  bool DoSend(std::string_view name, std::string_view payload,
              int /*to*/) override {
    return peer_.Send(name, payload);
  }
  bool DoSetPhase(std::string_view /*phase*/) override { return true; }
  bool DoSetCamera(int seat, std::string_view json) override {
    return SetView(seat, json, peer_.camera_);
  }
  bool DoSetHud(int seat, std::string_view json) override {
    return SetView(seat, json, peer_.hud_);
  }
  bool DoPossess(int /*seat*/, std::uint32_t /*entity*/) override {
    return false;
  }
  void DoNewEpoch() override {}

  // Another player's is theirs and the authority's.
  bool SetView(int seat, std::string_view json, View& view) {
    if (player(seat) == nullptr) return false;
    if (json.size() > kMessageBytesMax ||
        (json != "null" && !IsJsonObject(json))) {
      ++peer_.counters_.unsent;
      return false;
    }
    if (seat == local_seat()) view.own = json;
    return true;
  }

  Peer& peer_;
  RowTable rows_;
};

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_CLIENT_CONTEXT_H_
