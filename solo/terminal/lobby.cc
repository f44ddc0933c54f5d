#include "terminal/lobby.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

constexpr Style kHeading{.ink = Ink::kGold, .bold = true};
constexpr Style kFaintStyle{.ink = Ink::kFaint};

// Left of everything, so that a terminal's selection has room to begin.
constexpr int kMargin = 1;

struct Line {
  std::string text;
  Style style = {};
  bool places = false;  // drawn before the text
};

std::string PlacesText(const LobbyView& lobby) {
  return absl::StrCat(lobby.seated, " of ", lobby.size, " places taken");
}

// As the charges of the boost are.
void DrawPlaces(int x, int y, const LobbyView& lobby, const Symbols& symbols,
                Canvas& canvas) {
  for (int i = 0; i < lobby.size; ++i) {
    canvas.Put(x + i, y, i < lobby.seated ? symbols.full : symbols.empty,
               kHeading);
  }
}

// How others get in. Where there is no room for a row, the shell's command goes
// on in the next one.
void AddInvitation(const Invitation& invitation, int width,
                   std::vector<Line>& lines) {
  if (invitation.urls.empty()) return;
  lines.push_back({""});
  lines.push_back({"Friends join with"});
  for (std::string& row :
       JoinCommand(invitation.urls.front(), invitation.code, width)) {
    lines.push_back({std::move(row), kHeading});
  }
  lines.push_back({""});
  lines.push_back({absl::StrCat("invite code ", invitation.code)});
  for (std::size_t i = 1; i < invitation.urls.size(); ++i) {
    lines.push_back(
        {absl::StrCat(i == 1 ? "or at " : "      ", invitation.urls[i]),
         kFaintStyle});
  }
}

std::vector<Line> LobbyLines(const LobbyView& lobby, int width) {
  std::vector<Line> lines = {{"C Y C L E S with friends", kHeading}, {""}};
  if (!lobby.joined.empty()) {
    lines.push_back({lobby.connected ? "Connected to" : "Calling the host at"});
    lines.push_back({lobby.joined});
  } else if (!lobby.connected) {
    lines.push_back({"Opening the room"});
  }
  if (!lobby.connected) return lines;
  if (!lobby.joined.empty()) lines.push_back({""});
  const bool host = lobby.own_seat == 0;
  lines.push_back({.text = PlacesText(lobby), .places = true});
  if (host) {
    const cycles::Size& size =
        cycles::kSizes[static_cast<std::size_t>(lobby.game.size)];
    lines.push_back({GameText(lobby.game.level, size.width, size.height)});
    lines.push_back({"Enter starts; bots take the empty places"});
  } else {
    lines.push_back({"Waiting for the first player to start"});
  }
  if (lobby.invitation) AddInvitation(*lobby.invitation, width, lines);
  return lines;
}

std::string KeysText(const View& view, int width) {
  const LobbyView& lobby = *view.lobby;
  if (view.leaving) return "Leaving";
  if (view.overlay == Overlay::kAskQuit) {
    return "Quit? Q again quits, any other key stays";
  }
  if (!lobby.connected) return "Q gives up";
  const std::string_view quit =
      lobby.over_solo ? "Q back to your game" : "Q quits";
  if (lobby.own_seat != 0) return std::string(quit);
  const std::string both = absl::StrCat("Enter starts   ", std::string(quit));
  return std::string(Longest({both, "Enter  Q"}, width));
}

}  // namespace

void DrawLobby(const View& view, const Symbols& symbols, Canvas& canvas) {
  const LobbyView& lobby = *view.lobby;
  std::vector<Line> lines = LobbyLines(lobby, canvas.width() - kMargin);
  const int rows = canvas.height() - 1;  // the last one has the keys
  if (static_cast<int>(lines.size()) > rows) {
    std::erase_if(lines, [](const Line& line) { return line.text.empty(); });
  }
  int width = 0;
  for (const Line& line : lines) {
    width = std::max(width, static_cast<int>(line.text.size()));
  }
  const int x = std::max(kMargin, (canvas.width() - width) / 2);
  int y = std::max(0, (rows - static_cast<int>(lines.size())) / 2);
  for (const Line& line : lines) {
    if (y >= rows) break;
    if (line.places) DrawPlaces(x, y, lobby, symbols, canvas);
    canvas.Text(line.places ? x + lobby.size + 1 : x, y, line.text, line.style);
    ++y;
  }
  const std::string keys = KeysText(view, canvas.width());
  const bool asks = view.overlay == Overlay::kAskQuit;
  canvas.Text(std::max(0, (canvas.width() - static_cast<int>(keys.size())) / 2),
              canvas.height() - 1, keys,
              asks ? Style{.ink = Ink::kAlarm, .bold = true} : kFaintStyle);
}

}  // namespace parlor::solo
