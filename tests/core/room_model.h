// A second lockstep room, written from the rules alone and as plainly as it
// goes: maps and lists, all history kept, nothing fast. Tests let it and the
// real one do the same and compare every byte. It shares no code with the room
// but the constants of the options.
#ifndef PARLOR_TESTS_CORE_ROOM_MODEL_H_
#define PARLOR_TESTS_CORE_ROOM_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parlor/lockstep/room.h"

namespace parlor::test {

class RoomModel {
 public:
  using Conn = int;         // connections are numbers here
  using Ns = std::int64_t;  // and time is one

  static constexpr Ns kNeverNs = std::numeric_limits<Ns>::max();

  struct Counts {
    std::uint64_t relayed = 0, delivered = 0, stale = 0, ignored = 0;
    std::uint64_t kicked_rate = 0, kicked_size = 0;
  };

  // `draw` gives what the room's entropy would.
  RoomModel(Ns now, int players, const lockstep::RoomOptions& options,
            std::function<std::uint32_t()> draw)
      : opened_at_(now),
        size_(players),
        options_(options),
        draw_(std::move(draw)) {
    seed_ = options.seed ? *options.seed : draw_();
  }

  // --- The same calls that a room has

  void Join(Ns now, Conn conn) {
    CatchUp(now);
    if (stage_ != Stage::kLobby) {
      Close(conn, 4000, "room full");
      return;
    }
    int number = 0;
    while (sitters_.count(number) > 0) ++number;
    sitters_[number].conn = conn;
    if (!StartIfDue(now)) Announce();
  }

  void Resume(Ns now, Conn conn, const std::string& text) {
    CatchUp(now);
    const std::optional<int> number = SeatOfToken(text);
    if (!number) {
      Close(conn, 4002, "seat gone");
      return;
    }
    FlushAll();
    Sitter& sitter = sitters_.at(*number);
    if (sitter.conn) Close(*sitter.conn, 4001, "resumed");
    sitter.conn = conn;
    sitter.held_until.reset();
    Welcome(*number);
    Send(conn, Bytes(5, *number, players(), 0, 0, 0));
    for (const auto& [other, theirs] : sitters_) {
      if (other == *number) continue;
      const std::size_t count = std::min<std::size_t>(theirs.inputs.size(), 64);
      for (std::size_t i = theirs.inputs.size() - count;
           i < theirs.inputs.size(); ++i) {
        Send(conn, theirs.inputs[i]);
      }
    }
    for (const auto& [other, theirs] : sitters_) {
      if (other == *number) continue;
      if (theirs.gone) {
        Send(conn, Bytes(4, other, players(), 0, 0, 0));
      } else if (theirs.held_until) {
        Send(conn, Bytes(6, other, players(), 0, 0, 0));
      } else if (theirs.been_away) {
        Send(conn, Bytes(5, other, players(), 0, 0, 0));
      }
    }
    SendToOthers(*number, Bytes(5, *number, players(), 0, 0, 0));
  }

  void Message(Ns now, Conn conn, bool binary, std::string bytes) {
    CatchUp(now);
    const std::optional<int> number = SeatOf(conn);
    if (!number || !CountMessage(now, *number)) return;
    if (!binary || bytes.size() != 12) {
      ++counts_.kicked_size;
      PutOut(*number, 1009, "message size");
      return;
    }
    const int kind = Byte(bytes[0]);
    if (stage_ == Stage::kLobby) {
      if (kind != 7 || *number != 0) {
        ++counts_.ignored;
        return;
      }
      pending_ = Start{Byte(bytes[2]), Byte(bytes[3])};
      StartIfDue(now);
      return;
    }
    if (kind != 1 && kind != 2) {
      ++counts_.ignored;
      return;
    }
    std::uint32_t frame = 0;
    for (std::size_t i = 7; i >= 4; --i) {
      frame = frame * 256 + static_cast<std::uint32_t>(Byte(bytes[i]));
    }
    Sitter& sitter = sitters_.at(*number);
    std::set<std::uint32_t>& frames = sitter.frames[kind];
    if (!frames.empty() && frame <= *frames.rbegin()) {
      ++counts_.stale;
      return;
    }
    const auto before = Awaited();
    frames.insert(frame);
    bytes[1] = static_cast<char>(*number);
    if (kind == 1) sitter.inputs.push_back(bytes);
    active_at_ = now;
    ++counts_.relayed;
    Relay(now, *number, bytes);
    if (options_.gather_ms == 0) return FlushAll();
    const auto after = Awaited();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i].second > before[i].second) Flush(after[i].first);
    }
  }

  void Control(Ns now, Conn conn) {
    CatchUp(now);
    const std::optional<int> number = SeatOf(conn);
    if (number) CountMessage(now, *number);
  }

  void Closed(Ns now, Conn conn, int code) {
    CatchUp(now);
    const std::optional<int> number = SeatOf(conn);
    if (!number) return;
    const std::set<int> drops = {1006, 1011, 1012, 1014};
    if (stage_ == Stage::kPlaying && drops.count(code) > 0 &&
        options_.hold_ms > 0) {
      Sitter& sitter = sitters_.at(*number);
      sitter.conn.reset();
      sitter.waiting.clear();
      sitter.held_until = now + options_.hold_ms * 1'000'000;
      sitter.been_away = true;
      FlushAll();
      SendToOthers(*number, Bytes(6, *number, players(), 0, 0, 0));
      return;
    }
    Gone(*number);
  }

  void Kick(Ns now, int number) {
    CatchUp(now);
    const auto found = sitters_.find(number);
    if (found == sitters_.end() || stage_ == Stage::kEnded) return;
    if (!found->second.gone) PutOut(number, 1008, "kicked");
  }

  void Alarm(Ns now) { CatchUp(now); }

  void End(int code, const std::string& text) {
    FlushAll();
    for (auto& [number, sitter] : sitters_) {
      if (sitter.conn) Close(*sitter.conn, code, text);
    }
    sitters_.clear();
    stage_ = Stage::kEnded;
  }

  // --- What goes on elsewhere

  struct Waiting {
    std::uint64_t number = 0;  // how many had been relayed before it
    Ns since = 0;
    std::string bytes;
  };
  struct Sitter {
    std::optional<Conn> conn;
    std::vector<Waiting> waiting;  // for it
    std::optional<std::uint32_t> token;
    std::optional<Ns> held_until;
    bool been_away = false;
    bool gone = false;
    std::map<int, std::set<std::uint32_t>> frames;  // by kind
    std::vector<std::string> inputs;                // all of them
    std::vector<Ns> said_at;                        // what its rate counts
  };
  // All that another room needs, as of when it was asked for.
  struct Kept {
    std::map<int, Sitter> sitters;
    Ns age = 0;
  };
  Kept Keep(Ns now) const {
    const Ns age =
        std::min((now - opened_at_) / 1'000'000, options_.lifetime_ms);
    return {.sitters = sitters_, .age = age * 1'000'000};
  }
  // Every link is gone with the process, and what was kept goes on in another,
  // where all seats have just dropped.
  void Restart(Ns now, const Kept& kept) {
    for (auto& [conn, wire] : wires_) wire.open = false;
    const Ns hold_ms = options_.hold_ms > 0 ? options_.hold_ms : 20'000;
    sitters_ = kept.sitters;
    for (auto& [number, sitter] : sitters_) {
      sitter.conn.reset();
      sitter.waiting.clear();
      sitter.said_at.clear();
      if (sitter.gone) continue;
      sitter.held_until = now + hold_ms * 1'000'000;
      sitter.been_away = true;
    }
    stage_ = Stage::kPlaying;
    opened_at_ = now - kept.age;
    active_at_ = now;
    counts_ = {};
  }

  // --- What the world around it does to connections

  void Open(Conn conn) { wires_[conn].open = true; }
  void Lose(Conn conn) { wires_.at(conn).open = false; }
  void FillUpAfter(Conn conn, int messages) {
    wires_.at(conn).takes = messages;
  }

  // --- What is compared

  enum class Stage { kLobby, kPlaying, kEnded };
  Stage stage() const { return stage_; }
  int players() const { return players_ > 0 ? players_ : size_; }
  const Counts& counts() const { return counts_; }
  int seated() const {
    return CountIf([](const Sitter& s) { return s.conn; });
  }
  int held() const {
    return CountIf([](const Sitter& s) { return s.held_until; });
  }
  std::optional<int> SeatOf(Conn conn) const {
    for (const auto& [number, sitter] : sitters_) {
      if (sitter.conn == conn) return number;
    }
    return std::nullopt;
  }
  // What a connection was told since it was last asked: a message is its 12
  // bytes, a close is "closed <code> <text>".
  std::vector<std::string> Take(Conn conn) {
    return std::exchange(wires_.at(conn).told, {});
  }
  bool is_open(Conn conn) const { return wires_.at(conn).open; }
  Ns next_deadline() const {
    const auto deadline = Earliest();
    if (!deadline) return kNeverNs;
    Ns next = std::get<0>(*deadline);
    for (const auto& [number, sitter] : sitters_) {
      if (sitter.waiting.empty()) continue;
      next = std::min(next, sitter.waiting.front().since + gather_ns());
    }
    return next;
  }

  // --- For choosing what to do next

  std::optional<std::uint32_t> TokenOf(int number) const {
    const auto found = sitters_.find(number);
    if (found == sitters_.end() || found->second.gone) return std::nullopt;
    return found->second.token;
  }
  std::uint32_t LastFrame(Conn conn, int kind) const {
    const std::optional<int> number = SeatOf(conn);
    if (!number) return 0;
    const auto& frames = sitters_.at(*number).frames;
    const auto found = frames.find(kind);
    return found == frames.end() ? 0 : *found->second.rbegin();
  }

 private:
  struct Start {
    int count = 0;
    int mode = 0;
  };
  struct Wire {
    bool open = false;
    std::optional<int> takes;
    std::vector<std::string> told;
  };
  // When, in which order at one instant, and of which seat.
  using Deadline = std::tuple<Ns, int, int>;

  static int Byte(char c) { return static_cast<unsigned char>(c); }

  static std::string Bytes(int kind, int slot, int players, int mode,
                           std::uint32_t frame, std::uint32_t value) {
    std::string bytes;
    for (int byte : {kind, slot, players, mode}) {
      bytes += static_cast<char>(byte);
    }
    for (std::uint32_t number : {frame, value}) {
      for (int i = 0; i < 4; ++i) {
        bytes += static_cast<char>(number & 255);
        number /= 256;
      }
    }
    return bytes;
  }

  template <typename Test>
  int CountIf(Test test) const {
    int count = 0;
    for (const auto& [number, sitter] : sitters_) count += test(sitter) ? 1 : 0;
    return count;
  }

  bool Send(Conn conn, const std::string& bytes) {
    Wire& wire = wires_.at(conn);
    if (!wire.open) return false;
    if (wire.takes == 0) {
      Close(conn, 1011, "too slow");
      return false;
    }
    if (wire.takes) --*wire.takes;
    wire.told.push_back(bytes);
    return true;
  }

  void Close(Conn conn, int code, const std::string& text) {
    Wire& wire = wires_.at(conn);
    if (!wire.open) return;
    wire.open = false;
    wire.told.push_back("closed " + std::to_string(code) + " " + text);
  }

  void SendToOthers(int number, const std::string& bytes) {
    for (const auto& [other, sitter] : sitters_) {
      if (other == number || !sitter.conn) continue;
      Send(*sitter.conn, bytes);
    }
  }

  // Of each connected seat, the lowest last INPUT frame of the others; -1:
  // somebody has said none.
  std::vector<std::pair<int, std::int64_t>> Awaited() const {
    std::vector<std::pair<int, std::int64_t>> last;
    for (const auto& [number, sitter] : sitters_) {
      if (!sitter.conn) continue;
      const auto inputs = sitter.frames.find(1);
      const bool none = inputs == sitter.frames.end() || inputs->second.empty();
      last.emplace_back(number,
                        none ? -1 : std::int64_t{*inputs->second.rbegin()});
    }
    auto awaited = last;
    for (auto& [number, lowest] : awaited) {
      lowest = std::numeric_limits<std::int64_t>::max();
      for (const auto& [other, frame] : last) {
        if (other != number) lowest = std::min(lowest, frame);
      }
    }
    return awaited;
  }

  // Waits for the others, until Flush.
  void Relay(Ns now, int number, const std::string& bytes) {
    // As much as is kept for all of them, which begins with the oldest.
    std::uint64_t store = 1;
    while (2 * store <= 8 * static_cast<std::uint64_t>(size_)) store *= 2;
    for (auto& [other, sitter] : sitters_) {
      if (sitter.waiting.empty()) continue;
      if (sitter.waiting.front().number + store == relayed_) Flush(other);
    }
    for (auto& [other, sitter] : sitters_) {
      if (other == number || !sitter.conn) continue;
      sitter.waiting.push_back({relayed_, now, bytes});
    }
    ++relayed_;
  }

  void Flush(int number) {
    Sitter& sitter = sitters_.at(number);
    for (const Waiting& each : std::exchange(sitter.waiting, {})) {
      if (Send(*sitter.conn, each.bytes)) ++counts_.delivered;
    }
  }

  void FlushAll() {
    for (const auto& [number, sitter] : sitters_) Flush(number);
  }

  void FlushDue(Ns now) {
    for (const auto& [number, sitter] : sitters_) {
      if (sitter.waiting.empty()) continue;
      if (sitter.waiting.front().since + gather_ns() <= now) Flush(number);
    }
  }

  Ns gather_ns() const { return options_.gather_ms * 1'000'000; }

  void Announce() {
    for (const auto& [number, sitter] : sitters_) {
      Send(*sitter.conn, Bytes(8, number, size_, seated(), 0, 0));
    }
  }

  void Welcome(int number) {
    const Sitter& sitter = sitters_.at(number);
    Send(*sitter.conn,
         Bytes(3, number, players(), mode_, seed_, *sitter.token));
  }

  bool StartIfDue(Ns now) {
    int need = size_;
    if (pending_) need = std::clamp(pending_->count, 1, size_);
    if (seated() < need) return false;
    std::map<int, Sitter> renumbered;
    for (const auto& [number, sitter] : sitters_) {
      renumbered[static_cast<int>(renumbered.size())] = sitter;
    }
    sitters_ = renumbered;
    players_ = static_cast<int>(sitters_.size());
    mode_ = pending_ ? pending_->mode : 0;
    stage_ = Stage::kPlaying;
    active_at_ = now;
    std::set<std::uint32_t> taken = {0};
    for (auto& [number, sitter] : sitters_) {
      std::uint32_t token = draw_();
      while (!taken.insert(token).second) token = draw_();
      sitter.token = token;
    }
    for (const auto& [number, sitter] : sitters_) Welcome(number);
    return true;
  }

  std::optional<int> SeatOfToken(const std::string& text) const {
    const std::string digits = "0123456789abcdefABCDEF";
    if (text.empty() || text.size() > 8 || stage_ != Stage::kPlaying ||
        text.find_first_not_of(digits) != std::string::npos) {
      return std::nullopt;
    }
    const std::uint64_t token = std::stoull(text, nullptr, 16);
    for (const auto& [number, sitter] : sitters_) {
      if (!sitter.gone && token == *sitter.token) return number;
    }
    return std::nullopt;
  }

  // A seat may say burst + rate * t messages in any stretch of t seconds.
  bool CountMessage(Ns now, int number) {
    std::vector<Ns>& said = sitters_.at(number).said_at;
    said.push_back(now);
    for (std::size_t i = 0; i < said.size(); ++i) {
      const auto count = static_cast<std::int64_t>(said.size() - i);
      if ((count - options_.message_burst) * 1'000'000'000 >
          (now - said[i]) * options_.message_rate_per_s) {
        ++counts_.kicked_rate;
        PutOut(number, 1008, "message rate");
        return false;
      }
    }
    return true;
  }

  void PutOut(int number, int code, const std::string& text) {
    FlushAll();
    const std::optional<Conn> conn = sitters_.at(number).conn;
    if (conn) Close(*conn, code, text);
    Gone(number);
  }

  void Gone(int number) {
    if (stage_ == Stage::kLobby) {
      sitters_.erase(number);
      if (number == 0) pending_.reset();
      Announce();
    } else {
      Sitter& sitter = sitters_.at(number);
      sitter.conn.reset();
      sitter.waiting.clear();
      sitter.held_until.reset();
      sitter.gone = true;
      FlushAll();
      SendToOthers(number, Bytes(4, number, players(), 0, 0, 0));
    }
    if (seated() == 0 && held() == 0) stage_ = Stage::kEnded;
  }

  std::optional<Deadline> Earliest() const {
    if (stage_ == Stage::kEnded) return std::nullopt;
    std::set<Deadline> all;
    if (stage_ == Stage::kLobby) {
      all.emplace(opened_at_ + options_.lobby_ms * 1'000'000, 0, -1);
    } else {
      all.emplace(active_at_ + options_.idle_ms * 1'000'000, 1, -1);
    }
    all.emplace(opened_at_ + options_.lifetime_ms * 1'000'000, 2, -1);
    for (const auto& [number, sitter] : sitters_) {
      if (sitter.held_until) all.emplace(*sitter.held_until, 3, number);
    }
    return *all.begin();
  }

  void CatchUp(Ns now) {
    FlushDue(now);
    for (auto deadline = Earliest(); deadline; deadline = Earliest()) {
      const auto [at, order, number] = *deadline;
      if (at > now) return;
      if (order == 0) End(1001, "room not filled");
      if (order == 1) End(1001, "room idle");
      if (order == 2) End(1001, "room time is up");
      if (order == 3) Gone(number);
    }
  }

  Ns opened_at_;
  const int size_;
  const lockstep::RoomOptions options_;
  const std::function<std::uint32_t()> draw_;
  std::uint32_t seed_ = 0;
  Stage stage_ = Stage::kLobby;
  int players_ = 0;  // 0 before the start
  int mode_ = 0;
  std::optional<Start> pending_;
  Ns active_at_ = 0;
  std::uint64_t relayed_ = 0;      // since the room was made
  std::map<int, Sitter> sitters_;  // by seat
  std::map<Conn, Wire> wires_;
  Counts counts_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_CORE_ROOM_MODEL_H_
