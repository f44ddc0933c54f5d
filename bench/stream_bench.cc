// What the byte streams' side of a message costs, without any I/O.
//
//   stream_bench --benchmark_counters_tabular=true
//
// CodecIn: a codec finds `kBurst` messages in an input that has them whole.
// CodecOut: a codec writes `kBurst` messages into a buffer: the header, a copy
// of the payload, and the mask if there is one. `ns/msg` is CPU time of the
// thread a message. A run that allocates, or loses a message, stops.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "parlor/check.h"
#include "parlor/entropy.h"
#include "stream/codec.h"
#include "stream/length_framing.h"
#include "stream/websocket_codec.h"
#include "support/counting_allocator.h"
#include "thread_cpu.h"

namespace parlor::stream {
namespace {

constexpr std::size_t kBurst = 64;
constexpr std::size_t kMessageBytesMax = 64 * 1024;

// The two ends of one direction.
struct Ends {
  std::unique_ptr<Codec> writer;
  std::unique_ptr<Codec> reader;
};

MaskKeys& Keys() {
  static SeededEntropy entropy(1);
  static MaskKeys keys(entropy);
  return keys;
}

Ends ToWebSocketServer() {
  return {MakeWebSocketClientCodec(kMessageBytesMax, Keys()),
          MakeWebSocketServerCodec(kMessageBytesMax)};
}
Ends ToWebSocketClient() {
  return {MakeWebSocketServerCodec(kMessageBytesMax),
          MakeWebSocketClientCodec(kMessageBytesMax, Keys())};
}

Ends OverTcp() {
  return {MakeLengthFraming(kMessageBytesMax),
          MakeLengthFraming(kMessageBytesMax)};
}

// Writes kBurst copies of `message` to the front of `wire`; returns their size.
std::size_t WriteBurst(Codec& writer, std::span<const std::byte> message,
                       std::span<std::byte> wire) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < kBurst; ++i) {
    std::array<std::byte, kHeaderMax> header;
    const std::size_t size = writer.WriteHeader(
        FrameType::kBinary, Lane::kReliable, message.size(), header);
    std::memcpy(&wire[at], header.data(), size);
    at += size;
    const std::span<std::byte> payload = wire.subspan(at, message.size());
    std::memcpy(payload.data(), message.data(), message.size());
    if (writer.masks()) writer.Mask(payload, 0);
    at += message.size();
  }
  return at;
}

// Reads all of `input`; returns how many messages there were. Looks at each, so
// that none can be optimised away.
std::size_t ReadBurst(Codec& reader, std::span<std::byte> input,
                      std::uint64_t& sum) {
  std::size_t messages = 0;
  while (true) {
    const Incoming in = reader.Next(input);
    if (in.kind == Incoming::Kind::kNothing) return messages;
    PARLOR_CHECK(in.kind == Incoming::Kind::kMessage);
    sum += std::to_integer<std::uint64_t>(in.bytes.back());
    ++messages;
  }
}

// Runs `burst` as often as the benchmark wants and reports what a message cost.
template <typename Burst>
void Measure(benchmark::State& state, std::size_t message_bytes, Burst burst) {
  const std::uint64_t allocations = parlor_allocation_count();
  const double began_ns = bench::ThreadCpuNs();
  for (auto _ : state) burst();
  const double spent_ns = bench::ThreadCpuNs() - began_ns;
  PARLOR_CHECK(parlor_allocation_count() == allocations);
  const auto messages = static_cast<std::size_t>(state.iterations()) * kBurst;
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
  state.SetBytesProcessed(static_cast<std::int64_t>(messages * message_bytes));
  state.counters["ns/msg"] = spent_ns / static_cast<double>(messages);
}

void BM_CodecIn(benchmark::State& state, Ends (*make)()) {
  const Ends ends = make();
  const std::vector<std::byte> message(
      static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> wire(kBurst * (kHeaderMax + message.size()));
  // A mask that is taken off again and again goes on and off: the bytes of a
  // binary message may be anything, so the input need not be made anew.
  const std::span<std::byte> input =
      std::span(wire).first(WriteBurst(*ends.writer, message, wire));
  std::uint64_t sum = 0;
  Measure(state, message.size(),
          [&] { PARLOR_CHECK(ReadBurst(*ends.reader, input, sum) == kBurst); });
  benchmark::DoNotOptimize(sum);
}

void BM_CodecOut(benchmark::State& state, Ends (*make)()) {
  const Ends ends = make();
  const std::vector<std::byte> message(
      static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> wire(kBurst * (kHeaderMax + message.size()));
  Measure(state, message.size(), [&] {
    const std::size_t size = WriteBurst(*ends.writer, message, wire);
    PARLOR_CHECK(size > kBurst * message.size());
    benchmark::ClobberMemory();
  });
  std::uint64_t sum = 0;
  const std::span<std::byte> input =
      std::span(wire).first(WriteBurst(*ends.writer, message, wire));
  PARLOR_CHECK(ReadBurst(*ends.reader, input, sum) == kBurst);
  PARLOR_CHECK(sum == 0);
}

// What CodecOut pays for a masking key: here nearly all of it is the seeded
// generator, in a game it is the system's.
void BM_MaskKey(benchmark::State& state) {
  std::uint32_t sum = 0;
  Measure(state, sizeof sum, [&] {
    for (std::size_t i = 0; i < kBurst; ++i) sum += Keys().Next();
  });
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_MaskKey);

// A row a codec: who reads what.
#define PARLOR_CODEC_BENCH(name, ends)                           \
  BENCHMARK_CAPTURE(BM_CodecIn, name, ends)->Arg(12)->Arg(4096); \
  BENCHMARK_CAPTURE(BM_CodecOut, name, ends)->Arg(12)->Arg(4096)

PARLOR_CODEC_BENCH(to_websocket_server, ToWebSocketServer);
PARLOR_CODEC_BENCH(to_websocket_client, ToWebSocketClient);
PARLOR_CODEC_BENCH(over_tcp, OverTcp);

}  // namespace
}  // namespace parlor::stream
