#include "sim/trace_chart.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/printable.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/trace.h"

namespace parlor::sim {
namespace {

constexpr std::int64_t kTimeWidth = 90;
constexpr std::int64_t kHostWidth = 130;     // left of the first machine's line
constexpr std::int64_t kMachineWidth = 264;  // a label of 38 characters
constexpr std::int64_t kTop = 44;
constexpr std::int64_t kRow = 13;         // a label
constexpr std::int64_t kAbove = 3;        // its line: others go on below it
constexpr std::int64_t kPixelsPerMs = 2;  // 60 frames are 2,000
constexpr std::int64_t kSilence = 60;     // no more for a time without events
constexpr std::int64_t kLost = 60;        // from the client's line
constexpr std::int64_t kHeadEvery = 900;  // about a screen

// Light unless the reader's system is dark.
constexpr std::string_view kStyle = R"(<style>
svg{background:#fff;font:11px ui-monospace,Menlo,Consolas,monospace}
text{fill:#222;stroke:#fff;stroke-width:3px;paint-order:stroke}
path,line,rect{fill:none;stroke:#5b7fa6}
marker path{fill:#5b7fa6;stroke:none}
.name{font-weight:bold;text-anchor:middle}
.time{fill:#777;text-anchor:end}
.life{stroke:#bbb}
.gap{stroke:#bbb;stroke-dasharray:2 3}
.gone path,path.gone{stroke:#c22}
path.gone{stroke-dasharray:4 3}
.bad{fill:#c22;font-weight:bold}
.cut{fill:#c22;stroke:none;opacity:.35}
@media (prefers-color-scheme:dark){
svg{background:#16181d}
text{fill:#ddd;stroke:#16181d}
path,line,rect{stroke:#7ea6d1}
marker path{fill:#7ea6d1}
.time{fill:#999}
.life,.gap{stroke:#555}
.gone path,path.gone{stroke:#f66}
.bad{fill:#f66}
.cut{fill:#f66}
}
</style>
<marker id="end" orient="auto" markerWidth="8" markerHeight="6"
 refX="8" refY="3"><path d="M0 0L8 3L0 6z"/></marker>
)";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Number(std::int64_t value) { return std::to_string(value); }

std::string Move(std::int64_t x, std::int64_t y) {
  return "M" + Number(x) + " " + Number(y);
}

// Of what is drawn in red.
bool IsBad(const std::string& what) {
  return what.starts_with("lost") || what == "cut" || what == "reset" ||
         what.starts_with("refused");
}

}  // namespace

Chart::Chart(const Trace& trace, std::size_t first)
    : trace_(trace),
      first_(first),
      events_(trace.size() - first),
      heights_(events_) {}

std::int64_t Chart::X(std::size_t machine) {
  return kTimeWidth + kHostWidth / 2 +
         static_cast<std::int64_t>(machine) * kMachineWidth;
}

std::int64_t Chart::width() const { return X(trace_.machines_.size()); }

// --- Where everything is

std::vector<Chart::Point> Chart::Points() const {
  std::vector<Point> points;
  for (std::size_t i = 0; i < events_; ++i) {
    const Trace::Event& event = At(i);
    points.push_back({.at = event.sent, .event = i, .arrival = false});
    if (Trace::Arrives(event)) {
      points.push_back({.at = event.arrives, .event = i, .arrival = true});
    }
  }
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.key() < b.key(); });
  return points;
}

void Chart::Place() {
  std::vector<std::int64_t> free(trace_.machines_.size());
  y_ = kTop;
  const std::vector<Point> points = Points();
  if (!points.empty()) time_ = points.front().at;
  for (const Point& point : points) {
    const Trace::Event& event = At(point.event);
    PlaceTime(point.at);
    const std::size_t here = point.arrival ? event.to : event.from;
    const std::size_t label = LabelMachine(event);
    // What does not arrive is described where it would have.
    if (here == label || !Trace::Arrives(event)) {
      y_ = std::max(y_, free[label]);
      free[label] = y_ + kRow;
    }
    (point.arrival ? heights_[point.event].to : heights_[point.event].from) =
        y_;
    if (times_.empty() ||
        (times_.back().at != point.at && y_ - times_.back().y >= kRow)) {
      times_.push_back({.at = point.at, .y = y_});
    }
  }
  y_ += 2 * kRow;
}

void Chart::PlaceTime(TimePoint at) {
  const Duration passed = at - time_;
  time_ = at;
  const std::int64_t pixels = passed / kMicrosecond * kPixelsPerMs / 1'000;
  if (pixels > kSilence) {
    silences_.push_back({.time = passed, .y = y_ + kSilence / 2});
  }
  y_ += std::min(pixels, kSilence);
}

// --- Drawing

void Chart::Text(std::string_view style, std::int64_t x, std::int64_t y,
                 std::string_view text) {
  svg_ += "<text class=\"" + std::string(style) + "\" x=\"" + Number(x) +
          "\" y=\"" + Number(y) + "\">" + Escaped(text) + "</text>\n";
}

void Chart::Cross(std::int64_t x, std::int64_t y) {
  svg_ += "<g class=\"gone\"><path d=\"" + Move(x - 4, y - 4) + "l8 8" +
          Move(x - 4, y + 4) + "l8 -8\"/></g>\n";
}

void Chart::Head() {
  const std::string size = Number(width()) + "\" height=\"" + Number(y_);
  svg_ += "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
          "\" viewBox=\"0 0 " + Number(width()) + " " + Number(y_) + "\">\n";
  svg_ += kStyle;
  if (first_ + trace_.forgotten() > 0) {
    Text("", 4, 14, "the newest " + std::to_string(events_) + " events");
  }
}

void Chart::Lines() {
  for (std::size_t machine = 0; machine < trace_.machines_.size(); ++machine) {
    svg_ += "<path class=\"life\" d=\"" + Move(X(machine), kTop - 10) + "V" +
            Number(y_) + "\"/>\n";
  }
}

void Chart::Times() {
  for (const Label& time : times_) {
    Text("time", kTimeWidth - 8, time.y + 4, MillisecondsText(time.at));
  }
  for (const Silence& silence : silences_) {
    svg_ += "<path class=\"gap\" d=\"" + Move(kTimeWidth, silence.y) + "H" +
            Number(width()) + "\"/>\n";
    Text("time", kTimeWidth - 8, silence.y + 4,
         "+" + MillisecondsText(TimePoint(silence.time)));
  }
  for (std::int64_t y = kTop - 16; y < y_; y += kHeadEvery) {
    for (std::size_t i = 0; i < trace_.machines_.size(); ++i) {
      Text("name", X(i), y, trace_.machines_[i]);
    }
  }
}

// Beside the line of a link's client, for each direction, from its cut until it
// is healed or the chart ends.
void Chart::Cuts() {
  constexpr std::int64_t kNone = -1;
  std::vector<std::array<std::int64_t, 2>> cut(trace_.machines_.size(),
                                               {kNone, kNone});
  const auto end = [&](std::size_t machine, std::size_t direction,
                       std::int64_t y) {
    const std::int64_t from = std::exchange(cut[machine][direction], kNone);
    if (from == kNone) return;
    svg_ += "<rect class=\"cut\" x=\"" +
            Number(X(machine) - 8 + 4 * static_cast<std::int64_t>(direction)) +
            "\" y=\"" + Number(from) + "\" width=\"3\" height=\"" +
            Number(std::max<std::int64_t>(y - from, 1)) + "\"/>\n";
  };
  for (std::size_t i = 0; i < events_; ++i) {
    const Trace::Event& event = At(i);
    if (event.mark || !Trace::OfLink(event.what)) continue;
    const auto direction = static_cast<std::size_t>(event.direction);
    const std::size_t machine = LabelMachine(event);
    if (event.what == NetworkEvent::What::kCut &&
        cut[machine][direction] == kNone) {
      cut[machine][direction] = heights_[i].from;
    }
    if (event.what == NetworkEvent::What::kHealed) {
      end(machine, direction, heights_[i].from);
    }
  }
  for (std::size_t machine = 0; machine < cut.size(); ++machine) {
    end(machine, 0, y_);
    end(machine, 1, y_);
  }
}

void Chart::Arrows() {
  for (std::size_t i = 0; i < events_; ++i) {
    const Trace::Event& event = At(i);
    const std::int64_t x = X(event.from);
    const std::int64_t y = heights_[i].from;
    if (event.mark) {
      Cross(x, y);
    } else if (Trace::Arrives(event)) {
      svg_ += "<path marker-end=\"url(#end)\" d=\"" + Move(x, y) + "L" +
              Number(X(event.to)) + " " + Number(heights_[i].to) + "\"/>\n";
    } else if (!Trace::OfLink(event.what)) {
      // Beside the client's line, which only its own arrows come near.
      const std::int64_t client = X(LabelMachine(event));
      const std::int64_t other = x + X(event.to) - client;
      const std::int64_t there = client + (other < client ? -kLost : kLost);
      svg_ += "<path class=\"gone\" d=\"" + Move(x, y) + "L" + Number(there) +
              " " + Number(y + 4) + "\"/>\n";
      Cross(there, y + 4);
    }
  }
}

void Chart::Labels() {
  for (std::size_t i = 0; i < events_; ++i) {
    const Trace::Event& event = At(i);
    const std::size_t machine = LabelMachine(event);
    const bool arrives = Trace::Arrives(event) && machine == event.to;
    std::string what = trace_.What(event);
    const bool bad = event.mark || IsBad(what);
    if (!event.mark && Trace::OfLink(event.what)) {
      what += event.direction == Direction::kUp ? ", up" : ", down";
    }
    Text(bad ? "bad" : "what", X(machine) + 6,
         (arrives ? heights_[i].to : heights_[i].from) - kAbove, what);
  }
}

std::string Chart::Svg() && {
  Place();
  Head();
  Lines();
  Cuts();
  Arrows();
  Labels();
  Times();
  svg_ += "</svg>\n";
  return std::move(svg_);
}

}  // namespace parlor::sim
