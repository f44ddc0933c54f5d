#include "support/parity_authority_script.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/authority/room.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_room.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "support/parity_duel.h"
#include "support/parity_script.h"
#include "support/parity_seat.h"
#include "support/parity_world.h"

namespace parlor::test {
namespace {

using authority::InputFrame;

constexpr std::size_t kClients = 6;
constexpr int kActions = 80;
// Larger than any frame that a room takes, so that the room has to refuse it.
constexpr ParityLimits kLimits{.reliable_bytes_max = 64 * 1024,
                               .message_bytes_max = 8 * 1024};

std::unique_ptr<HostedRoom> MakeDuel(TimePoint now, Entropy& entropy) {
  authority::RoomOptions options;
  options.protocol = "duel 1";
  options.seats = 4;
  // Seconds are cheaper, and everything may happen within a few of them.
  options.tick_hz = 20;
  options.snapshot_hz = 10;
  options.grace_ms = 1'000;
  options.join_ms = 1'500;
  options.unjoined = 3;
  options.message_rate_per_s = 60;
  options.message_burst = 150;
  options.input_rate_per_s = 20;
  options.codecs = {&authority::BinaryStateCodec(),
                    &authority::JsonStateCodec()};
  return std::make_unique<ObeyingRoom>(std::make_unique<authority::Room>(
      now, options, std::make_unique<Duel>(), entropy));
}

host::ShardOptions DuelRooms() {
  host::ShardOptions options;
  options.play_rooms = {{.key = "duel", .open = true, .make = MakeDuel},
                        {.key = "other", .open = true, .make = MakeDuel}};
  return options;
}

// A client that reads what it is told and acks it, unless it is mute.
struct Client {
  explicit Client(std::size_t index) : end("client " + std::to_string(index)) {
    end.on_message = [this](MessageKind kind, std::span<const std::byte> b) {
      Read(kind, b);
    };
    end.on_state = end.on_message;
  }

  void Read(MessageKind kind, std::span<const std::byte> bytes) {
    if (kind == MessageKind::kText) {
      const authority::ServerFrame frame =
          authority::ParseServerFrame(AsText(bytes));
      if (const auto* welcome = std::get_if<authority::WelcomeFrame>(&frame)) {
        token = welcome->token;
      }
      if (!std::holds_alternative<authority::StateTextFrame>(frame)) return;
    }
    const authority::StateOutcome outcome = state->Apply(kind, bytes);
    if (outcome == authority::StateOutcome::kMalformed) {
      end.Note("a state frame that is malformed");
    }
    // A tick once: whether its delta or its baseline is first is the
    // transport's affair.
    if (mute || state->tick() <= acked_tick) return;
    acked_tick = state->tick();
    end.Send(AsText(authority::EncodeAck(acked_tick)));
  }
  // What it shows.
  std::string Rows() const {
    std::string text = "at " + std::to_string(state->tick());
    state->rows().ForEach([&](const authority::RowView& row) {
      text += " " + std::to_string(row.id());
      if (row.kind_index() != 0) return;
      text += ":" + std::to_string(row.GetTransform().position.x);
    });
    return text;
  }
  void Begin() {
    state.emplace(schema);
    asked = false;
    mute = false;
    seq = 0;
    acked_tick = 0;
  }

  ParitySeat end;
  const authority::Schema schema = Duel().schema();
  std::optional<authority::StateReceiver> state;  // of this connection
  std::optional<authority::ResumeToken> token;    // of the last welcome
  bool asked = false;  // on this connection, for a seat
  bool mute = false;
  std::uint32_t seq = 0;
  std::uint32_t acked_tick = 0;
};

class AuthorityScript {
 public:
  AuthorityScript(std::uint64_t seed, const MakeParityRooms& make_rooms)
      : random_(seed, /*stream=*/4),
        rooms_(make_rooms(DuelRooms(), seed, kLimits)) {
    for (std::size_t i = 0; i < kClients; ++i) {
      clients_.push_back(std::make_unique<Client>(i));
    }
  }

  std::vector<std::string> Run() {
    for (int i = 0; i < kActions; ++i) {
      Act();
      world().Barrier();
      Collect();
    }
    Note("the host leaves");
    rooms_->EndAll();
    world().Barrier();
    Collect();
    rooms_->Drop();
    world().Barrier();
    Collect();
    return std::move(trace_);
  }

 private:
  ParityWorld& world() { return rooms_->world(); }
  void Note(const std::string& action) { trace_.push_back("== " + action); }

  void Collect() {
    for (const std::unique_ptr<Client>& client : clients_) {
      if (client->end.is_open() && client->state->tick() != 0) {
        client->end.Note(client->Rows());
      }
      for (std::string& line : client->end.Take()) {
        trace_.push_back(std::move(line));
      }
    }
  }

  void Act() {
    const std::size_t index = random_.Below(kClients);
    Client& client = *clients_[index];
    const std::string who = "client " + std::to_string(index);
    if (random_.Chance(1, 4)) return LetTimePass();
    if (client.end.connection == nullptr) return Connect(who, client);
    if (!client.asked && random_.Chance(4, 5)) return Join(who, client);
    const std::uint32_t draw = random_.Below(32);
    if (draw < 12) return Play(who, client);
    if (draw < 18) return Message(who, client);
    if (draw < 22) return Odd(who, client);
    if (draw < 24) return Command(who, client);
    if (draw == 24) return SendWrong(who, client);
    if (draw == 25) return Flood(who, client);
    if (draw < 28) {
      client.mute = !client.mute;
      return Note(who + (client.mute ? " is mute" : " acks again"));
    }
    LoseLink(draw, who, client);
  }

  void LetTimePass() {
    const std::int64_t ms = random_.Below(random_.Chance(1, 10) ? 7'000 : 700);
    Note(std::to_string(ms) + " ms pass");
    world().Advance(ms * kMillisecond);
  }

  void Connect(const std::string& who, Client& client) {
    constexpr std::array<std::string_view, 8> kKeys = {
        "duel", "duel", "duel", "duel", "duel", "duel", "other", "nothing"};
    const Hello hello{.play = std::string(kKeys[random_.Below(kKeys.size())])};
    Note(who + " connects to " + hello.play);
    client.Begin();
    client.end.connection = world().Connect(hello, &client.end);
    if (random_.Chance(1, 8)) return;
    world().Barrier();
    if (client.end.is_open()) Join(who, client);
  }

  void Join(const std::string& who, Client& client) {
    authority::JoinFrame join{.protocol = "duel 1", .name = "Ann"};
    const std::uint32_t codec = random_.Below(4);
    if (codec < 2) join.codecs = {"json", "binary"};
    if (codec == 2) join.codecs = {"smoke", "binary"};
    const std::uint32_t draw = random_.Below(16);
    if (draw < 6) join.resume = client.token;
    if (draw == 6) join.resume = clients_[random_.Below(kClients)]->token;
    if (draw == 7) join.resume.emplace();
    if (draw == 8) join.protocol = "duel 2";
    if (draw == 9) join.name = "Nobody";
    std::string text = authority::Write(join);
    if (draw == 10) text.replace(text.find("Ann"), 3, "A\\u0007n");
    client.asked = draw != 7;
    Note(who + " says " + text);
    client.end.Send(text, MessageKind::kText);
  }

  void Play(const std::string& who, Client& client) {
    const std::uint32_t count = random_.Below(3) + 1;
    Note(who + " plays " + std::to_string(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      InputFrame input;
      if (!random_.Chance(1, 8)) ++client.seq;
      input.seq = client.seq == 0 ? 1 : client.seq;
      input.held = random_.Below(4);
      if (random_.Chance(1, 4)) input.pressed = random_.Below(4);
      input.axes[0] = static_cast<std::int16_t>(random_.Between(-999, 999));
      input.summed[1] = static_cast<std::int16_t>(random_.Between(-99, 99));
      if (random_.Chance(1, 3)) {
        client.end.Send(authority::Write(input), MessageKind::kText);
      } else {
        client.end.Send(AsText(authority::EncodeInput(input)));
      }
    }
  }

  void Message(const std::string& who, Client& client) {
    // Of those that do much to the room, few.
    constexpr std::array<std::string_view, 16> kNames = {
        "say",   "say",   "say",   "say",   "say",  "say",  "say",  "crumb",
        "crumb", "crumb", "crumb", "crumb", "next", "fail", "huh?", "aos:x"};
    authority::MsgFrame frame{
        .name = std::string(kNames[random_.Below(kNames.size())])};
    if (random_.Chance(1, 8)) frame.payload = std::string(65, '1');
    Note(who + " sends " + frame.name);
    client.end.Send(authority::Write(frame), MessageKind::kText);
  }

  // Frames that are out of place, of no kind or of none that is known.
  void Odd(const std::string& who, Client& client) {
    static const std::string deep = R"({"t":"msg","name":"say","payload":)" +
                                    std::string(40, '[') +
                                    std::string(40, ']') + "}";
    static const std::array<std::string, 14> odd = {
        authority::Write(authority::RttFrame{.at = 7.5}),
        authority::Write(authority::ResyncFrame()),
        authority::Write(authority::AckFrame{.tick = 0}),
        authority::Write(authority::AckFrame{.tick = 4'000'000'000}),
        R"({"t":"welcome"})",
        R"({"t":"of tomorrow","x":[1,2]})",
        R"({"t":"msg","name":"say","name":"say"})",
        R"({"t":"msg","name":"say","payload":1e999})",
        R"({"t":"input","seq":-1})",
        "not JSON",
        "",
        "[]",
        deep,
        authority::Write(
            authority::JoinFrame{.protocol = "duel 1", .name = "Again"})};
    const std::string& text = odd[random_.Below(odd.size())];
    Note(who + " says " + text);
    client.end.Send(text, MessageKind::kText);
  }

  void Command(const std::string& who, Client& client) {
    constexpr std::array<std::string_view, 9> kCommands = {
        "!kick 0", "!kick 1", "!kick 2", "!kick 3", "!lock",
        "!unlock", "!unlock", "!drain",  "!end"};
    const std::string_view text = kCommands[random_.Below(kCommands.size())];
    Note(who + " says " + std::string(text));
    client.end.Send(text, MessageKind::kText);
  }

  void SendWrong(const std::string& who, Client& client) {
    // The room's limit and the transport's, and one byte more.
    constexpr std::array<std::size_t, 7> kSizes = {1,     5,     37,   2'560,
                                                   2'561, 8'192, 8'193};
    const std::size_t size = kSizes[random_.Below(kSizes.size())];
    const bool text = random_.Chance(1, 2);
    // Half of the texts are none.
    const char fill = random_.Chance(1, 2) ? 'a' : '\xc3';
    Note(who + " sends " + std::to_string(size) + (text ? " text" : " bytes"));
    client.end.Send(std::string(size, fill),
                    text ? MessageKind::kText : MessageKind::kBinary);
    client.end.Send(authority::Write(authority::MsgFrame{.name = "say"}),
                    MessageKind::kText);
  }

  void Flood(const std::string& who, Client& client) {
    const std::uint32_t of = random_.Below(3);
    constexpr std::array<std::string_view, 3> kWhat = {"inputs", "messages",
                                                       "acks"};
    Note(who + " floods with " + std::string(kWhat[of]));
    for (int i = 0; i < 160; ++i) {
      if (of == 0) {
        client.end.Send(AsText(authority::EncodeInput({.seq = ++client.seq})));
      } else if (of == 1) {
        client.end.Send(authority::Write(authority::MsgFrame{.name = "say"}),
                        MessageKind::kText);
      } else {
        client.end.Send(AsText(authority::EncodeAck(1)));
      }
    }
  }

  void LoseLink(std::uint32_t how, const std::string& who, Client& client) {
    constexpr std::array<CloseCode, 9> kCodes = {1000, 1001, 1001, 1008, 1011,
                                                 1012, 1014, 4001, 4999};
    if (how == 28) {
      Note(who + " aborts");
      client.end.connection->Abort();
    } else if (how == 29) {
      Note(who + " is gone");
      client.end.connection.reset();
    } else if (how == 30) {
      Note(who + " leaves");
      client.end.Send(authority::Write(authority::LeaveFrame()),
                      MessageKind::kText);
    } else {
      const CloseCode code = kCodes[random_.Below(kCodes.size())];
      Note(who + " closes " + std::to_string(code));
      client.end.connection->Close(code, "as I like");
    }
  }

  Random random_;
  std::unique_ptr<ParityRooms> rooms_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::string> trace_;
};

}  // namespace

std::vector<std::string> RunAuthorityScript(std::uint64_t seed,
                                            const MakeParityRooms& make_rooms) {
  return AuthorityScript(seed, make_rooms).Run();
}

}  // namespace parlor::test
