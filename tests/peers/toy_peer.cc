// A lockstep::Peer that plays a ToyGame with peers that are not ours. It joins
// a room, plays 60 frames a second up to --frames, and stays until it is told
// to leave or its standard input ends. Orders, one a line:
//   start <players> <mode>   the host's START
//   leave
// What happens, one a line:
//   lobby <seat> <seated>
//   match <seat> <players> <seed> <mode>
//   state <frame> <the game's state, hexadecimal>   before that frame runs
//   away <mask of seats>
//   lost <mask of seats>
//   played <first frame that differed or -1> <stalls> <resends>
//   end <PeerEnd> <code> <HTTP status or 0>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/lockstep/peer.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "peers/peer_program.h"
#include "support/toy_game.h"

namespace parlor::peers {
namespace {

class ToyPeer {
 public:
  ToyPeer(Connector& connector, std::uint32_t frames)
      : frames_(frames), peer_(connector, game_, {}) {
    game_.keep_frames = false;
    game_.word = [this](std::uint32_t frame) {
      const auto seat = static_cast<std::uint32_t>(game_.match()->seat);
      return (frame + 1) * 0x9e3779b1u ^ seat * 0x85ebca77u;
    };
    game_.on_start = [this] {
      const lockstep::Match& match = *game_.match();
      Say(absl::StrCat("match ", match.seat, " ", match.players, " ",
                       match.seed, " ", int{match.mode}));
      SayState(0);
    };
    game_.on_step = [this] { SayState(peer_.frame() + 1); };
  }

  void Join(TimePoint now, const Hello& hello) { peer_.Join(now, hello); }

  void Obey(std::string_view order) {
    const std::string_view verb = TakeWord(order);
    if (verb == "start") {
      const int players = TakeNumber<int>(order);
      peer_.Start(players, TakeNumber<std::uint8_t>(order));
    } else if (verb == "leave") {
      peer_.Leave();
    }
    SayNews();
  }

  // 60 times a second.
  void Tick(TimePoint now) {
    peer_.OnAlarm(now);
    if (peer_.frame() == frames_) {
      peer_.Flush(now);
    } else if (peer_.Step(now) == lockstep::StepResult::kRan &&
               peer_.frame() == frames_) {
      Say(absl::StrCat("played ", peer_.desync(), " ", peer_.counters().stalls,
                       " ", peer_.counters().resends));
    }
    SayNews();
  }

 private:
  void SayState(std::uint32_t frame) {
    Say(absl::StrCat("state ", frame, " ",
                     absl::Hex(game_.state(), absl::kZeroPad16)));
  }

  void SayNews() {
    if (peer_.state() == lockstep::PeerState::kLobby && peer_.seat() >= 0) {
      SayChange(lobby_,
                absl::StrCat("lobby ", peer_.seat(), " ", peer_.seated()));
    }
    SayChange(away_, absl::StrCat("away ", peer_.away()));
    SayChange(lost_, absl::StrCat("lost ", peer_.lost()));
    if (peer_.state() == lockstep::PeerState::kEnded) {
      SayChange(end_, absl::StrCat("end ", static_cast<int>(peer_.end()), " ",
                                   peer_.end_code(), " ", peer_.end_refusal()));
    }
  }

  static void SayChange(std::string& said, std::string line) {
    if (said == line) return;
    said = std::move(line);
    Say(said);
  }

  const std::uint32_t frames_;
  std::string lobby_;
  std::string away_ = "away 0";
  std::string lost_ = "lost 0";
  std::string end_;
  test::ToyGame game_;
  lockstep::Peer peer_;
};

int Main(int argc, char** argv) {
  CLI::App app("Plays a toy game in a lockstep room.");
  CommonOptions common;
  std::string url;
  std::uint32_t frames = 600;
  Hello hello;
  common.Declare(app);
  app.add_option("url", url)->required();
  app.add_option("--room", hello.room);
  app.add_option("--players", hello.players)->required();
  app.add_option("--access", hello.access);
  app.add_option("--frames", frames);
  CLI11_PARSE(app, argc, argv);

  NetLoop loop;
  host::OsEntropy entropy;
  NetConnectorOptions options;
  options.stream = common.stream;
  const auto connector = MakeNetConnector(loop, entropy, url, options);
  if (!connector.ok()) {
    std::fprintf(stderr, "%s\n", connector.status().ToString().c_str());
    return 1;
  }
  ToyPeer peer(**connector, frames);
  loop.Post([&] { peer.Join(loop.now(), hello); });
  InputLines input(loop, common.seconds,
                   [&](std::string_view line) { peer.Obey(line); });
  const std::jthread clock([&](const std::stop_token& stop) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t n = 1; !stop.stop_requested(); ++n) {
      std::this_thread::sleep_until(
          start + std::chrono::nanoseconds(n * 1'000'000'000 / 60));
      loop.Post([&] { peer.Tick(loop.now()); });
    }
  });
  loop.Run();
  return 0;
}

}  // namespace
}  // namespace parlor::peers

int main(int argc, char** argv) {
  return parlor::peers::RunMain(parlor::peers::Main, argc, argv);
}
