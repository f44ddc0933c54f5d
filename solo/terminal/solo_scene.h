// SoloScene: play against bots, which the player may open to friends. The match
// against bots waits in its pause until the one with friends begins.
#ifndef PARLOR_SOLO_TERMINAL_SOLO_SCENE_H_
#define PARLOR_SOLO_TERMINAL_SOLO_SCENE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "options.h"
#include "parlor/time.h"
#include "terminal/net_scene.h"
#include "terminal/scene.h"

namespace parlor::solo {

// Opens a room for friends. Unavailable: it cannot be had.
using OpenRoom = std::function<absl::StatusOr<NetGame>()>;

class SoloScene final : public Scene {
 public:
  SoloScene(const Options& options, OpenRoom open, TimePoint now)
      : open_(std::move(open)), match_(options, now) {}
  ~SoloScene() override;

  void Turn(TimePoint now) override;
  TimePoint next_turn() const override { return shown().next_turn(); }
  void OnKey(TimePoint now, Key key) override;
  void OnHidden(TimePoint now) override { shown().OnHidden(now); }
  void Quit(TimePoint now) override;
  View view() const override { return shown().view(); }
  std::uint64_t version() const override;
  bool done() const override;
  int exit_code() const override;
  std::string last_words() const override;

 private:
  void Open();
  void Close();
  Scene& shown() { return net_ ? static_cast<Scene&>(*net_) : match_; }
  const Scene& shown() const {
    return net_ ? static_cast<const Scene&>(*net_) : match_;
  }

  OpenRoom open_;
  MatchScene match_;
  std::unique_ptr<NetScene> net_;
  std::string record_;  // claimed for net_, or empty
  std::uint64_t switches_ = 0;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SOLO_SCENE_H_
