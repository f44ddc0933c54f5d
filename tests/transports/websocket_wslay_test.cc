// A second opinion on WebSocket frames: wslay reads what our codec writes, our
// codec reads what wslay writes, and of broken streams both think the same.
//
// The differences there are, all of them, and where they are dealt with:
//   close codes 1012 to 1014   wslay 1.1.1 refuses them; the registry has them
//                              and we take them (ThinksOtherwise)
//   a close frame of one byte  wslay takes it for one without a code; half a
//                              code is none (RFC 6455 section 5.5.1), and we
//                              refuse it (ThinksOtherwise)
//   text that is not UTF-8     wslay refuses it at the first wrong byte, we
//                              once the message is whole (ThinksOtherwise)
//   a wrong header             wslay refuses it once it is whole, we at the
//                              byte that is wrong: so wslay is given more
//   the lane's bit RSV2        is our own: lanes are not marked here
#include <gtest/gtest.h>
#include <wslay/wslay.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/entropy.h"
#include "parlor/random.h"
#include "stream/websocket_codec.h"
#include "support/codec_events.h"
#include "support/flip_bits.h"
#include "support/seed.h"
#include "support/websocket_frames.h"

namespace parlor::stream {
namespace {

using test::CodecEvent;
using test::Reader;
using ByteVector = std::vector<std::byte>;

constexpr std::size_t kCap = 3'000;

// wslay's end, in one role, without I/O.
class Wslay {
 public:
  explicit Wslay(Reader role) : role_(role) {
    wslay_event_callbacks callbacks = {};
    callbacks.recv_callback = OnRead;
    callbacks.send_callback = OnWrite;
    callbacks.genmask_callback = OnMask;
    callbacks.on_msg_recv_callback = OnMessage;
    const auto make = role == Reader::kServer ? wslay_event_context_server_init
                                              : wslay_event_context_client_init;
    PARLOR_CHECK(make(&context_, &callbacks, this) == 0);
    wslay_event_config_set_max_recv_msg_length(context_, kCap);
  }
  Wslay(const Wslay&) = delete;
  Wslay& operator=(const Wslay&) = delete;
  ~Wslay() { wslay_event_context_free(context_); }

  // What it makes of `wire`, up to a close or an error; an error is the code
  // of the close that it wants to answer with.
  std::vector<CodecEvent> Read(std::span<const std::byte> wire) {
    input_ = wire;
    const int result = wslay_event_recv(context_);
    const bool closed =
        !events_.empty() && events_.back().kind == Incoming::Kind::kClose;
    if (closed || wslay_event_want_read(context_) != 0) return events_;
    // A header it cannot read makes it say that a callback failed, which ours
    // do not, and close without a code.
    if (result == WSLAY_ERR_CALLBACK_FAILURE) {
      events_.push_back(
          {.kind = Incoming::Kind::kError, .code = close_code::kProtocolError});
      return events_;
    }
    PARLOR_CHECK(result == 0);
    const ByteVector answer = Written();
    const auto codec = role_ == Reader::kServer
                           ? MakeWebSocketClientCodec(kCap, keys_for_ours_)
                           : MakeWebSocketServerCodec(kCap);
    const std::vector<CodecEvent> said = test::DecodeWhole(*codec, answer);
    PARLOR_CHECK(!said.empty() && said.back().kind == Incoming::Kind::kClose);
    events_.push_back(
        {.kind = Incoming::Kind::kError, .code = said.back().code});
    return events_;
  }

  // Queues a message or a control frame for Written.
  void Write(std::uint8_t opcode, std::span<const std::byte> bytes) {
    const wslay_event_msg message = {opcode, Data(bytes), bytes.size()};
    PARLOR_CHECK(wslay_event_queue_msg(context_, &message) == 0);
  }
  // In fragments; done before the next call of it.
  void WriteFragments(std::uint8_t opcode, std::span<const std::byte> bytes,
                      Random& random) {
    fragments_ = bytes;
    random_ = &random;
    const wslay_event_fragmented_msg message = {
        opcode, {.data = this}, OnFragment};
    PARLOR_CHECK(wslay_event_queue_fragmented_msg(context_, &message) == 0);
  }

  // The frames of all that is queued; also its answers to what it read.
  ByteVector Written() {
    PARLOR_CHECK(wslay_event_send(context_) == 0);
    return std::exchange(output_, {});
  }

 private:
  static const std::uint8_t* Data(std::span<const std::byte> bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
  }
  static Wslay& Self(void* user) { return *static_cast<Wslay*>(user); }

  static ssize_t OnRead(wslay_event_context_ptr context, std::uint8_t* into,
                        std::size_t size, int, void* user) {
    std::span<const std::byte>& input = Self(user).input_;
    size = std::min(size, input.size());
    if (size == 0) {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
      return -1;
    }
    std::memcpy(into, input.data(), size);
    input = input.subspan(size);
    return static_cast<ssize_t>(size);
  }
  static ssize_t OnWrite(wslay_event_context_ptr, const std::uint8_t* data,
                         std::size_t size, int, void* user) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    Self(user).output_.insert(Self(user).output_.end(), bytes, bytes + size);
    return static_cast<ssize_t>(size);
  }
  static int OnMask(wslay_event_context_ptr, std::uint8_t* into,
                    std::size_t size, void* user) {
    Self(user).keys_.Fill(std::as_writable_bytes(std::span(into, size)));
    return 0;
  }
  static ssize_t OnFragment(wslay_event_context_ptr, std::uint8_t* into,
                            std::size_t size,
                            const wslay_event_msg_source* source, int* end,
                            void*) {
    Wslay& self = *static_cast<Wslay*>(source->data);
    size = std::min({size, self.fragments_.size(),
                     std::size_t{1 + self.random_->Below(300)}});
    if (size > 0) std::memcpy(into, self.fragments_.data(), size);
    self.fragments_ = self.fragments_.subspan(size);
    *end = self.fragments_.empty() ? 1 : 0;
    return static_cast<ssize_t>(size);
  }
  static void OnMessage(wslay_event_context_ptr,
                        const wslay_event_on_msg_recv_arg* arg, void* user) {
    const auto* bytes = reinterpret_cast<const std::byte*>(arg->msg);
    CodecEvent event;
    event.bytes.assign(bytes, bytes + arg->msg_length);
    switch (arg->opcode) {
      case WSLAY_TEXT_FRAME:
        event.message = MessageKind::kText;
        [[fallthrough]];
      case WSLAY_BINARY_FRAME:
        event.kind = Incoming::Kind::kMessage;
        break;
      case WSLAY_PING:
        event.kind = Incoming::Kind::kPing;
        break;
      case WSLAY_PONG:
        event.kind = Incoming::Kind::kPong;
        break;
      default:
        event.kind = Incoming::Kind::kClose;
        event.code = arg->status_code == 0 ? close_code::kNoCode
                                           : CloseCode{arg->status_code};
        // wslay leaves the code in front of the text.
        event.bytes.erase(
            event.bytes.begin(),
            event.bytes.begin() +
                std::min<std::ptrdiff_t>(2, std::ssize(event.bytes)));
    }
    Self(user).events_.push_back(event);
  }

  Reader role_;
  wslay_event_context_ptr context_ = nullptr;
  std::span<const std::byte> input_;
  ByteVector output_;
  std::vector<CodecEvent> events_;
  std::span<const std::byte> fragments_;
  Random* random_ = nullptr;
  SeededEntropy keys_{1};
  MaskKeys keys_for_ours_{keys_};
};

// Random traffic in one direction.
class Traffic {
 public:
  explicit Traffic(Random& random) : random_(random) {}

  CodecEvent Message() {
    CodecEvent event{.kind = Incoming::Kind::kMessage};
    const std::size_t size = random_.Below(random_.Chance(1, 4) ? kCap : 140);
    if (random_.Chance(1, 2)) {
      event.message = MessageKind::kText;
      while (event.bytes.size() + 4 <= size) {
        constexpr std::string_view kLetters[] = {"a", "\u00e9", "\u20ac",
                                                 "\U0001f3b2"};
        const auto letter = AsBytes(kLetters[random_.Below(4)]);
        event.bytes.insert(event.bytes.end(), letter.begin(), letter.end());
      }
    } else {
      event.bytes = Bytes(size);
    }
    return event;
  }

  CodecEvent Control() {
    return {.kind = random_.Chance(1, 2) ? Incoming::Kind::kPing
                                         : Incoming::Kind::kPong,
            .bytes = Bytes(random_.Below(kControlBytesMax + 1))};
  }

  CodecEvent Close() {
    constexpr CloseCode kCodes[] = {1000, 1003, 1007, 1011, 1012,
                                    1013, 1014, 3000, 4999};
    CodecEvent event{.kind = Incoming::Kind::kClose};
    event.code = kCodes[random_.Below(std::size(kCodes))];
    const auto text = AsBytes("\u20ac bye");
    if (random_.Chance(1, 2)) event.bytes.assign(text.begin(), text.end());
    return event;
  }

  CodecEvent Any() { return random_.Chance(1, 3) ? Control() : Message(); }

 private:
  ByteVector Bytes(std::size_t size) {
    ByteVector bytes(size);
    for (std::byte& byte : bytes) byte = std::byte(random_.Next() & 0xff);
    return bytes;
  }

  Random& random_;
};

std::uint8_t OpcodeOf(const CodecEvent& event) {
  switch (event.kind) {
    case Incoming::Kind::kPing:
      return WSLAY_PING;
    case Incoming::Kind::kPong:
      return WSLAY_PONG;
    case Incoming::Kind::kClose:
      return WSLAY_CONNECTION_CLOSE;
    default:
      return event.message == MessageKind::kText ? WSLAY_TEXT_FRAME
                                                 : WSLAY_BINARY_FRAME;
  }
}

FrameType TypeOf(const CodecEvent& event) {
  switch (OpcodeOf(event)) {
    case WSLAY_PING:
      return FrameType::kPing;
    case WSLAY_PONG:
      return FrameType::kPong;
    case WSLAY_CONNECTION_CLOSE:
      return FrameType::kClose;
    case WSLAY_TEXT_FRAME:
      return FrameType::kText;
    default:
      return FrameType::kBinary;
  }
}

Reader Other(Reader reader) {
  return reader == Reader::kServer ? Reader::kClient : Reader::kServer;
}

class WebSocketWslayTest : public testing::TestWithParam<Reader> {
 protected:
  std::unique_ptr<Codec> MakeCodec(Reader role) {
    auto codec = role == Reader::kServer
                     ? MakeWebSocketServerCodec(kCap)
                     : MakeWebSocketClientCodec(kCap, keys_);
    codec->set_lanes_marked(false);
    return codec;
  }

  std::vector<CodecEvent> Ours(std::span<const std::byte> wire,
                               std::uint32_t most) {
    const auto codec = MakeCodec(GetParam());
    std::vector<CodecEvent> events =
        test::Decode(*codec, wire, [&] { return 1 + random_.Below(most); });
    // What follows a close is nobody's business, and wslay does not read it.
    const auto close =
        std::ranges::find(events, Incoming::Kind::kClose, &CodecEvent::kind);
    if (close != events.end()) events.erase(close + 1, events.end());
    if (!events.empty() && events.back().kind == Incoming::Kind::kError) {
      events.back().code = Describe(events.back().error).code;
      events.back().error = CodecEvent{}.error;
    }
    return events;
  }

  Random random_{test::TestSeed()};
  SeededEntropy entropy_{7};
  MaskKeys keys_{entropy_};
};

TEST_P(WebSocketWslayTest, ItReadsWhatWeWrite) {
  const auto codec = MakeCodec(Other(GetParam()));
  Traffic traffic(random_);
  for (int round = 0; round < 200; ++round) {
    std::vector<CodecEvent> sent;
    ByteVector wire;
    for (int i = 0; i < 10; ++i) {
      const CodecEvent event = sent.emplace_back(traffic.Any());
      std::array<std::byte, kHeaderMax> header;
      const std::size_t size = codec->WriteHeader(
          TypeOf(event), Lane::kReliable, event.bytes.size(), header);
      wire.insert(wire.end(), header.begin(), header.begin() + size);
      wire.insert(wire.end(), event.bytes.begin(), event.bytes.end());
      if (codec->masks()) {
        codec->Mask(std::span(wire).last(event.bytes.size()), 0);
      }
    }
    ASSERT_EQ(Wslay(GetParam()).Read(wire), sent) << "round " << round;
  }
}

TEST_P(WebSocketWslayTest, WeReadWhatItWrites) {
  Traffic traffic(random_);
  for (int round = 0; round < 200; ++round) {
    Wslay wslay(Other(GetParam()));
    std::vector<CodecEvent> sent;
    ByteVector wire;
    for (int i = 0; i < 10; ++i) {
      const CodecEvent event = sent.emplace_back(traffic.Any());
      if (event.kind == Incoming::Kind::kMessage && random_.Chance(1, 2)) {
        wslay.WriteFragments(OpcodeOf(event), event.bytes, random_);
      } else {
        wslay.Write(OpcodeOf(event), event.bytes);
      }
      const ByteVector more = wslay.Written();
      wire.insert(wire.end(), more.begin(), more.end());
    }
    ASSERT_EQ(Ours(wire, 1 + random_.Below(2'000)), sent) << "round " << round;
  }
}

// Whether `theirs` differs from `ours` only as the top of this file says.
bool ThinksOtherwise(const std::vector<CodecEvent>& ours,
                     const std::vector<CodecEvent>& theirs) {
  if (theirs.empty()) return false;
  const std::size_t same = theirs.size() - 1;
  if (ours.size() < same ||
      !std::equal(theirs.begin(), theirs.end() - 1, ours.begin())) {
    return false;
  }
  const std::span<const CodecEvent> rest = std::span(ours).subspan(same);
  if (theirs.back().kind == Incoming::Kind::kClose) {
    return theirs.back().code == close_code::kNoCode && rest.size() == 1 &&
           rest[0].kind == Incoming::Kind::kError &&
           rest[0].code == close_code::kProtocolError;
  }
  if (theirs.back().kind != Incoming::Kind::kError) return false;
  if (theirs.back().code == close_code::kProtocolError) {
    return rest.size() == 1 && rest[0].kind == Incoming::Kind::kClose &&
           rest[0].code >= close_code::kRestart &&
           rest[0].code <= close_code::kBadGateway;
  }
  // The text's other fragments may be missing or wrong, and between them may
  // be controls; the message itself never comes.
  return theirs.back().code == close_code::kInvalidText &&
         std::ranges::count(rest, Incoming::Kind::kMessage,
                            &CodecEvent::kind) == 0;
}

TEST_P(WebSocketWslayTest, OfBrokenStreamsBothThinkTheSame) {
  Traffic traffic(random_);
  int refused = 0, agreed = 0, otherwise = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    ByteVector wire;
    std::vector<std::size_t> frames;
    const auto append = [&](unsigned first, std::span<const std::byte> bytes) {
      frames.push_back(wire.size());
      test::AppendFrame(wire, GetParam(), first, bytes);
    };
    for (int i = 0; i < 4; ++i) {
      const CodecEvent event = i < 3 ? traffic.Any() : traffic.Close();
      ByteVector bytes = event.bytes;
      if (event.kind == Incoming::Kind::kClose) {
        bytes.insert(bytes.begin(), {std::byte(event.code >> 8),
                                     std::byte(event.code & 0xff)});
      }
      const unsigned opcode = OpcodeOf(event);
      if (event.kind != Incoming::Kind::kMessage || random_.Chance(1, 2)) {
        append(0x80 | opcode, bytes);
        continue;
      }
      const std::size_t half = bytes.size() / 2;
      append(opcode, std::span(bytes).first(half));
      if (random_.Chance(1, 2)) append(0x89, {});
      append(0x80, std::span(bytes).subspan(half));
    }
    // Mostly where rules are: the first bytes of a frame.
    for (std::uint32_t flips = random_.Below(3); flips > 0; --flips) {
      std::size_t at =
          frames[random_.Below(static_cast<std::uint32_t>(frames.size()))];
      at += random_.Below(random_.Chance(1, 4) ? 40 : 10);
      if (at < wire.size()) test::FlipBit(random_, wire[at]);
    }
    if (random_.Chance(1, 20)) {
      wire.resize(random_.Below(static_cast<std::uint32_t>(wire.size()) + 1));
    }

    const std::vector<CodecEvent> ours = Ours(wire, 100);
    const bool wrong =
        !ours.empty() && ours.back().kind == Incoming::Kind::kError;
    if (wrong) wire.resize(wire.size() + kHeaderMax);
    const std::vector<CodecEvent> theirs = Wslay(GetParam()).Read(wire);
    if (ours == theirs) {
      ++agreed;
      refused += wrong;
      continue;
    }
    ASSERT_TRUE(ThinksOtherwise(ours, theirs))
        << "round " << round << "\nours   " << test::ToText(ours) << "\ntheirs "
        << test::ToText(theirs) << " "
        << (theirs.empty() ? 0 : theirs.back().code) << "\n"
        << test::Hex(
               std::span(wire).last(std::min<std::size_t>(wire.size(), 60)));
    ++otherwise;
  }
  EXPECT_GT(refused, kRounds / 10);
  EXPECT_GT(agreed, kRounds / 2);
  EXPECT_GT(otherwise, 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, WebSocketWslayTest,
                         testing::Values(Reader::kServer, Reader::kClient),
                         [](const auto& row) {
                           return row.param == Reader::kServer ? "Server"
                                                               : "Client";
                         });

}  // namespace
}  // namespace parlor::stream
