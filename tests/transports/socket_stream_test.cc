#include "net/socket_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/epoll_loop.h"
#include "net/socket_address.h"
#include "parlor/byte_io.h"
#include "parlor/transports/net_loop.h"
#include "stream/byte_stream.h"
#include "support/loop_thread.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"

namespace parlor {
namespace {

using net_internal::SocketAddress;
using net_internal::SocketStream;
using stream::Bytes;
using stream::IoResult;
using stream::IoStatus;
using test::Await;
using test::LoopThread;
using test::NetTurns;
using test::RawSocket;

// Reads `read_max` bytes an event, and keeps what it heard.
class Reader final : public stream::ByteStream::Events {
 public:
  std::unique_ptr<stream::ByteStream> stream;
  std::size_t read_max = 65536;
  std::string received;
  int readable = 0;
  int writable = 0;
  IoStatus ended = IoStatus::kOk;
  std::function<void()> on_readable, on_writable;

  void Own(std::unique_ptr<stream::ByteStream> owned) {
    stream = std::move(owned);
    stream->SetEvents(this);
  }

  void OnReadable() override {
    ++readable;
    if (on_readable) return on_readable();
    Read();
  }
  void OnWritable() override {
    ++writable;
    if (on_writable) on_writable();
  }

  void Read() {
    std::array<std::byte, 65536> buffer;
    const IoResult result = stream->Read(std::span(buffer).first(read_max));
    if (result.status == IoStatus::kOk) {
      received += AsText(std::span(buffer).first(result.bytes));
    } else if (result.status != IoStatus::kBlocked) {
      ended = result.status;
      stream->WantRead(false);
    }
  }
};

class SocketStreamTest : public testing::Test {
 protected:
  // A stream that connects to `listener_`, and the other end.
  void Connect() {
    reader_.Own(std::make_unique<SocketStream>(loop_.internal(), "127.0.0.1",
                                               listener_.port()));
    reader_.stream->WantWrite();
    ASSERT_TRUE(turns_.Until([&] { return reader_.writable == 1; }));
    peer_ = listener_.Accept();
    ASSERT_TRUE(peer_.valid());
  }

  IoResult Write(std::string_view text) {
    const Bytes piece = AsBytes(text);
    return reader_.stream->Write(std::span(&piece, 1));
  }

  RawSocket listener_ = RawSocket::Listen();
  RawSocket peer_;
  NetLoop loop_;
  NetTurns turns_{&loop_};
  Reader reader_;
};

TEST_F(SocketStreamTest, BlocksBothWaysUntilItIsConnected) {
  reader_.Own(std::make_unique<SocketStream>(loop_.internal(), "127.0.0.1",
                                             listener_.port()));
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(reader_.stream->Read(buffer).status, IoStatus::kBlocked);
  EXPECT_EQ(Write("x").status, IoStatus::kBlocked);
  reader_.stream->WantWrite();
  ASSERT_TRUE(turns_.Until([&] { return reader_.writable == 1; }));
  EXPECT_EQ(Write("x").status, IoStatus::kOk);
}

TEST_F(SocketStreamTest, WritesAllPiecesInOrder) {
  Connect();
  std::vector<std::string> texts;
  std::vector<Bytes> pieces;
  std::string all;
  for (int i = 0; i < 100; ++i) texts.push_back(std::to_string(i) + ",");
  for (const std::string& text : texts) {
    pieces.push_back(AsBytes(text));
    all += text;
  }
  std::size_t written = 0;
  std::span<const Bytes> left = pieces;
  while (!left.empty()) {
    const IoResult result = reader_.stream->Write(left);
    ASSERT_EQ(result.status, IoStatus::kOk);
    written += result.bytes;
    for (std::size_t bytes = result.bytes; bytes > 0; left = left.subspan(1)) {
      ASSERT_GE(bytes, left.front().size());
      bytes -= left.front().size();
    }
  }
  EXPECT_EQ(written, all.size());
  std::string received;
  while (received.size() < all.size() && peer_.Readable(10'000)) {
    ASSERT_TRUE(peer_.Receive(received));
  }
  EXPECT_EQ(received, all);
}

// What is left after a small read is told of again.
TEST_F(SocketStreamTest, ComesBackWhileThereIsSomethingToRead) {
  Connect();
  reader_.read_max = 3;
  reader_.stream->WantRead(true);
  ASSERT_TRUE(peer_.Send("0123456789"));
  ASSERT_TRUE(turns_.Until([&] { return reader_.received.size() == 10; }));
  EXPECT_EQ(reader_.received, "0123456789");
  EXPECT_EQ(reader_.readable, 4);
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 4);
}

TEST_F(SocketStreamTest, IsQuietWhileReadingIsNotWanted) {
  Connect();
  ASSERT_TRUE(peer_.Send("ab"));
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 0);
  reader_.stream->WantRead(true);
  ASSERT_TRUE(turns_.Until([&] { return reader_.received == "ab"; }));
  reader_.stream->WantRead(false);
  ASSERT_TRUE(peer_.Send("cd"));
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 1);
  reader_.stream->WantRead(true);
  EXPECT_TRUE(turns_.Until([&] { return reader_.received == "abcd"; }));
}

TEST_F(SocketStreamTest, HasNoEventsForNobody) {
  Connect();
  reader_.stream->WantRead(true);
  reader_.stream->SetEvents(nullptr);
  ASSERT_TRUE(peer_.Send("ab"));
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 0);
  reader_.stream->SetEvents(&reader_);
  EXPECT_TRUE(turns_.Until([&] { return reader_.received == "ab"; }));
}

TEST_F(SocketStreamTest, EndsOneDirectionAtATime) {
  Connect();
  reader_.stream->WantRead(true);
  ASSERT_EQ(Write("last").status, IoStatus::kOk);
  reader_.stream->EndWrite();
  std::string received;
  while (peer_.Readable(10'000) && peer_.Receive(received)) {
  }
  EXPECT_EQ(received, "last");
  EXPECT_EQ(peer_.error(), 0);
  ASSERT_TRUE(peer_.Send("answer"));
  peer_.EndWrite();
  ASSERT_TRUE(turns_.Until([&] { return reader_.ended != IoStatus::kOk; }));
  EXPECT_EQ(reader_.received, "answer");
  EXPECT_EQ(reader_.ended, IoStatus::kEnd);
}

TEST_F(SocketStreamTest, ResetTellsThePeer) {
  Connect();
  reader_.stream->Reset();
  reader_.stream.reset();
  std::string received;
  ASSERT_TRUE(peer_.Readable(10'000));
  EXPECT_FALSE(peer_.Receive(received));
  EXPECT_EQ(peer_.error(), ECONNRESET);
}

TEST_F(SocketStreamTest, AResetByThePeerIsALoss) {
  Connect();
  reader_.stream->WantRead(true);
  peer_.Reset();
  ASSERT_TRUE(turns_.Until([&] { return reader_.ended != IoStatus::kOk; }));
  EXPECT_EQ(reader_.ended, IoStatus::kLost);
  EXPECT_EQ(Write("x").status, IoStatus::kLost);
}

TEST_F(SocketStreamTest, WaitsForRoomToWrite) {
  Connect();
  const std::string large(1 << 20, 'x');
  std::size_t written = 0;
  const auto fill = [&] {
    IoResult result;
    while ((result = Write(large)).status == IoStatus::kOk) {
      written += result.bytes;
    }
    EXPECT_EQ(result.status, IoStatus::kBlocked);
  };
  fill();
  const std::size_t held = written;
  reader_.stream->WantWrite();
  turns_.Settle();
  EXPECT_EQ(reader_.writable, 1);  // that of Connect
  std::string received;
  ASSERT_TRUE(turns_.Until([&] {
    EXPECT_TRUE(peer_.Receive(received));
    return reader_.writable == 2;
  }));
  fill();
  EXPECT_GT(written, held);
  while (received.size() < written && peer_.Readable(10'000)) {
    ASSERT_TRUE(peer_.Receive(received));
  }
  EXPECT_EQ(received.size(), written);
}

TEST_F(SocketStreamTest, MayBeDestroyedInsideItsEvents) {
  for (const bool readable : {true, false}) {
    SCOPED_TRACE(readable);
    reader_.writable = 0;
    Connect();
    bool gone = false;
    const auto destroy = [&] {
      reader_.stream.reset();
      gone = true;
    };
    reader_.on_readable = readable ? destroy : std::function<void()>();
    reader_.on_writable = readable ? std::function<void()>() : destroy;
    reader_.stream->WantRead(true);
    if (!readable) reader_.stream->WantWrite();
    ASSERT_TRUE(peer_.Send("x"));
    ASSERT_TRUE(turns_.Until([&] { return gone; }));
    turns_.Settle();
    reader_.on_readable = reader_.on_writable = nullptr;
  }
}

TEST_F(SocketStreamTest, MayBeDestroyedWithEventsUnderWay) {
  Connect();
  reader_.stream->WantRead(true);
  reader_.stream->WantWrite();
  ASSERT_TRUE(peer_.Send("x"));
  reader_.stream.reset();
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 0);
  EXPECT_EQ(reader_.writable, 1);  // that of Connect
}

// Both are found ready by one look.
TEST_F(SocketStreamTest, OneMayDestroyAnotherThatIsReady) {
  std::array<Reader, 2> readers;
  std::array<RawSocket, 2> peers;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    Connect();
    reader_.writable = 0;
    peers[i] = std::move(peer_);
    readers[i].Own(std::move(reader_.stream));
    readers[i].on_readable = [&readers, i] {
      readers[i].Read();
      readers[1 - i].stream.reset();
    };
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    readers[i].stream->WantRead(true);
    ASSERT_TRUE(peers[i].Send("x"));
  }
  turns_.Settle();
  EXPECT_EQ(readers[0].readable + readers[1].readable, 1);
}

// What a game posts before it turns the loop is done before what arrives.
TEST_F(SocketStreamTest, TasksComeBeforeWhatIsReady) {
  Connect();
  reader_.stream->WantRead(true);
  ASSERT_TRUE(peer_.Send("x"));
  int readable_then = -1;
  loop_.Post([&] { readable_then = reader_.readable; });
  ASSERT_TRUE(turns_.Until([&] { return reader_.received == "x"; }));
  EXPECT_EQ(readable_then, 0);
}

// Numeric: the connect is under way; a name: its look-up.
TEST_F(SocketStreamTest, MayBeDestroyedWhileItConnects) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    reader_.Own(std::make_unique<SocketStream>(loop_.internal(), host,
                                               listener_.port()));
    reader_.stream->WantRead(true);
    reader_.stream->WantWrite();
    reader_.stream.reset();
    turns_.Settle();
  }
  // The thread that looks names up has come back with the one before.
  reader_.Own(std::make_unique<SocketStream>(loop_.internal(), "localhost",
                                             listener_.port()));
  reader_.stream->WantWrite();
  ASSERT_TRUE(turns_.Until([&] { return reader_.writable > 0; }));
  turns_.Settle();
  EXPECT_EQ(reader_.readable, 0);
  EXPECT_EQ(reader_.writable, 1);
}

class ParkedStreamTest : public SocketStreamTest {
 protected:
  // As Connect, with both waits under way and bytes that nobody has read.
  void ConnectWithUnread(std::string_view unread) {
    Connect();
    reader_.on_readable = [] { FAIL() << "an event of the loop it left"; };
    ASSERT_TRUE(peer_.Send(unread));
    reader_.stream->WantRead(true);
    reader_.stream->WantWrite();
  }

  std::unique_ptr<stream::ParkedStream> Park() {
    std::unique_ptr<stream::ParkedStream> parked = reader_.stream->Park();
    reader_.stream.reset();
    turns_.Settle();
    return parked;
  }

  LoopThread other_;
};

TEST_F(ParkedStreamTest, GoesOnWhereAnotherThreadTurnsTheLoop) {
  ConnectWithUnread("unread,");
  std::unique_ptr<stream::ParkedStream> parked = Park();
  EXPECT_EQ(reader_.readable, 0);
  EXPECT_EQ(reader_.writable, 1);  // that of Connect
  EXPECT_FALSE(peer_.Readable()) << "the peer noticed";
  ASSERT_TRUE(peer_.Send("parked,"));

  Reader moved;
  std::promise<void> all_arrived, end_arrived;
  moved.on_readable = [&] {
    const std::size_t before = moved.received.size();
    moved.Read();
    const std::string_view text = moved.received;
    if (text == "unread,parked," && text.size() != before)
      all_arrived.set_value();
    if (moved.ended != IoStatus::kOk) end_arrived.set_value();
  };
  other_.Call([&] {
    moved.Own(parked->Unpark(other_.loop().internal()));
    moved.stream->WantRead(true);
  });
  parked.reset();
  Await(all_arrived);
  other_.Call([&] {
    // Else this would not return.
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(moved.stream->Read(buffer).status, IoStatus::kBlocked);
    const Bytes piece = AsBytes("answer");
    EXPECT_EQ(moved.stream->Write(std::span(&piece, 1)).status, IoStatus::kOk);
    moved.stream->EndWrite();
  });
  std::string received;
  while (peer_.Readable(10'000) && peer_.Receive(received)) {
  }
  EXPECT_EQ(received, "answer");
  EXPECT_EQ(peer_.error(), 0);
  peer_.EndWrite();
  Await(end_arrived);
  other_.Call([&] { moved.stream.reset(); });
  EXPECT_EQ(moved.ended, IoStatus::kEnd);
}

TEST_F(ParkedStreamTest, OutlivesTheLoopItLeft) {
  auto loop = std::make_unique<NetLoop>();
  Reader reader;
  reader.Own(std::make_unique<SocketStream>(loop->internal(), "127.0.0.1",
                                            listener_.port()));
  reader.stream->WantRead(true);
  reader.stream->WantWrite();
  NetTurns turns{loop.get()};
  ASSERT_TRUE(turns.Until([&] { return reader.writable == 1; }));
  peer_ = listener_.Accept();
  std::unique_ptr<stream::ParkedStream> parked = reader.stream->Park();
  reader.stream.reset();
  loop.reset();
  reader_.Own(parked->Unpark(loop_.internal()));
  reader_.stream->WantRead(true);
  ASSERT_TRUE(peer_.Send("x"));
  EXPECT_TRUE(turns_.Until([&] { return reader_.received == "x"; }));
}

TEST_F(ParkedStreamTest, MayBeParkedInsideItsEvents) {
  for (const bool readable : {true, false}) {
    SCOPED_TRACE(readable);
    reader_ = Reader();
    Connect();
    std::unique_ptr<stream::ParkedStream> parked;
    const auto park = [&] { parked = reader_.stream->Park(); };
    (readable ? reader_.on_readable : reader_.on_writable) = park;
    if (readable) reader_.stream->WantRead(true);
    if (!readable) reader_.stream->WantWrite();
    ASSERT_TRUE(peer_.Send("x"));
    ASSERT_TRUE(turns_.Until([&] { return parked != nullptr; }));
    turns_.Settle();
    reader_.on_readable = reader_.on_writable = nullptr;
    reader_.Own(parked->Unpark(loop_.internal()));
    reader_.stream->WantRead(true);
    EXPECT_TRUE(turns_.Until([&] { return reader_.received == "x"; }));
  }
}

TEST_F(ParkedStreamTest, ItsDestructionIsAReset) {
  ConnectWithUnread("");
  std::unique_ptr<stream::ParkedStream> parked = Park();
  EXPECT_FALSE(peer_.Readable());
  parked.reset();
  std::string received;
  ASSERT_TRUE(peer_.Readable(10'000));
  EXPECT_FALSE(peer_.Receive(received));
  EXPECT_EQ(peer_.error(), ECONNRESET);
}

TEST_F(SocketStreamTest, TheLoopMayDieWithHandlersOfDeadStreams) {
  auto loop = std::make_unique<NetLoop>();
  for (const char* host : {"127.0.0.1", "localhost"}) {
    auto stream = std::make_unique<SocketStream>(loop->internal(), host,
                                                 listener_.port());
    stream->SetEvents(&reader_);
    stream->WantRead(true);
    stream->WantWrite();
  }
  loop.reset();
  EXPECT_EQ(reader_.readable, 0);
  EXPECT_EQ(reader_.writable, 0);
}

TEST_F(SocketStreamTest, LooksNamesUp) {
  reader_.Own(std::make_unique<SocketStream>(loop_.internal(), "localhost",
                                             listener_.port()));
  reader_.stream->WantWrite();
  ASSERT_TRUE(turns_.Until([&] { return reader_.writable == 1; }));
  EXPECT_EQ(Write("x").status, IoStatus::kOk);
}

// As of a name with two addresses, at the first of which nobody listens.
TEST_F(SocketStreamTest, TheNextAddressIsTriedWhenOneRefuses) {
  turns_.Turn();  // from here on it is the first one's refusal, not its alarm
  const auto at = [&](const char* address) {
    return SocketAddress::Parse(address, listener_.port()).value();
  };
  reader_.Own(std::make_unique<SocketStream>(
      loop_.internal(), std::vector{at("127.0.0.2"), at("127.0.0.1")}));
  reader_.stream->WantWrite();
  ASSERT_TRUE(turns_.Until([&] { return reader_.writable == 1; }));
  ASSERT_EQ(Write("x").status, IoStatus::kOk);
  peer_ = listener_.Accept();
  EXPECT_TRUE(peer_.valid());
}

// How a stream that never connects shows it: by the event that is wanted.
class LostStreamTest : public SocketStreamTest {
 protected:
  void ExpectLost(const std::string& host, std::uint16_t port) {
    reader_.Own(std::make_unique<SocketStream>(loop_.internal(), host, port));
    reader_.stream->WantRead(true);
    ASSERT_TRUE(turns_.Until([&] { return reader_.ended != IoStatus::kOk; }));
    EXPECT_EQ(reader_.ended, IoStatus::kLost);
    reader_.stream->WantWrite();
    ASSERT_TRUE(turns_.Until([&] { return reader_.writable == 1; }));
    EXPECT_EQ(Write("x").status, IoStatus::kLost);
    reader_.stream->Reset();
    reader_.stream->EndWrite();
    turns_.Settle();
    EXPECT_EQ(reader_.readable, 1);
  }
};

TEST_F(LostStreamTest, ConnectionRefused) {
  const std::uint16_t port = listener_.port();
  listener_.Close();
  ExpectLost("127.0.0.1", port);
}

// RFC 6761 section 6.4: no resolver may find it.
TEST_F(LostStreamTest, NameThatCannotBeFound) {
  ExpectLost("nobody.invalid", 80);
}

TEST_F(LostStreamTest, AddressThatCannotBeReached) {
  ExpectLost("255.255.255.255", 80);
}

}  // namespace
}  // namespace parlor
