#include "sim/recorder.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parlor/check.h"
#include "parlor/sim/network.h"
#include "sim/trace.h"

namespace parlor::sim {

void Recorder::AddMachine(std::string_view name) {
  machines_.emplace_back(name);
  if (trace_ != nullptr) trace_->AddMachine(machines_.back());
}

void Recorder::SetEnds(const Link& link, std::string_view client,
                       std::string_view host) {
  const Ends ends{&link, Place(client), Place(host)};
  const auto known =
      std::find_if(ends_.begin(), ends_.end(),
                   [&](const Ends& other) { return other.link == &link; });
  if (known == ends_.end()) {
    ends_.push_back(ends);
  } else {
    *known = ends;
  }
  if (trace_ != nullptr) trace_->SetEnds(link, ends.client, ends.host);
}

void Recorder::Mark(std::string_view machine, std::string_view what) {
  if (trace_ != nullptr) trace_->Mark(network_.now(), Place(machine), what);
}

void Recorder::Start(std::size_t events_max) {
  trace_ = std::make_unique<Trace>(events_max);
  for (const std::string& machine : machines_) trace_->AddMachine(machine);
  for (const Ends& ends : ends_) {
    trace_->SetEnds(*ends.link, ends.client, ends.host);
  }
  network_.SetSink(trace_.get());
}

std::string Recorder::Text() const {
  return trace_ == nullptr ? std::string() : trace_->Text();
}

std::string Recorder::Svg() const {
  return trace_ == nullptr ? std::string() : trace_->Svg();
}

std::size_t Recorder::Place(std::string_view machine) const {
  const auto found = std::find(machines_.begin(), machines_.end(), machine);
  PARLOR_CHECK(found != machines_.end());
  return static_cast<std::size_t>(found - machines_.begin());
}

}  // namespace parlor::sim
