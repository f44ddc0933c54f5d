// A fuzzer's bytes are what a client says to a front, over either transport,
// behind a trusted proxy or not, and what several do at once. The gate is open,
// or it lets in with passes, of which an access store answers at once, late, in
// any order or never. Nothing may assert, and:
//  - what is answered, who is handed over and whose address that is does not
//    depend on how the bytes were cut;
//  - a stranger is who it connects as, whatever it says;
//  - who is handed over asked for a room that there is, can be answered, and
//    takes along all of what is behind its request and nothing else;
//  - no more clients are kept than may be, and none for ever.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/front.h"
#include "logic/front_client.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "logic/pass.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/executor.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/limits.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "support/memory_stream.h"

namespace parlor::host {
namespace {

using stream::Bytes;
using stream::IoStatus;

constexpr std::int64_t kRooms = 8;
constexpr std::int64_t kSeats = 4;
constexpr std::size_t kAddressesMax = 16;
constexpr std::size_t kUnseated = 4;
constexpr std::size_t kUnseatedPerAddress = 2;
constexpr std::size_t kBufferBytes = 1'000;
constexpr std::string_view kStranger = "192.0.2.1";
constexpr std::string_view kProxy = "192.0.2.2";

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::int64_t kWallSeconds = 1'800'000'000;

// With a store there are passes, else the gate is open.
enum class Store : std::uint8_t {
  kNone,
  kPrompt,  // its answer is the number of the pass
  kLate,    // the script answers
};

// The bytes 1 to 4 stand for passes 0 to 3.
constexpr std::uint64_t kPasses = 4;

std::string WithPasses(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c >= 1 && c <= static_cast<char>(kPasses)) {
      all += WritePass({.id = static_cast<std::uint64_t>(c - 1),
                        .expires_s = kWallSeconds + 60},
                       kSecret);
    } else {
      all += c;
    }
  }
  return all;
}

// One end of a stream, and what it has said and heard.
struct Client final : stream::ByteStream::Events {
  void OnReadable() override {
    std::vector<std::byte> buffer(100);
    const stream::IoResult result = stream->Read(buffer);
    if (result.status == IoStatus::kOk) {
      heard += AsText(std::span(buffer).first(result.bytes));
    } else if (result.status != IoStatus::kBlocked) {
      ended = result.status;
      stream->WantRead(false);
    }
  }
  void OnWritable() override {}

  // What the stream takes.
  void Say(std::string_view text) {
    if (over) return;
    Bytes rest = AsBytes(text);
    while (!rest.empty()) {
      const stream::IoResult result = stream->Write(std::span(&rest, 1));
      if (result.status != IoStatus::kOk) break;
      said += AsText(rest.first(result.bytes));
      rest = rest.subspan(result.bytes);
    }
  }

  std::unique_ptr<stream::ByteStream> stream;
  NetTransport transport{};
  bool over = false;  // it has ended its side
  std::string said;
  std::string heard;
  IoStatus ended = IoStatus::kOk;
};

struct Taken {
  std::string play;
  std::uint32_t room = 0;
  std::int32_t players = 0;
  std::string access;
  Address address;
  std::string accepted;
  std::string rest;

  bool operator==(const Taken&) const = default;
};

class World final : Front::Ports {
 public:
  World(std::uint64_t seed, Store store)
      : executor_(seed, Executor::Ties::kShuffled),
        store_(store),
        gate_(
            GateOf(store),
            {.rooms = kRooms, .seats = kSeats, .play = {{.key = "p"}}},
            [] { return kWallSeconds; }, kAddressesMax),
        front_(loop_, Options(), gate_, *this) {}

  Client& Connect(NetTransport transport, std::string_view address,
                  const test::MemoryStreamOptions& memory) {
    Client& client = *clients_.emplace_back(std::make_unique<Client>());
    test::MemoryStreamPair pair =
        test::MakeMemoryStreams(executor_, client_loop_, loop_, memory);
    client.transport = transport;
    client.stream = std::move(pair.first);
    client.stream->SetEvents(&client);
    client.stream->WantRead(true);
    const auto stream = std::make_shared<std::unique_ptr<stream::ByteStream>>(
        std::move(pair.second));
    loop_.Post([this, stream, address = std::string(address), transport] {
      front_.OnAccept(std::move(*stream), address, transport);
    });
    Settle();
    return client;
  }

  void Settle() { Pass(0); }
  void Pass(std::int64_t ms) {
    executor_.RunFor(ms * kMillisecond);
    PARLOR_CHECK(front_.unseated() <= kUnseated);
  }

  Front& front() { return front_; }
  std::size_t questions() const { return questions_.size(); }
  // In a later turn.
  void AnswerStore(std::size_t index, PassAnswer said) {
    loop_.Post([answer = questions_[index], said] { answer(said); });
    ForgetQuestion(index);
  }
  void ForgetQuestion(std::size_t index) {
    questions_.erase(questions_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::vector<std::unique_ptr<Client>>& clients() { return clients_; }
  std::vector<Handover>& handovers() { return handovers_; }

  // What was handed over, read to what is there of it.
  Taken Read(Handover& handover) {
    const bool plays = !handover.hello.play.empty();
    Taken taken{.play = handover.hello.play,
                .room = handover.hello.room,
                .players = handover.hello.players,
                .access = handover.hello.access,
                .address = handover.address,
                .rest = std::string(AsText(handover.unread))};
    PARLOR_CHECK(taken.room < (plays ? 1 : kRooms));
    PARLOR_CHECK(plays || (taken.players >= 1 && taken.players <= kSeats));
    PARLOR_CHECK(taken.rest.size() < kFrontReadBytes);
    taken.accepted = handover.handshake->Accept(RoomProtocol(handover.hello));
    const auto stream =
        std::exchange(handover.stream, nullptr)->Unpark(shard_loop_);
    std::vector<std::byte> buffer(kBufferBytes);
    for (;;) {
      const stream::IoResult result = stream->Read(buffer);
      if (result.status != IoStatus::kOk) return taken;
      taken.rest += AsText(std::span(buffer).first(result.bytes));
    }
  }

 private:
  static GateOptions GateOf(Store store) {
    GateOptions options;
    options.trusted_proxies = {std::string(kProxy), "10.0.0.0/8"};
    options.joins_per_minute = limits::kAddressRate.ceiling;
    options.open = store == Store::kNone;
    if (options.open) return options;
    options.passes = true;
    options.pass_secret = kSecret;
    return options;
  }
  static FrontOptions Options() {
    FrontOptions options;
    options.unseated_max = kUnseated;
    options.unseated_per_address = kUnseatedPerAddress;
    return options;
  }

  void HandOver(Handover handover) override {
    PARLOR_CHECK(handover.stream != nullptr && handover.handshake != nullptr);
    handovers_.push_back(std::move(handover));
  }
  HostFigures Figures(TimePoint) override { return {}; }
  void AskStore(const PassUse& use,
                std::function<void(PassAnswer)> answer) override {
    PARLOR_CHECK(use.pass < kPasses);
    questions_.push_back(std::move(answer));
    PARLOR_CHECK(questions_.size() <= kUnseated);
    if (store_ == Store::kLate) return;
    AnswerStore(questions_.size() - 1, static_cast<PassAnswer>(use.pass));
  }

  // First what the others live on.
  Executor executor_;
  test::VirtualLoop client_loop_{executor_};
  test::VirtualLoop shard_loop_{executor_};
  test::VirtualLoop loop_{executor_};
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Handover> handovers_;
  const Store store_;
  std::vector<std::function<void(PassAnswer)>> questions_;
  Gate gate_;
  Front front_;
};

// ---- One client.

struct Outcome {
  std::string heard;
  IoStatus ended = IoStatus::kOk;
  std::vector<Taken> taken;

  bool operator==(const Outcome&) const = default;
};

// `text` in pieces of at most so many bytes.
Outcome Ask(World& world, std::string_view text, NetTransport transport,
            std::string_view address, std::size_t piece) {
  Client& client =
      world.Connect(transport, address, {.piece_bytes_max = piece});
  while (!text.empty()) {
    const std::string_view part = text.substr(0, piece);
    client.Say(part);
    text.remove_prefix(part.size());
    world.Settle();
  }
  // Whether a body has come yet does depend on the cut.
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  for (std::size_t at = 0;
       (at = client.heard.find(kContinue)) != std::string::npos;) {
    client.heard.erase(at, kContinue.size());
  }
  Outcome outcome{.heard = client.heard, .ended = client.ended};
  PARLOR_CHECK(world.handovers().size() <= 1);
  for (Handover& handover : world.handovers()) {
    PARLOR_CHECK(handover.transport == transport);
    PARLOR_CHECK(client.ended == IoStatus::kOk);
    outcome.taken.push_back(world.Read(handover));
    PARLOR_CHECK(client.said.ends_with(outcome.taken.back().rest));
    PARLOR_CHECK(address == kProxy ||
                 outcome.taken.back().address == Address::Parse(address));
  }
  world.handovers().clear();
  world.front().DropOldest();
  const std::string_view begin =
      transport == NetTransport::kTcp ? "\7" : "HTTP/1.1 ";
  PARLOR_CHECK(outcome.heard.empty() || outcome.heard.starts_with(begin));
  return outcome;
}

void CheckCuts(std::string_view text, Store store) {
  World world(1, store);
  for (const auto transport : {NetTransport::kWebSocket, NetTransport::kTcp}) {
    for (const std::string_view address : {kStranger, kProxy}) {
      const Outcome whole = Ask(world, text, transport, address, SIZE_MAX);
      PARLOR_CHECK(Ask(world, text, transport, address, 1) == whole);
      PARLOR_CHECK(Ask(world, text, transport, address, 7) == whole);
    }
  }
}

// ---- Some of them at once, who are slow, deaf and gone. Each step is a byte
// that says what happens to whom, and what else it needs.

constexpr std::size_t kClientsMax = 12;

class Crowd {
 public:
  // `script` has a byte at least: the first says how all of it is played.
  explicit Crowd(std::span<const std::uint8_t> script)
      : script_(script.subspan(1)),
        store_(script[0] % 2 == 0 ? Store::kNone : Store::kLate),
        memory_{.buffer_bytes = kBufferBytes,
                .piece_bytes_max = script[0] % 3 == 0 ? SIZE_MAX : script[0]},
        world_(script[0], store_) {}

  void Play() {
    while (!script_.empty()) Step();
    for (Handover& handover : world_.handovers()) CheckSaid(handover);
    // Nobody stays for ever, though each may have asked the store of a dozen
    // passes, and nobody is there when it answers.
    world_.Pass(150'000);
    PARLOR_CHECK(world_.front().unseated() == 0);
    const std::size_t handovers = world_.handovers().size();
    while (world_.questions() > 0) world_.AnswerStore(0, PassAnswer::kLetIn);
    world_.Settle();
    PARLOR_CHECK(world_.handovers().size() == handovers);
  }

 private:
  std::uint8_t Next() {
    if (script_.empty()) return 0;
    const std::uint8_t byte = script_.front();
    script_ = script_.subspan(1);
    return byte;
  }

  void Step() {
    constexpr std::array<std::string_view, 3> kAddresses = {kStranger, kProxy,
                                                            "unreadable"};
    const std::uint8_t what = Next();
    const auto& clients = world_.clients();
    if (what % 8 == 0 && clients.size() < kClientsMax) {
      world_.Connect(what & 8 ? NetTransport::kTcp : NetTransport::kWebSocket,
                     kAddresses[what / 16 % 3], memory_);
      return;
    }
    if (clients.empty()) return;
    Client& client = *clients[what / 8 % clients.size()];
    switch (what % 8) {
      case 1:
        client.over = true;
        client.stream->EndWrite();
        break;
      case 2:
        client.stream->WantRead((Next() & 1) == 0 &&
                                client.ended == IoStatus::kOk);
        break;
      case 3:
        world_.Pass(Next() * std::int64_t{300});
        break;
      case 4:
        if ((what & 8) == 0 || world_.questions() == 0) {
          world_.front().DropOldest();
        } else {
          EndQuestion();
        }
        break;
      default:
        Say(client);
    }
    world_.Settle();
  }

  void EndQuestion() {
    const std::uint8_t how = Next();
    const std::size_t which = how / 8 % world_.questions();
    if ((how & 4) == 0) {
      world_.AnswerStore(which, static_cast<PassAnswer>(how & 3));
    } else {
      world_.ForgetQuestion(which);
    }
  }

  void Say(Client& client) {
    const std::size_t size = std::min<std::size_t>(Next(), script_.size());
    const auto text = AsText(std::as_bytes(script_.first(size)));
    client.Say(store_ == Store::kNone ? std::string(text) : WithPasses(text));
    script_ = script_.subspan(size);
  }

  // By one of them, over its transport.
  void CheckSaid(Handover& handover) {
    const Taken taken = world_.Read(handover);
    PARLOR_CHECK(std::any_of(world_.clients().begin(), world_.clients().end(),
                             [&](const auto& client) {
                               return client->transport == handover.transport &&
                                      client->said.ends_with(taken.rest);
                             }));
  }

  std::span<const std::uint8_t> script_;
  const Store store_;
  const test::MemoryStreamOptions memory_;
  World world_;
};

}  // namespace
}  // namespace parlor::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const std::string_view text = parlor::AsText(std::as_bytes(bytes));
  parlor::host::CheckCuts(text, parlor::host::Store::kNone);
  const std::string shown = parlor::host::WithPasses(text);
  if (shown != text) {
    parlor::host::CheckCuts(shown, parlor::host::Store::kPrompt);
  }
  if (!bytes.empty()) parlor::host::Crowd(bytes).Play();
  return 0;
}
