#include "program/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string_view>

namespace parlor::host_program {
namespace {

spdlog::level::level_enum SpdlogLevel(host::LogLevel level) {
  return level == host::LogLevel::kWarning ? spdlog::level::warn
                                           : spdlog::level::info;
}

}  // namespace

host::LogSink StderrLog() {
  auto logger = std::make_shared<spdlog::logger>(
      "parlor-host", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
  return [logger](host::LogLevel level, std::string_view line) {
    // As text: a brace in it is no format.
    logger->log(SpdlogLevel(level),
                spdlog::string_view_t(line.data(), line.size()));
  };
}

}  // namespace parlor::host_program
