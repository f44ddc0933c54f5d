// Recorder: the machines and links of a world, and what happened on them once
// that is recorded.
#ifndef PARLOR_HOST_SIM_RECORDER_H_
#define PARLOR_HOST_SIM_RECORDER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/sim/network.h"
#include "sim/trace.h"

namespace parlor::sim {

class Recorder {
 public:
  // `network` outlives it.
  explicit Recorder(Network& network) : network_(network) {}
  ~Recorder() { network_.SetSink(nullptr); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A machine by its name, which no other has: in the chart to the right of
  // those before it.
  void AddMachine(std::string_view name);
  // `link`, which outlives the recorder's use, joins these two.
  void SetEnds(const Link& link, std::string_view client,
               std::string_view host);
  // Something that happened at a machine itself: "crashes".
  void Mark(std::string_view machine, std::string_view what);

  // From here on; what was recorded before is gone.
  void Start(std::size_t events_max);
  // Empty: nothing is recorded.
  std::string Text() const;
  std::string Svg() const;

 private:
  struct Ends {
    const Link* link;
    std::size_t client;
    std::size_t host;
  };

  std::size_t Place(std::string_view machine) const;

  Network& network_;
  std::vector<std::string> machines_;
  std::vector<Ends> ends_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_RECORDER_H_
