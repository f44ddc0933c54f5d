// Chart: one sequence chart of a trace's events, as SVG.
//
// Lengths are whole pixels. Time is to scale where little happens in it; where
// labels need more room they get it, and a long silence is shortened and says
// how long it was.
#ifndef PARLOR_HOST_SIM_TRACE_CHART_H_
#define PARLOR_HOST_SIM_TRACE_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/trace.h"

namespace parlor::sim {

class Chart {
 public:
  // Of the events from `first` on; `trace` outlives it.
  Chart(const Trace& trace, std::size_t first);

  std::string Svg() &&;

 private:
  // An end of an arrow, in the order of time.
  struct Point {
    TimePoint at{};
    std::size_t event = 0;
    bool arrival = false;
    auto key() const { return std::tuple(at, event, arrival); }
  };
  struct Height {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  struct Label {
    TimePoint at{};
    std::int64_t y = 0;
  };
  struct Silence {
    Duration time{};
    std::int64_t y = 0;
  };

  const Trace::Event& At(std::size_t event) const {
    return trace_.At(first_ + event);
  }
  // At whose line an event is described.
  static std::size_t LabelMachine(const Trace::Event& event) {
    return event.mark || event.direction == Direction::kUp ? event.from
                                                           : event.to;
  }
  static std::int64_t X(std::size_t machine);
  std::int64_t width() const;

  std::vector<Point> Points() const;
  void Place();
  void PlaceTime(TimePoint at);

  void Head();
  void Lines();
  void Times();
  void Cuts();
  void Arrows();
  void Labels();
  void Cross(std::int64_t x, std::int64_t y);
  void Text(std::string_view style, std::int64_t x, std::int64_t y,
            std::string_view text);

  const Trace& trace_;
  const std::size_t first_;
  const std::size_t events_;
  std::vector<Height> heights_;  // of each event
  std::vector<Label> times_;
  std::vector<Silence> silences_;
  TimePoint time_{};  // at y_
  std::int64_t y_ = 0;
  std::string svg_;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_TRACE_CHART_H_
