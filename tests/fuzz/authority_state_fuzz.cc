// A schema from a fuzzer's bytes, and state messages for a client that has it:
// any bytes by either codec, and a room's own messages with some bytes changed.
// Nothing may crash; what is refused changes nothing; what is applied has
// values that the schema allows, no more rows than it allows, and, in binary,
// the only bytes that say so.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "authority/state_forms.h"
#include "authority/state_frames.h"
#include "authority/state_model.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

using Bytes = std::vector<std::byte>;

Schema SchemaFrom(ByteReader& input) {
  std::vector<Kind> kinds(1 + input.U8() % 3);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    kinds[k].name = "k" + std::to_string(k);
    const std::uint8_t shape = input.U8();
    kinds[k].transform = (shape & 1) != 0;
    kinds[k].rows_max = 1 + (shape >> 1) % 8;
    for (unsigned f = 0; f < shape >> 4; ++f) {
      const auto type = static_cast<FieldType>(input.U8() % kFieldTypes);
      kinds[k].fields.push_back({"f" + std::to_string(f), type});
    }
  }
  auto schema = Schema::Create(kinds);
  PARLOR_CHECK(schema.ok());
  return std::move(*schema);
}

class Fuzz {
 public:
  Fuzz(const Schema& schema, ByteReader& input)
      : schema_(schema), input_(input) {}

  void Run() {
    for (int i = 0; i < 64 && input_.ok() && input_.remaining() > 0; ++i) {
      const std::uint8_t op = input_.U8();
      const bool json = (op & 8) != 0;
      switch (op & 7) {
        case 0:
          Apply(json, Taken());
          break;
        case 1:
          room_.NewEpoch();
          break;
        case 2:
          room_.Add(input_.U8() % 4);
          break;
        case 3:
          room_.Remove(input_.U8());
          break;
        case 4:
          Set();
          break;
        default:
          Apply(json, Damaged(Message(json, op & 7)));
          break;
      }
    }
  }

 private:
  Bytes Taken() {
    const std::size_t size =
        std::min<std::size_t>(input_.U8(), input_.remaining());
    const auto bytes = input_.Bytes(size);
    return {bytes.begin(), bytes.end()};
  }

  void Set() {
    const RowId row = input_.U8();
    const int field = input_.U8() % 16;
    const std::uint8_t what = input_.U8();
    const auto number = static_cast<std::int64_t>(input_.U64());
    const auto real = static_cast<float>(number) / 3.0F;
    switch (what % 8) {
      case 0:
        room_.SetNull(row, field);
        break;
      case 1:
        room_.Set(row, field, (number & 1) != 0);
        break;
      case 2:
        room_.Set(row, field, number >> (what >> 2));
        break;
      case 3:
        room_.Set(row, field, real);
        break;
      case 4:
        room_.Set(row, field, Vec2{real, 1});
        break;
      case 5:
        room_.Set(row, field, Vec3{0, real, 2});
        break;
      case 6:
        room_.Set(row, field, Quat{real, 1, 0, 1});
        break;
      default:
        room_.Set(row, field, AsText(Taken()));
        break;
    }
  }

  // 5: a baseline, 6: a delta, 7: a recovery.
  Bytes Message(bool json, int which) {
    const WireStateCodec& codec = json ? JsonStateCodec() : BinaryStateCodec();
    ++tick_;
    if (which == 5) room_.TakeBaseline();
    if (which == 5) return WriteBaseline(codec, room_, tick_);
    if (which == 7) return WriteRecovery(codec, room_, tick_);
    const OwnWords own{tick_, {1, -2, 3}, {4, -5, 6}, true};
    return WriteDelta(codec, room_, tick_, tick_ % 2 == 0 ? &own : nullptr);
  }

  Bytes Damaged(Bytes bytes) {
    for (int changes = input_.U8() % 4; changes > 0; --changes) {
      const std::uint16_t at = input_.U16();
      const auto bits = static_cast<std::byte>(input_.U8());
      if (!bytes.empty()) bytes[at % bytes.size()] ^= bits;
    }
    return bytes;
  }

  void Apply(bool json, const Bytes& bytes) {
    const WireStateCodec& codec = json ? JsonStateCodec() : BinaryStateCodec();
    const ModelRows before = ModelOf(client_.rows());
    const StateOutcome outcome = client_.Apply(codec.message_kind(), bytes);
    if (outcome == StateOutcome::kStale ||
        outcome == StateOutcome::kMalformed) {
      PARLOR_CHECK(ModelOf(client_.rows()) == before);
    } else {
      CheckRows(client_.rows());
    }
    forms_.Check(codec, bytes);
  }

  const Schema& schema_;
  ByteReader& input_;
  RowTable room_{schema_};
  std::uint32_t tick_ = 0;
  StateReceiver client_{schema_};
  StateForms forms_{schema_};
};

}  // namespace
}  // namespace parlor::authority

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::ByteReader input(std::as_bytes(std::span(data, size)));
  const auto schema = parlor::authority::SchemaFrom(input);
  parlor::authority::Fuzz(schema, input).Run();
  return 0;
}
