#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "support/parity_script.h"
#include "support/parity_seat.h"
#include "support/parity_world.h"

namespace parlor::test {
namespace {

constexpr std::size_t kLinks = 3;
constexpr int kActions = 60;
// What a paused end's pipe holds before its lane is over the limit, which a
// socket's buffers would have taken long ago: scripts stay below it.
constexpr std::size_t kUnreadMax = 8 * 1024;

// Which end of a link: the one that connected or the one that accepted.
enum Side : std::size_t { kClient, kAccepted };

struct Link {
  explicit Link(std::size_t index)
      : ends{ParitySeat("client " + std::to_string(index)),
             ParitySeat("accepted " + std::to_string(index))} {
    for (ParitySeat& end : ends) {
      end.on_message = [&end](MessageKind, std::span<const std::byte> bytes) {
        Answer(end, AsText(bytes));
      };
    }
  }

  // Messages tell their receiver what to do inside its callback.
  static void Answer(ParitySeat& end, std::string_view text) {
    if (text.starts_with("echo")) {
      end.Send(std::string(text.substr(4)), MessageKind::kText);
    } else if (text.starts_with("close")) {
      end.connection->Close(4321, "you asked");
    } else if (text.starts_with("abort")) {
      end.connection->Abort();
    }
  }

  std::array<ParitySeat, 2> ends;
  std::array<bool, 2> paused{};         // it has no handler
  std::array<std::size_t, 2> unread{};  // sent to it while it was paused
};

class LinkHost final : public ParityHost {
 public:
  explicit LinkHost(std::vector<std::unique_ptr<Link>>& links)
      : links_(links) {}

  std::uint16_t Admit(TimePoint, const Hello& hello) override {
    // The number of a free link, or the status to refuse with.
    return hello.room < kLinks ? 0 : static_cast<std::uint16_t>(hello.room);
  }
  void Attach(TimePoint, std::unique_ptr<Connection> connection,
              const Hello& hello) override {
    ParitySeat& end = links_[hello.room]->ends[kAccepted];
    end.connection = std::move(connection);
    end.connection->SetHandler(&end);
  }
  void OnAlarm(TimePoint) override {}
  TimePoint next_alarm() const override { return kNever; }

 private:
  std::vector<std::unique_ptr<Link>>& links_;
};

class LinkScript {
 public:
  LinkScript(std::uint64_t seed, const MakeParityWorld& make_world)
      : random_(seed, /*stream=*/3),
        host_(links_),
        world_(make_world(host_, limits_)) {
    for (std::size_t i = 0; i < kLinks; ++i) {
      links_.push_back(std::make_unique<Link>(i));
    }
  }

  std::vector<std::string> Run() {
    for (int i = 0; i < kActions; ++i) {
      Act();
      Rest();
    }
    for (std::size_t i = 0; i < kLinks; ++i) {
      Resume(i, kClient);
      Resume(i, kAccepted);
    }
    Rest();
    for (const std::unique_ptr<Link>& link : links_) {
      OnSide(kAccepted, [&] { link->ends[kAccepted].connection.reset(); });
    }
    world_->Barrier();
    return std::move(trace_);
  }

 private:
  void Note(const std::string& action) { trace_.push_back("== " + action); }

  void Rest() {
    world_->Barrier();
    for (const std::unique_ptr<Link>& link : links_) {
      for (ParitySeat& end : link->ends) {
        for (std::string& line : end.Take()) trace_.push_back(std::move(line));
      }
    }
  }

  // Where an end's connection lives.
  void OnSide(std::size_t side, const std::function<void()>& task) {
    if (side == kAccepted) {
      world_->OnHost(task);
    } else {
      task();
    }
  }

  void Act() {
    const std::size_t index = random_.Below(kLinks);
    Link& link = *links_[index];
    if (link.ends[kClient].connection == nullptr &&
        link.ends[kAccepted].connection == nullptr) {
      return Connect(index, link);
    }
    const std::size_t side = random_.Below(2);
    if (link.ends[side].connection == nullptr) return;
    const std::uint32_t draw = random_.Below(32);
    if (draw < 12) return SendReliable(index, side);
    if (draw < 18) return SendState(index, side);
    if (draw < 21) return SendBoth(index, side);
    if (draw < 23) return Pause(index, side);
    if (draw < 26) return Resume(index, side);
    if (draw == 26) return LetTimePass();
    End(index, side, draw);
  }

  std::string Name(std::size_t index, std::size_t side) const {
    return (side == kClient ? "client " : "accepted ") + std::to_string(index);
  }

  void Connect(std::size_t index, Link& link) {
    link.paused = {};
    link.unread = {};
    Hello hello{.room = static_cast<std::uint32_t>(index), .players = 1};
    if (random_.Chance(1, 8)) {
      constexpr std::array<std::uint32_t, 4> kStatus = {403, 409, 429, 503};
      hello.room = kStatus[random_.Below(kStatus.size())];
    }
    Note("client " + std::to_string(index) + " asks for " +
         std::to_string(hello.room));
    link.ends[kClient].connection = world_->Connect(hello, &link.ends[kClient]);
    if (random_.Chance(1, 4) && hello.room == index) {
      // Before it is open.
      link.ends[kClient].Send("echo first");
      if (random_.Chance(1, 3)) link.ends[kClient].connection->Close(1000, "");
    }
  }

  // A message for the end on the other side; within what a pause allows.
  std::optional<std::string> Draw(Link& link, std::size_t side) {
    constexpr std::array<std::string_view, 4> kWords = {"", "echo", "plain",
                                                        "echo"};
    std::string text(kWords[random_.Below(kWords.size())]);
    text += std::to_string(++messages_);
    text += std::string(random_.Below(500), 'm');
    const std::size_t other = 1 - side;
    // What it answers, when it listens again, comes to this side.
    if (link.paused[other]) link.unread[other] += text.size() + 8;
    if (link.paused[side]) link.unread[side] += text.size() + 8;
    if (std::max(link.unread[0], link.unread[1]) > kUnreadMax) return {};
    return text;
  }

  void SendReliable(std::size_t index, std::size_t side) {
    Link& link = *links_[index];
    std::vector<std::string> messages;
    for (std::uint32_t n = random_.Below(5) + 1; n > 0; --n) {
      if (auto text = Draw(link, side)) messages.push_back(std::move(*text));
    }
    const auto kind =
        random_.Chance(1, 2) ? MessageKind::kText : MessageKind::kBinary;
    Note(Name(index, side) + " sends " + std::to_string(messages.size()));
    OnSide(side, [&] {
      for (const std::string& text : messages) link.ends[side].Send(text, kind);
    });
  }

  void SendState(std::size_t index, std::size_t side) {
    const std::uint32_t count = random_.Below(3) + 1;
    Note(Name(index, side) + " shows " + std::to_string(count));
    Link& link = *links_[index];
    const int first = messages_;
    messages_ += static_cast<int>(count);
    OnSide(side, [&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        link.ends[side].Send(std::to_string(first) + "." + std::to_string(i),
                             MessageKind::kBinary, Lane::kState);
      }
    });
  }

  void SendBoth(std::size_t index, std::size_t side) {
    SendState(index, side);
    SendReliable(index, side);
    SendState(index, side);
  }

  void Pause(std::size_t index, std::size_t side) {
    Link& link = *links_[index];
    Note(Name(index, side) + " stops listening");
    link.paused[side] = true;
    OnSide(side, [&] { link.ends[side].connection->SetHandler(nullptr); });
  }

  void Resume(std::size_t index, std::size_t side) {
    Link& link = *links_[index];
    link.unread[side] = 0;
    if (!std::exchange(link.paused[side], false)) return;
    Note(Name(index, side) + " listens again");
    OnSide(side, [&] {
      ParitySeat& end = link.ends[side];
      if (end.connection != nullptr) end.connection->SetHandler(&end);
    });
    world_->Barrier();
  }

  void LetTimePass() {
    const auto ms = static_cast<std::int64_t>(random_.Below(600));
    Note(std::to_string(ms) + " ms pass");
    world_->Advance(ms * kMillisecond);
  }

  // Every way to end. Here is the one place where transports would differ: an
  // end that is cut off (an abort, a destruction, a linger that ran out, an
  // overflow whose close never left) loses what the other had not taken yet,
  // and how much that is depends on buffers; the other may see 1006 for the
  // code as well. So both ends listen, and everything is at rest, before one
  // is cut off.
  void End(std::size_t index, std::size_t side, std::uint32_t draw) {
    Resume(index, kClient);
    Resume(index, kAccepted);
    Link& link = *links_[index];
    if (link.ends[side].connection == nullptr) return;
    Note(Name(index, side) + " ends it, way " + std::to_string(draw));
    switch (draw) {
      case 27:
        return Cut(link, side);
      case 28:
        return Overflow(link, side);
      case 29:
        return SendWrong(link, side);
      case 30:
        return MakeTheOtherEnd(link, side);
      default:
        return Close(link, side);
    }
  }

  void Cut(Link& link, std::size_t side) {
    const bool destroy = random_.Chance(1, 2);
    OnSide(side, [&] {
      if (destroy) {
        link.ends[side].connection.reset();
      } else {
        link.ends[side].connection->Abort();
      }
    });
  }

  // All of it is for the other end to read, and the close behind it.
  void Overflow(Link& link, std::size_t side) {
    const std::size_t size = random_.Below(1'000) + 500;
    OnSide(side, [&] {
      for (int i = 0; i < 100; ++i) {
        const SendResult result =
            link.ends[side].Send(std::to_string(i) + std::string(size, 'o'));
        if (result != SendResult::kQueued) {
          link.ends[side].Note((result == SendResult::kOverflow
                                    ? "overflow at "
                                    : "closed at ") +
                               std::to_string(i));
          return;
        }
      }
    });
  }

  void SendWrong(Link& link, std::size_t side) {
    const bool too_large = random_.Chance(1, 2);
    const Lane lane = random_.Chance(1, 2) ? Lane::kReliable : Lane::kState;
    OnSide(side, [&] {
      ParitySeat& end = link.ends[side];
      end.Send("before");
      if (too_large) {
        end.Send(std::string(limits_.message_bytes_max + 1, 'l'),
                 MessageKind::kBinary, lane);
      } else {
        end.Send("\xed\xa0\x80", MessageKind::kText, lane);
      }
      end.connection->SetHandler(&end);
    });
  }

  void MakeTheOtherEnd(Link& link, std::size_t side) {
    const bool abort = random_.Chance(1, 3);
    OnSide(side, [&] {
      link.ends[side].Send(abort ? "abort" : "close");
      if (!abort) link.ends[side].Send("unread");
    });
  }

  void Close(Link& link, std::size_t side) {
    constexpr std::array<CloseCode, 8> kCodes = {1000, 1001, 1003, 1011,
                                                 1012, 1014, 3000, 4999};
    const CloseCode code = kCodes[random_.Below(kCodes.size())];
    const bool both = random_.Chance(1, 4);
    const bool send = random_.Chance(1, 2);
    const auto close = [&](std::size_t which) {
      OnSide(which, [&] {
        ParitySeat& end = link.ends[which];
        if (end.connection == nullptr) return;
        if (send) end.Send("last words");
        end.connection->Close(code, which == side ? "so be it" : "me too");
      });
    };
    close(side);
    if (both) close(1 - side);
  }

  ParityLimits limits_;
  Random random_;
  std::vector<std::unique_ptr<Link>> links_;
  LinkHost host_;
  std::unique_ptr<ParityWorld> world_;
  std::vector<std::string> trace_;
  int messages_ = 0;
};

}  // namespace

std::vector<std::string> RunLinkScript(std::uint64_t seed,
                                       const MakeParityWorld& make_world) {
  return LinkScript(seed, make_world).Run();
}

}  // namespace parlor::test
