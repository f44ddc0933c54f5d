#include "terminal/net_games.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "friends.h"
#include "net_links.h"
#include "room_url.h"

namespace parlor::solo {
namespace {

std::string UrlText(const RoomUrl& url) {
  return absl::StrCat(url.host_url, "/room/", url.room,
                      "?players=", url.players);
}

std::string HostAgain(const Options& options) {
  std::string again = absl::StrCat(
      ShellWord(options.program), " --listen ",
      options.listen.value_or(kListenPort), " --players ", options.game.players,
      " --level ", std::string(LevelName(options.game.level)), " --size ",
      SizeName(options.game.size));
  if (options.hold_s != Options{}.hold_s) {
    absl::StrAppend(&again, " --hold ", options.hold_s);
  }
  return again;
}

// The player typed the code or the pass: it is no news to the terminal. What
// was in a file stays there.
std::string JoinAgain(const Options& options) {
  std::string again = absl::StrCat(ShellWord(options.program), " --join ",
                                   ShellWord(UrlText(*options.join)));
  const bool pass = !options.pass.empty();
  const std::string& secret = pass ? options.pass : options.invite;
  if (secret.empty()) return again;
  absl::StrAppend(&again, pass ? " --pass " : " --invite ",
                  ShellWord(options.secret_file.empty()
                                ? secret
                                : absl::StrCat("@", options.secret_file)));
  return again;
}

}  // namespace

absl::StatusOr<NetGame> HostGame(const Options& options, Entropy& entropy) {
  absl::StatusOr<std::unique_ptr<ListenLink>> link =
      ListenLink::Create(ListenOptionsOf(options, entropy), entropy);
  if (!link.ok()) return link.status();
  NetGame game{.link = nullptr, .session = FriendSessionOf(options)};
  game.invitation =
      Invitation{.urls = (*link)->urls(), .code = (*link)->code()};
  game.again = HostAgain(options);
  game.link = *std::move(link);
  return game;
}

absl::StatusOr<NetGame> JoinGame(const Options& options, Entropy& entropy) {
  absl::StatusOr<std::unique_ptr<JoinLink>> link =
      JoinLink::Create(options.join->host_url, entropy);
  if (!link.ok()) return link.status();
  NetGame game{.link = *std::move(link), .session = FriendSessionOf(options)};
  game.joined = UrlText(*options.join);
  game.again = JoinAgain(options);
  return game;
}

absl::StatusOr<NetGame> OpenGame(Options options, Entropy& entropy) {
  options.listen = kListenPort;
  absl::StatusOr<NetGame> game = HostGame(options, entropy);
  if (absl::IsUnavailable(game.status())) {
    options.listen = 0;
    game = HostGame(options, entropy);
  }
  if (game.ok()) game->over_solo = true;
  return game;
}

}  // namespace parlor::solo
