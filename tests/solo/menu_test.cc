#include "terminal/menu.h"

#include <gtest/gtest.h>

#include <string>

namespace parlor::solo {
namespace {

constexpr MenuAnswer kNothing{MenuAct::kNone};
constexpr MenuAnswer kPlay{MenuAct::kPlay};
constexpr MenuAnswer kQuit{MenuAct::kQuit};
constexpr MenuAnswer kRestart{MenuAct::kRestart};
constexpr MenuAnswer kOpen{MenuAct::kOpen};
constexpr MenuAnswer kBack{MenuAct::kShow, Overlay::kNone};
constexpr MenuAnswer kPause{MenuAct::kShow, Overlay::kPaused};
constexpr MenuAnswer kHelp{MenuAct::kShow, Overlay::kHelp};
constexpr MenuAnswer kAskQuit{MenuAct::kShow, Overlay::kAskQuit};
constexpr MenuAnswer kAskRestart{MenuAct::kShow, Overlay::kAskRestart};

// What a key means alone, alone at the final table, and with others there.
struct MenuRow {
  const char* name;
  Overlay overlay;
  Key key;
  MenuAnswer alone;
  MenuAnswer over;
  MenuAnswer others;
};

class MenuTest : public ::testing::TestWithParam<MenuRow> {};

TEST_P(MenuTest, Answers) {
  const MenuRow& row = GetParam();
  EXPECT_EQ(OnMenuKey(row.overlay, row.key, {}), row.alone);
  EXPECT_EQ(OnMenuKey(row.overlay, row.key, {.over = true}), row.over);
  EXPECT_EQ(OnMenuKey(row.overlay, row.key, {.alone = false, .over = true}),
            row.others);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, MenuTest,
    ::testing::Values(
        MenuRow{"Up", Overlay::kNone, Key::kUp, kPlay, kPlay, kPlay},
        MenuRow{"Ready", Overlay::kNone, Key::kReady, kPlay, kPlay, kPlay},
        MenuRow{"Open", Overlay::kNone, Key::kOpen, kPlay, kPlay, kPlay},
        MenuRow{"Pause", Overlay::kNone, Key::kPause, kPause, kPause, kPause},
        MenuRow{"Help", Overlay::kNone, Key::kHelp, kHelp, kHelp, kHelp},
        MenuRow{"Quit", Overlay::kNone, Key::kQuit, kAskQuit, kQuit, kAskQuit},
        MenuRow{"Restart", Overlay::kNone, Key::kRestart, kAskRestart, kPlay,
                kPlay},
        MenuRow{"PausedUp", Overlay::kPaused, Key::kUp, kNothing, kNothing,
                kNothing},
        MenuRow{"PausedPause", Overlay::kPaused, Key::kPause, kBack, kBack,
                kBack},
        MenuRow{"PausedReady", Overlay::kPaused, Key::kReady, kBack, kBack,
                kBack},
        MenuRow{"PausedHelp", Overlay::kPaused, Key::kHelp, kHelp, kHelp,
                kHelp},
        MenuRow{"PausedQuit", Overlay::kPaused, Key::kQuit, kQuit, kQuit,
                kAskQuit},
        MenuRow{"PausedRestart", Overlay::kPaused, Key::kRestart, kRestart,
                kRestart, kNothing},
        MenuRow{"PausedOpen", Overlay::kPaused, Key::kOpen, kOpen, kOpen,
                kNothing},
        MenuRow{"HelpUp", Overlay::kHelp, Key::kUp, kBack, kBack, kBack},
        MenuRow{"HelpQuit", Overlay::kHelp, Key::kQuit, kAskQuit, kAskQuit,
                kAskQuit},
        MenuRow{"AskedQuit", Overlay::kAskQuit, Key::kQuit, kQuit, kQuit,
                kQuit},
        MenuRow{"AskedOther", Overlay::kAskQuit, Key::kReady, kBack, kBack,
                kBack},
        MenuRow{"AskedRestart", Overlay::kAskRestart, Key::kRestart, kRestart,
                kRestart, kBack},
        MenuRow{"AskedRestartQuit", Overlay::kAskRestart, Key::kQuit, kAskQuit,
                kAskQuit, kAskQuit}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::solo
