#include "terminal/net_scene.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "terminal/menu.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

using lockstep::PeerState;

// A match that waits is worth a word from here on; shorter waits are the
// network's, and pass before anybody has read it.
constexpr Duration kWaitingAfter = 500 * kMillisecond;
constexpr Duration kLeftNews = 3'000 * kMillisecond;
// In a lobby nothing is in a hurry, and a laptop may wait there for long.
constexpr Duration kLobbyTurnEvery = 10 * kMillisecond;
// How long the others may take to hear that we leave.
constexpr Duration kQuitMax = kSecond;

// From the loss of the link to the last try, if none takes any time.
Duration TriesTime() {
  const lockstep::PeerOptions options;
  return options.retry_ms * ((std::int64_t{1} << options.retries) - 1) *
         kMillisecond;
}

int SecondsUntil(TimePoint then, TimePoint now) {
  const Duration left = std::max(then - now, Duration::zero());
  return static_cast<int>((left + kSecond - Duration(1)) / kSecond);
}

}  // namespace

NetScene::NetScene(NetGame game)
    : game_(std::move(game)), session_(game_.session, *game_.link) {}

void NetScene::Turn(TimePoint now) {
  if (done_) return;
  turned_ = now;
  if (quit_by_ || session_.failed()) {
    game_.link->Turn(now);
  } else {
    session_.Turn(now);
    Look(now);
  }
  // Nothing has been played that is worth a last look.
  if (session_.failed() && !began()) Quit(now);
  if (quit_by_) done_ = session_.left() || now >= *quit_by_;
}

TimePoint NetScene::next_turn() const {
  if (quit_by_) return std::min(game_.link->next_turn(), *quit_by_);
  if (session_.failed()) {
    return session_.left() ? kNever : game_.link->next_turn();
  }
  const TimePoint next = session_.next_turn();
  const bool waits = session_.peer().state() == PeerState::kLobby;
  return waits ? std::max(next, turned_ + kLobbyTurnEvery) : next;
}

// Notes what changed, and since when.
void NetScene::Look(TimePoint now) {
  const lockstep::Peer& peer = session_.peer();
  Sight sight{.state = peer.state(),
              .own_seat = peer.seat(),
              .seated = peer.seated(),
              .away = peer.away(),
              .lost = peer.lost(),
              .left = now < left_until_ ? sight_.left : 0,
              .desync = peer.desync()};
  if (const std::uint32_t gone = peer.lost() & ~sight_.lost; gone != 0) {
    sight.left |= gone;
    left_until_ = now + kLeftNews;
  }
  if (sight_.state != PeerState::kReconnecting) lost_at_ = now;
  if (peer.state() == PeerState::kReconnecting) {
    sight.tries = peer.tries();
    sight.seconds_left = SecondsUntil(lost_at_ + TriesTime(), now);
  }
  if (!began() || ran_ != peer.frame()) ran_at_ = now;
  ran_ = peer.frame();
  if (peer.state() == PeerState::kPlaying && now - ran_at_ >= kWaitingAfter) {
    sight.waiting = peer.waiting_for();
  }
  if (session_.failed()) overlay_ = Overlay::kNone;  // the end is to be seen
  if (sight == sight_) return;
  sight_ = sight;
  ++changes_;
}

void NetScene::Show(Overlay overlay) {
  overlay_ = overlay;
  ++changes_;
  // What was typed before the menu is not wanted after it.
  session_.ClearPresses();
}

void NetScene::OnKey(TimePoint now, Key key) {
  if (quit_by_) return;
  if (session_.failed()) {
    if (key == Key::kQuit || key == Key::kReady) Quit(now);
    return;
  }
  if (!began()) return OnLobbyKey(now, key);
  const MenuAnswer answer =
      OnMenuKey(overlay_, key, {.alone = false, .over = IsOver(session_)});
  if (answer.act == MenuAct::kShow) return Show(answer.overlay);
  if (answer.act == MenuAct::kPlay) return PressKey(session_, key);
  if (answer.act == MenuAct::kQuit) return Quit(now);
}

void NetScene::OnLobbyKey(TimePoint now, Key key) {
  if (overlay_ != Overlay::kNone) {
    return key == Key::kQuit ? Quit(now) : Show(Overlay::kNone);
  }
  if (key == Key::kReady) return session_.Start();
  if (key != Key::kQuit) return;
  // Of those who wait in the own room somebody may miss it.
  const bool asks = game_.invitation && session_.peer().seated() > 1;
  return asks ? Show(Overlay::kAskQuit) : Quit(now);
}

void NetScene::Quit(TimePoint now) {
  if (quit_by_) return;
  session_.End();
  quit_by_ = now + kQuitMax;
  done_ = session_.left();
  overlay_ = Overlay::kNone;
  ++changes_;
}

LobbyView NetScene::Lobby() const {
  const lockstep::Peer& peer = session_.peer();
  return {.connected = peer.seat() >= 0,
          .own_seat = peer.seat(),
          .seated = peer.seated(),
          .size = peer.size(),
          .game = game_.session.game,
          .joined = game_.joined,
          .invitation = game_.invitation,
          .over_solo = game_.over_solo};
}

NetView NetScene::Net() const {
  const lockstep::Peer& peer = session_.peer();
  const std::uint32_t others = ~(1u << peer.seat());
  NetView net{.players = session_.match()->players,
              .away = sight_.away & others,
              .bots = sight_.lost & others,
              .left = sight_.left & others,
              .waiting = sight_.waiting,
              .listening = game_.invitation.has_value(),
              .end = session_.error()};
  if (sight_.state == PeerState::kReconnecting) {
    net.retry = RetryView{.number = std::max(sight_.tries, 1),
                          .most = peer.retries(),
                          .seconds_left = sight_.seconds_left};
  }
  return net;
}

std::string NetScene::Warning() const {
  const lockstep::Peer& peer = session_.peer();
  if (peer.desync() < 0) return RecordWarning(session_.record_status());
  return absl::StrCat("Since frame ", peer.desync(), " ",
                      std::string(PlayerName(peer.desync_seat(), peer.seat())),
                      " sees another match than you");
}

View NetScene::view() const {
  View view{.overlay = overlay_,
            .leaving = quit_by_.has_value(),
            .warning = Warning()};
  if (began()) {
    view.state = session_.state();
    view.own_seat = session_.match()->seat;
    view.net = Net();
  } else {
    view.lobby = Lobby();
  }
  return view;
}

int NetScene::exit_code() const {
  const bool well = !session_.failed() && session_.record_status().ok() &&
                    session_.peer().desync() < 0;
  return well ? kExitOk : kExitFailed;
}

std::string NetScene::last_words() const {
  std::string out;
  if (session_.failed()) {
    absl::StrAppend(&out, "parlor-solo: ", session_.error(), "\n");
  }
  if (const std::string warning = Warning(); !warning.empty()) {
    absl::StrAppend(&out, "parlor-solo: ", warning, "\n");
  }
  if (const auto& written = session_.desync_status();
      written && !written->ok()) {
    absl::StrAppend(
        &out, "parlor-solo: --desync: ", Printable(StatusText(*written)), "\n");
  }
  if (exit_code() == kExitOk && !game_.again.empty()) {
    absl::StrAppend(&out, "Again: ", game_.again, "\n");
  }
  return out;
}

}  // namespace parlor::solo
