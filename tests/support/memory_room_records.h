// RoomRecords in memory: recordings of rooms that outlive them.
#ifndef PARLOR_TESTS_SUPPORT_MEMORY_ROOM_RECORDS_H_
#define PARLOR_TESTS_SUPPORT_MEMORY_ROOM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "parlor/host/room_records.h"

namespace parlor::test {

class MemoryRoomRecords final : public host::RoomRecords {
 public:
  struct Recorded {
    std::uint32_t number = 0;
    std::vector<std::byte> bytes;
  };

  Recording Open(std::uint32_t number) override {
    recordings.push_back({.number = number, .bytes = {}});
    return {.sink = std::make_unique<Sink>(*this, recordings.back()),
            .label = {.number = number, .game = {}, .started_unix_ms = 0}};
  }

  // Nothing reaches a file any more.
  bool killed = false;
  std::deque<Recorded> recordings;  // in the order in which they were begun

 private:
  class Sink final : public lockstep::ReplaySink {
   public:
    Sink(const MemoryRoomRecords& records, Recorded& to)
        : records_(records), to_(to) {}
    absl::Status Write(std::span<const std::byte> bytes) override {
      if (records_.killed) return absl::UnavailableError("killed");
      to_.bytes.insert(to_.bytes.end(), bytes.begin(), bytes.end());
      return absl::OkStatus();
    }

   private:
    const MemoryRoomRecords& records_;
    Recorded& to_;
  };
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_MEMORY_ROOM_RECORDS_H_
