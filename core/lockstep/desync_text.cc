#include <string>
#include <vector>

#include "parlor/lockstep/desync.h"

namespace parlor::lockstep {
namespace {

// "seat 2", "seats 0, 1, 3"; the side that nobody is on.
std::string SeatsText(const std::vector<int>& seats) {
  if (seats.empty()) return "what the game makes here";
  std::string text = seats.size() == 1 ? "seat " : "seats ";
  for (std::size_t i = 0; i < seats.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(seats[i]);
  }
  return text;
}

// "seat 2 differs from seats 0, 1, 3".
std::string WhoText(const DesyncReport& report) {
  std::string text;
  for (std::size_t i = 1; i < report.sides.size(); ++i) {
    const bool last = i + 1 == report.sides.size();
    text += i == 1 ? "" : last ? " and " : ", ";
    text += SeatsText(report.sides[i].seats);
  }
  const bool one =
      report.sides.size() == 2 && report.sides[1].seats.size() == 1;
  text += one ? " differs" : " differ";
  if (report.kind == DesyncKind::kInputs) text += " in the inputs";
  return text + " from " + SeatsText(report.sides[0].seats);
}

std::string JudgeText(const DesyncReport& report) {
  if (report.judge == DesyncJudge::kNobody) {
    return "; who is right is not known";
  }
  if (report.judge == DesyncJudge::kMajority || report.sides[0].seats.empty()) {
    return "";
  }
  return "; run again, the game makes what " +
         SeatsText(report.sides[0].seats) + " had";
}

std::string KindText(const DesyncReport& report) {
  if (report.kind == DesyncKind::kMatch) {
    return "; other rules or options, or another delay";
  }
  if (report.kind != DesyncKind::kBuild) return "";
  return "; another build: its state is another one" +
         (report.detail.empty() ? "" : " from " + report.detail + " on");
}

void AppendFields(const DesyncReport& report, std::string& text) {
  for (std::size_t i = 1; i < report.sides.size(); ++i) {
    const DesyncSide& side = report.sides[i];
    const std::string who =
        report.sides.size() > 2 ? SeatsText(side.seats) + ": " : "";
    for (const StateDifference& field : side.differences) {
      text += "\n  " + who + field.path + " is " + field.a + ", elsewhere " +
              field.b;
    }
    const std::size_t more = side.differences_total - side.differences.size();
    if (more > 0) {
      text += "\n  " + who + "and " + std::to_string(more) + " more";
    }
  }
}

}  // namespace

std::string DesyncText(const DesyncReport& report) {
  if (report.kind == DesyncKind::kNone) return "no difference";
  std::string text = "frame " + std::to_string(report.frame);
  if (!report.exact) text += " or earlier";
  text += ": " + WhoText(report) + KindText(report) + JudgeText(report);
  if (report.shown != report.frame) {
    text += "\n  by frame " + std::to_string(report.shown) + ":";
  }
  AppendFields(report, text);
  return text;
}

}  // namespace parlor::lockstep
