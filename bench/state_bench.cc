// What the state of an authority room costs: bodies that all move, or a part of
// them, as the room encodes them for its viewers and a client applies them.
// README.md beside this file says what each figure means.
//
// Snapshots at 20 Hz, a baseline a second. Times are this thread's CPU time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/snapshot_encoder.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/random.h"
#include "support/counting_allocator.h"
#include "thread_cpu.h"

#if __has_include(<flatbuffers/flatbuffers.h>)
#include <flatbuffers/flatbuffers.h>
#define PARLOR_HAS_FLATBUFFERS 1
#else
#define PARLOR_HAS_FLATBUFFERS 0
#endif

namespace parlor::authority {
namespace {

constexpr int kSnapshotHz = 20;
constexpr float kSpeed = 5;    // metres a second
constexpr float kField = 200;  // metres either way

Schema BodySchema(int rows) {
  absl::StatusOr<Schema> schema = Schema::Create(
      {{.name = "body", .fields = {}, .transform = true, .rows_max = rows}});
  PARLOR_CHECK(schema.ok());
  return *std::move(schema);
}

float Draw(Random& random) {
  return static_cast<float>(random.Between(-1'000, 1'000)) / 1'000;
}

// Rows that walk straight on and turn as they go. A viewer with a view sees
// every fourth row: each of its pieces is copied alone, the worst case.
class Bodies final : public ViewFilter {
 public:
  explicit Bodies(int rows) : schema_(BodySchema(rows)), table_(schema_) {
    Random random(1);
    for (int i = 0; i < rows; ++i) {
      Body body;
      body.row = table_.Add(0);
      body.at = {kField * Draw(random), Draw(random), kField * Draw(random)};
      body.step = {Draw(random), 0, Draw(random)};
      body.turn = Draw(random);
      bodies_.push_back(body);
    }
    Move(1);
  }

  // Every n-th row walks on.
  void Move(std::size_t every) {
    constexpr float kStep = kSpeed / kSnapshotHz;
    ++steps_;
    for (std::size_t i = 0; i < bodies_.size(); i += every) {
      Body& body = bodies_[i];
      body.at.x += kStep * body.step.x;
      body.at.z += kStep * body.step.z;
      const float turn = body.turn * static_cast<float>(steps_ % 64) / 16;
      table_.SetTransform(body.row, {body.at, {0, turn, 0, 1}});
    }
  }

  bool InView(int viewer, RowId row) override {
    return static_cast<int>(row % 4) == viewer % 4;
  }

  const Schema& schema() const { return schema_; }
  RowTable& table() { return table_; }
  std::size_t size() const { return bodies_.size(); }

 private:
  struct Body {
    RowId row = 0;
    Vec3 at;
    Vec3 step;
    float turn = 0;
  };

  const Schema schema_;
  RowTable table_;
  std::vector<Body> bodies_;
  std::uint32_t steps_ = 0;
};

// A room's encoder, its viewers and their payloads.
class Room {
 public:
  Room(int rows, int viewers, bool views,
       const WireStateCodec& codec = BinaryStateCodec())
      : bodies_(rows), encoder_(bodies_.table()), viewers_(viewers) {
    for (int viewer = 0; viewer < viewers; ++viewer) {
      encoder_.AddViewer(viewer, codec, views);
    }
  }

  Bodies& bodies() { return bodies_; }
  SnapshotEncoder& encoder() { return encoder_; }
  std::size_t bytes() const { return bytes_; }

  // Calls give the payload away at once, as a room gives it to a connection.
  void Baseline() {
    encoder_.BeginTick(++tick_, &bodies_);
    encoder_.TakeBaseline();
    for (int i = 0; i < viewers_; ++i) Take(encoder_.Baseline(i));
  }
  void Delta() {
    encoder_.BeginTick(++tick_, &bodies_);
    for (int i = 0; i < viewers_; ++i) Take(encoder_.Delta(i, nullptr));
  }
  void Recovery() {
    encoder_.BeginTick(++tick_, &bodies_);
    for (int i = 0; i < viewers_; ++i) Take(encoder_.Recovery(i));
  }

 private:
  void Take(const Payload& payload) { bytes_ += payload.bytes().size(); }

  Bodies bodies_;
  SnapshotEncoder encoder_;
  const int viewers_;
  std::uint32_t tick_ = 0;
  std::size_t bytes_ = 0;
};

// One iteration is one snapshot of a room in which every row has moved, to all
// its viewers. Moving is the game's, and is not in it.
void BM_Encode(benchmark::State& state, bool views) {
  const auto rows = static_cast<int>(state.range(0));
  const auto viewers = static_cast<int>(state.range(1));
  Room room(rows, viewers, views);
  room.Baseline();
  room.Delta();
  double spent_ns = 0;
  std::uint64_t allocations = 0;
  std::size_t bytes = 0;
  int snapshots = 0;
  for (auto _ : state) {
    // Not counted, nor its time.
    if (++snapshots % kSnapshotHz == 0) room.Baseline();
    room.bodies().Move(1);
    const std::size_t bytes_before = room.bytes();
    const std::uint64_t allocated = parlor_allocation_count();
    const double began_ns = bench::ThreadCpuNs();
    room.Delta();
    const double took_ns = bench::ThreadCpuNs() - began_ns;
    allocations += parlor_allocation_count() - allocated;
    bytes += room.bytes() - bytes_before;
    spent_ns += took_ns;
    state.SetIterationTime(took_ns * 1e-9);
  }
  const auto steps = static_cast<double>(state.iterations());
  state.counters["ns/viewer"] = spent_ns / steps / viewers;
  state.counters["bytes/row"] =
      static_cast<double>(bytes) / steps / viewers / (views ? rows / 4 : rows);
  state.counters["allocs"] = static_cast<double>(allocations) / steps;
}

// The same where nothing has moved.
void BM_Unchanged(benchmark::State& state) {
  const auto rows = static_cast<int>(state.range(0));
  Room room(rows, 1, false);
  room.Baseline();
  room.Delta();
  const std::size_t bytes_before = room.bytes();
  double spent_ns = 0;
  for (auto _ : state) {
    const double began_ns = bench::ThreadCpuNs();
    for (int i = 0; i < 16; ++i) room.Delta();
    const double took_ns = bench::ThreadCpuNs() - began_ns;
    spent_ns += took_ns / 16;
    state.SetIterationTime(took_ns / 16 * 1e-9);
  }
  const auto steps = static_cast<double>(state.iterations());
  state.counters["ns/row"] = spent_ns / steps / rows;
  state.counters["bytes"] =
      static_cast<double>(room.bytes() - bytes_before) / steps / 16;
}

// A client: one delta in which every row has moved, checked and applied; each
// the second of two, so that the first is taken back.
void BM_Apply(benchmark::State& state, const WireStateCodec* codec) {
  const auto rows = static_cast<int>(state.range(0));
  Room room(rows, 1, false, *codec);
  RowTable table(room.bodies().schema());
  StateEdits edits;
  const auto apply = [&](const Payload& payload) {
    PARLOR_CHECK(codec->Decode(payload.bytes(), table, edits) ==
                 DecodeResult::kDecoded);
    table.Apply(edits);
  };
  room.Baseline();
  apply(room.encoder().Baseline(0));
  room.bodies().Move(1);
  room.Delta();
  const Payload delta = room.encoder().Delta(0, nullptr);
  apply(delta);
  apply(delta);
  const std::uint64_t allocated = parlor_allocation_count();
  const double began_ns = bench::ThreadCpuNs();
  for (auto _ : state) apply(delta);
  const double spent_ns = bench::ThreadCpuNs() - began_ns;
  const auto steps = static_cast<double>(state.iterations());
  state.counters["ns/row"] = spent_ns / steps / rows;
  state.counters["allocs"] =
      static_cast<double>(parlor_allocation_count() - allocated) / steps;
}

// What the game pays for a row that it moves.
void BM_Set(benchmark::State& state) {
  const auto rows = static_cast<int>(state.range(0));
  Bodies bodies(rows);
  bodies.table().TakeBaseline();
  const double began_ns = bench::ThreadCpuNs();
  for (auto _ : state) bodies.Move(1);
  const double spent_ns = bench::ThreadCpuNs() - began_ns;
  state.counters["ns/row"] =
      spent_ns / static_cast<double>(state.iterations()) / rows;
}

#if PARLOR_HAS_FLATBUFFERS
// The state of a row as a struct of FlatBuffers, in our numbers: 24 bytes.
FLATBUFFERS_MANUALLY_ALIGNED_STRUCT(4) FlatBody final {
  std::uint32_t id;
  std::int32_t x;
  std::int32_t y;
  std::int32_t z;
  std::uint32_t rotation;
  std::uint32_t teleports;
};
FLATBUFFERS_STRUCT_END(FlatBody, 24);

// A table of a tick and a vector of these structs.
class FlatWriter {
 public:
  // Of the rows that have changed, or of all.
  std::size_t Write(const RowTable& table, bool changed_alone) {
    bodies_.clear();
    table.ForEach([&](const RowView& row) {
      if (changed_alone && row.changed() == 0) return;
      const auto words = row.words();
      bodies_.push_back({row.id(), static_cast<std::int32_t>(words[0]),
                         static_cast<std::int32_t>(words[1]),
                         static_cast<std::int32_t>(words[2]),
                         static_cast<std::uint32_t>(words[3]),
                         static_cast<std::uint32_t>(words[4])});
    });
    builder_.Clear();
    const auto rows = builder_.CreateVectorOfStructs(bodies_);
    const auto start = builder_.StartTable();
    builder_.AddOffset(6, rows);
    builder_.AddElement<std::uint32_t>(4, ++tick_, 0);
    builder_.Finish(flatbuffers::Offset<void>(builder_.EndTable(start)));
    return builder_.GetSize();
  }

 private:
  flatbuffers::FlatBufferBuilder builder_{1024 * 1024};
  std::vector<FlatBody> bodies_;
  std::uint32_t tick_ = 0;
};
#endif

enum class Form : std::uint8_t { kDeltas, kFull, kFlatFull, kFlatChanged };

// One iteration is a second of one viewer: 20 snapshots, in which every n-th
// row has moved; as a baseline and 20 deltas, as 20 times the whole state, and
// both by FlatBuffers, which for the second is a vector of the changed rows.
void BM_Second(benchmark::State& state, const WireStateCodec* codec,
               Form form) {
  const auto rows = static_cast<int>(state.range(0));
  const auto every = static_cast<std::size_t>(state.range(1));
  Room room(rows, 1, false, *codec);
#if PARLOR_HAS_FLATBUFFERS
  FlatWriter flat;
#endif
  std::size_t flat_bytes = 0;
  for (auto _ : state) {
    double second_ns = 0;
    for (int snapshot = 0; snapshot < kSnapshotHz; ++snapshot) {
      room.bodies().Move(every);
      const double began_ns = bench::ThreadCpuNs();
      if (form == Form::kDeltas && snapshot == 0) room.Baseline();
      if (form == Form::kDeltas) room.Delta();
      if (form == Form::kFull) room.Recovery();
#if PARLOR_HAS_FLATBUFFERS
      if (form == Form::kFlatFull || form == Form::kFlatChanged) {
        if (snapshot == 0) room.bodies().table().TakeBaseline();
        const bool whole = form == Form::kFlatFull || snapshot == 0;
        flat_bytes += flat.Write(room.bodies().table(), !whole);
      }
#endif
      second_ns += bench::ThreadCpuNs() - began_ns;
    }
    state.SetIterationTime(second_ns * 1e-9);
  }
  const auto seconds = static_cast<double>(state.iterations());
  state.counters["bytes/s"] =
      static_cast<double>(room.bytes() + flat_bytes) / seconds;
}

using Bench = benchmark::internal::Benchmark;

void Second(const std::string& name, const WireStateCodec* codec, Form form) {
  Bench* bench = benchmark::RegisterBenchmark(("second/" + name).c_str(),
                                              BM_Second, codec, form);
  bench->ArgNames({"rows", "every"})->UseManualTime();
  for (const int every : {1, 10}) bench->Args({1'000, every});
  bench->Unit(benchmark::kMicrosecond);
}

// Registered before benchmark_main's main asks for what there is.
const bool kRegistered = [] {
  for (const bool views : {false, true}) {
    const std::string name = views ? "encode/views" : "encode/shared";
    Bench* bench = benchmark::RegisterBenchmark(name.c_str(), BM_Encode, views);
    bench->ArgNames({"rows", "viewers"})->UseManualTime();
    bench->Unit(benchmark::kMicrosecond);
    for (const int rows : {100, 1'000, 10'000}) {
      for (const int viewers : {1, 8, 64, 256}) bench->Args({rows, viewers});
    }
  }
  const auto by_rows = [](Bench* bench) {
    bench->ArgName("rows")->Unit(benchmark::kMicrosecond);
    for (const int rows : {100, 1'000, 10'000}) bench->Arg(rows);
    return bench;
  };
  by_rows(benchmark::RegisterBenchmark("encode/unchanged", BM_Unchanged))
      ->UseManualTime();
  const WireStateCodec* const binary = &BinaryStateCodec();
  const WireStateCodec* const json = &JsonStateCodec();
  by_rows(benchmark::RegisterBenchmark("apply/binary", BM_Apply, binary));
  by_rows(benchmark::RegisterBenchmark("apply/json", BM_Apply, json));
  by_rows(benchmark::RegisterBenchmark("set", BM_Set));
  Second("binary", binary, Form::kDeltas);
  Second("binary_full", binary, Form::kFull);
  Second("json", json, Form::kDeltas);
#if PARLOR_HAS_FLATBUFFERS
  Second("flatbuffers_full", binary, Form::kFlatFull);
  Second("flatbuffers_changed", binary, Form::kFlatChanged);
#endif
  return true;
}();

}  // namespace
}  // namespace parlor::authority
