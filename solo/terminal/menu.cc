#include "terminal/menu.h"

namespace parlor::solo {
namespace {

MenuAnswer Show(Overlay overlay) { return {MenuAct::kShow, overlay}; }

// Nothing lies over the match.
MenuAnswer OnOpenKey(Key key, const MenuRules& rules) {
  switch (key) {
    case Key::kPause:
      return Show(Overlay::kPaused);
    case Key::kHelp:
      return Show(Overlay::kHelp);
    case Key::kQuit:
      if (rules.alone && rules.over) return {MenuAct::kQuit};
      return Show(Overlay::kAskQuit);
    case Key::kRestart:
      if (rules.alone && !rules.over) return Show(Overlay::kAskRestart);
      return {MenuAct::kPlay};
    default:
      return {MenuAct::kPlay};
  }
}

MenuAnswer OnPausedKey(Key key, const MenuRules& rules) {
  switch (key) {
    case Key::kQuit:
      // Paused on purpose: no second question, where nobody else is hurt.
      return rules.alone ? MenuAnswer{MenuAct::kQuit} : Show(Overlay::kAskQuit);
    case Key::kRestart:
      return {rules.alone ? MenuAct::kRestart : MenuAct::kNone};
    case Key::kOpen:
      return {rules.alone ? MenuAct::kOpen : MenuAct::kNone};
    case Key::kHelp:
      return Show(Overlay::kHelp);
    case Key::kPause:
    case Key::kReady:
      return Show(Overlay::kNone);
    default:
      // A key that is still held from before the pause must not end it.
      return {MenuAct::kNone};
  }
}

}  // namespace

MenuAnswer OnMenuKey(Overlay overlay, Key key, const MenuRules& rules) {
  switch (overlay) {
    case Overlay::kNone:
      return OnOpenKey(key, rules);
    case Overlay::kPaused:
      return OnPausedKey(key, rules);
    case Overlay::kAskQuit:
      if (key == Key::kQuit) return {MenuAct::kQuit};
      return Show(Overlay::kNone);
    case Overlay::kAskRestart:
      if (rules.alone && key == Key::kRestart) return {MenuAct::kRestart};
      break;
    case Overlay::kHelp:
      break;
  }
  return Show(key == Key::kQuit ? Overlay::kAskQuit : Overlay::kNone);
}

bool IsOver(const Session& session) {
  const cycles::State* state = session.state();
  return state != nullptr && state->phase == cycles::Phase::kMatchOver;
}

void PressKey(Session& session, Key key) {
  const cycles::State* state = session.state();
  if (state == nullptr) return;
  const bool table = state->phase == cycles::Phase::kRoundOver ||
                     state->phase == cycles::Phase::kMatchOver;
  switch (key) {
    case Key::kUp:
      return session.Press(cycles::word::kUp);
    case Key::kDown:
      return session.Press(cycles::word::kDown);
    case Key::kLeft:
      return session.Press(cycles::word::kLeft);
    case Key::kRight:
      return session.Press(cycles::word::kRight);
    case Key::kBoost:
      return session.Press(table ? cycles::word::kReady : cycles::word::kBoost);
    case Key::kReady:
    case Key::kRestart:
      if (table) session.Press(cycles::word::kReady);
      return;
    default:
      return;
  }
}

}  // namespace parlor::solo
