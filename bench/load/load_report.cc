#include "load/load_report.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "load/decimal.h"
#include "load/findings.h"

namespace parlor::load {
namespace {

std::string Microseconds(std::int64_t ns) {
  return Decimal(static_cast<double>(ns) / 1e3, 1);
}

// What follows from the figures.
struct Derived {
  explicit Derived(const LoadOptions& options, const LoadResult& result) {
    if (result.seconds > 0) {
      delivered_per_s = static_cast<double>(result.delivered) / result.seconds;
    }
    if (!result.server) return;
    const auto cpu_ns = static_cast<double>(result.server->cpu_ns);
    if (result.delivered > 0) {
      cpu_us_per_delivered =
          cpu_ns / 1e3 / static_cast<double>(result.delivered);
    }
    if (result.seconds > 0) cpu_share = cpu_ns / 1e9 / result.seconds;
    if (options.idle > 0) {
      idle_bytes = static_cast<double>(result.server->after.rss_bytes -
                                       result.server->before.rss_bytes) /
                   options.idle;
    }
  }

  double delivered_per_s = 0;
  std::optional<double> cpu_us_per_delivered;
  std::optional<double> cpu_share;
  double idle_bytes = 0;
};

// An object of JSON, or several inside each other.
class Json {
 public:
  Json& Add(std::string_view key, std::string_view value) {
    text_ += text_.empty() ? "{" : ", ";
    text_.append("\"").append(key).append("\": ").append(value);
    return *this;
  }
  Json& Add(std::string_view key, std::uint64_t value) {
    return Add(key, std::to_string(value));
  }
  Json& Add(std::string_view key, std::optional<double> value, int digits) {
    return Add(key, value ? Decimal(*value, digits) : "null");
  }
  // Plain words.
  Json& AddText(std::string_view key, std::string_view value) {
    return Add(key, "\"" + std::string(value) + "\"");
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string Quantiles(const LatencyHistogram& histogram) {
  return Json()
      .Add("p50", Microseconds(histogram.Quantile(50, 100)))
      .Add("p99", Microseconds(histogram.Quantile(99, 100)))
      .Add("p999", Microseconds(histogram.Quantile(999, 1'000)))
      .Add("max", Microseconds(histogram.max()))
      .text();
}

std::string QuantilesLine(std::string_view name,
                          const LatencyHistogram& histogram) {
  char text[128];
  std::snprintf(text, sizeof(text), "%-18.*s%10s %10s %10s %10s\n",
                static_cast<int>(name.size()), name.data(),
                Microseconds(histogram.Quantile(50, 100)).c_str(),
                Microseconds(histogram.Quantile(99, 100)).c_str(),
                Microseconds(histogram.Quantile(999, 1'000)).c_str(),
                Microseconds(histogram.max()).c_str());
  return text;
}

std::string Line(std::string_view name, const std::string& value) {
  std::string line(name);
  line.resize(18, ' ');
  return line + value + "\n";
}

std::string MemoryText(const MemoryFigures& memory) {
  return Decimal(static_cast<double>(memory.rss_bytes) / 1e6, 1) + " MB (PSS " +
         Decimal(static_cast<double>(memory.pss_bytes) / 1e6, 1) + ")";
}

std::string ServerLines(const LoadOptions& options, const LoadResult& result) {
  if (!result.server) return "";
  const Derived derived(options, result);
  std::string text;
  if (derived.cpu_us_per_delivered) {
    text +=
        Line("server CPU", Decimal(*derived.cpu_us_per_delivered, 3) +
                               " us a delivered message, " +
                               Decimal(*derived.cpu_share, 3) + " of a core");
  }
  text +=
      Line("server memory", MemoryText(result.server->before) + " before, " +
                                MemoryText(result.server->after) + " after");
  if (options.idle > 0) {
    text += Line("a connection", Decimal(derived.idle_bytes, 0) +
                                     " bytes of it (what the kernel keeps for "
                                     "a socket is not in it)");
  }
  return text;
}

std::string TimedText(const LoadOptions& options) {
  if (options.timed_seats() == options.seats) return "all seats";
  return std::to_string(options.timed_seats()) + " of the " +
         std::to_string(options.seats) + " seats of each room; all are checked";
}

// Why a run is saturated.
std::string LimitText(const LoadResult& result) {
  if (result.own_cpu_share() > kCpuShareMax) {
    return "this program used " + Decimal(result.own_cpu_share(), 2) +
           " of its core";
  }
  return "one message in a hundred was sent " +
         Microseconds(result.late.Quantile(99, 100)) +
         " us late or later (do others use its core?)";
}

}  // namespace

int ExitCode(const LoadOptions& options, const LoadResult& result) {
  if (result.findings.count() > 0 || result.lost > 0) return kExitWrong;
  return IsSaturated(options, result) ? kExitSaturated : kExitRight;
}

std::string TextReport(const LoadOptions& options, const LoadResult& result) {
  if (options.idle > 0) {
    return Line("connections", std::to_string(options.idle) + ", idle") +
           ServerLines(options, result);
  }
  const Derived derived(options, result);
  const bool open = options.loop == LoadOptions::Loop::kOpen;
  std::string load = std::to_string(options.rooms) + " rooms x " +
                     std::to_string(options.seats) + " seats, ";
  load += open ? std::to_string(options.rate) + " frames a second, phases " +
                     std::string(Name(options.phases))
               : "closed loop";
  return Line("load", load) +
         Line("measured", Decimal(result.seconds, 3) + " s") +
         Line("delivered", std::to_string(result.delivered) + ", " +
                               Decimal(derived.delivered_per_s, 0) +
                               " a second") +
         Line("lost", std::to_string(result.lost)) +
         Line("timed", TimedText(options)) +
         Line("us", "       p50        p99       p999        max") +
         QuantilesLine("a message", result.message) +
         QuantilesLine("a whole frame", result.frame) +
         ServerLines(options, result) +
         Line("this program",
              Decimal(result.own_cpu_share(), 3) + " of a core, late by " +
                  Microseconds(result.late.Quantile(99, 100)) + " us (p99), " +
                  Microseconds(result.late.max()) + " (max)");
}

std::string JsonReport(const LoadOptions& options, const LoadResult& result) {
  const Derived derived(options, result);
  Json json;
  json.Add("rooms", options.rooms)
      .Add("seats", static_cast<std::uint64_t>(options.seats))
      .Add("rate", options.rate)
      .AddText("phases", Name(options.phases))
      .AddText("loop", Name(options.loop))
      .Add("timed", static_cast<std::uint64_t>(options.timed_seats()))
      .Add("seconds", result.seconds, 3)
      .Add("delivered", result.delivered)
      .Add("delivered_per_s", derived.delivered_per_s, 1)
      .Add("lost", result.lost)
      .Add("violations", result.findings.count())
      .Add("message_us", Quantiles(result.message))
      .Add("frame_us", Quantiles(result.frame))
      .Add("server_cpu_us_per_delivered", derived.cpu_us_per_delivered, 4)
      .Add("server_cpu_share", derived.cpu_share, 4)
      .Add("server_rss_bytes",
           result.server ? std::to_string(result.server->after.rss_bytes)
                         : "null")
      .Add(
          "generator",
          Json()
              .Add("cpu_share", result.own_cpu_share(), 4)
              .Add("late_us",
                   Json()
                       .Add("p99", Microseconds(result.late.Quantile(99, 100)))
                       .Add("max", Microseconds(result.late.max()))
                       .text())
              .Add("saturated", IsSaturated(options, result) ? "true" : "false")
              .text());
  if (options.idle > 0) {
    json.Add("idle", Json()
                         .Add("connections", options.idle)
                         .Add("rss_bytes_per_connection", derived.idle_bytes, 1)
                         .text());
  }
  return json.text() + "\n";
}

std::string Remarks(const LoadOptions& options, const LoadResult& result) {
  std::string text;
  for (const std::string& finding : result.findings.told()) {
    text += "room_load: " + finding + "\n";
  }
  const std::uint64_t more =
      result.findings.count() - result.findings.told().size();
  if (more > 0) {
    text += "room_load: and " + std::to_string(more) + " more of these\n";
  }
  if (IsSaturated(options, result)) {
    text += "room_load: SATURATED: " + LimitText(result) +
            ": these figures are of the generator, not of the server\n";
  }
  return text;
}

}  // namespace parlor::load
