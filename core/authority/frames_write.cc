// The writers of text frames.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "authority/frame_words.h"
#include "authority/strict_json.h"
#include "parlor/authority/frames.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

// A double that holds a whole number is written as one.
std::string NumberText(double value) {
  PARLOR_CHECK(std::isfinite(value));
  if (value == std::trunc(value) &&
      std::abs(value) <= static_cast<double>(kIntMax)) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return nlohmann::json(value).dump();
}

template <typename List, typename ToText>
std::string ListText(const List& list, ToText to_text) {
  std::string text = "[";
  for (const auto& item : list) {
    if (text.size() > 1) text += ',';
    text += to_text(item);
  }
  return text += ']';
}

template <typename List>
std::string WholesText(const List& list) {
  return ListText(list, [](auto item) { return std::to_string(item); });
}

// As two numbers of 32 bits, the low one first: what JavaScript's operators
// take, and whose every bit its numbers keep.
std::string BitsText(std::uint64_t bits) {
  return WholesText(std::array{static_cast<std::uint32_t>(bits),
                               static_cast<std::uint32_t>(bits >> 32)});
}

class ObjectWriter {
 public:
  ObjectWriter() = default;
  explicit ObjectWriter(std::string_view type) { Text("t", type); }

  ObjectWriter& Text(std::string_view name, std::string_view value) {
    return Json(name, Quoted(value));
  }
  ObjectWriter& Whole(std::string_view name, std::int64_t value) {
    return Json(name, std::to_string(value));
  }
  ObjectWriter& Number(std::string_view name, double value) {
    return Json(name, NumberText(value));
  }
  ObjectWriter& Flag(std::string_view name, bool value) {
    return Json(name, value ? "true" : "false");
  }
  ObjectWriter& Json(std::string_view name, std::string_view value) {
    out_ += out_.empty() ? '{' : ',';
    out_.append("\"").append(name).append("\":").append(value);
    return *this;
  }
  std::string Done() { return std::move(out_ += '}'); }

 private:
  std::string out_;
};

}  // namespace

std::string Write(const JoinFrame& frame) {
  ObjectWriter out("join");
  out.Text("protocol", frame.protocol).Text("name", frame.name);
  if (frame.fields != "{}") out.Json("fields", frame.fields);
  if (!frame.codecs.empty()) {
    out.Json("codecs", ListText(frame.codecs, Quoted));
  }
  if (frame.resume) out.Text("resume", TokenText(*frame.resume));
  return out.Done();
}

std::string Write(const InputFrame& frame) {
  ObjectWriter out("input");
  out.Whole("seq", frame.seq);
  if (frame.held != 0) out.Json("held", BitsText(frame.held));
  if (frame.pressed != 0) out.Json("pressed", BitsText(frame.pressed));
  if (frame.axes != Axes{}) out.Json("axes", WholesText(frame.axes));
  if (frame.summed != Axes{}) out.Json("summed", WholesText(frame.summed));
  return out.Done();
}

std::string Write(const AckFrame& frame) {
  return ObjectWriter("ack").Whole("tick", frame.tick).Done();
}

std::string Write(const MsgFrame& frame) {
  return ObjectWriter("msg")
      .Text("name", frame.name)
      .Json("payload", frame.payload)
      .Done();
}

std::string Write(const PublishFrame& frame) {
  return ObjectWriter("publish")
      .Text("key", frame.key)
      .Json("value", frame.value)
      .Done();
}

std::string Write(const UnpublishFrame& frame) {
  return ObjectWriter("unpublish").Text("key", frame.key).Done();
}

std::string Write(const ChatFrame& frame) {
  return ObjectWriter("chat").Text("text", frame.text).Done();
}

std::string Write(const PingFrame& frame) {
  return ObjectWriter("ping")
      .Text("kind", WordOf(kPingWords, frame.kind))
      .Done();
}

std::string Write(const ModFrame& frame) {
  ObjectWriter out("mod");
  out.Text("action", WordOf(kModWords, frame.action));
  if (NeedsTarget(frame.action)) out.Text("target", frame.target);
  return out.Done();
}

std::string Write(const RttFrame& frame) {
  return ObjectWriter("rtt").Number("at", frame.at).Done();
}

std::string Write(const ResyncFrame& /*frame*/) {
  return ObjectWriter("resync").Done();
}

std::string Write(const LeaveFrame& /*frame*/) {
  return ObjectWriter("leave").Done();
}

std::string Write(const WelcomeFrame& frame) {
  return ObjectWriter("welcome")
      .Text("player", frame.player)
      .Whole("seat", frame.seat)
      .Text("token", TokenText(frame.token))
      .Text("protocol", frame.protocol)
      .Text("codec", frame.codec)
      .Json("schema", frame.schema)
      .Whole("tickHz", frame.tick_hz)
      .Whole("snapshotHz", frame.snapshot_hz)
      .Whole("epoch", frame.epoch)
      .Whole("tick", frame.tick)
      .Whole("entity", frame.entity)
      .Whole("graceMs", frame.grace_ms)
      .Done();
}

std::string Write(const RosterFrame& frame) {
  const auto player_text = [](const RosterPlayer& player) {
    return ObjectWriter()
        .Text("id", player.id)
        .Whole("seat", player.seat)
        .Text("name", player.name)
        .Flag("connected", player.connected)
        .Flag("host", player.host)
        .Done();
  };
  return ObjectWriter("roster")
      .Json("players", ListText(frame.players, player_text))
      .Flag("locked", frame.locked)
      .Done();
}

std::string Write(const TickFrame& frame) {
  const auto event_text = [](const TickEvent& event) {
    return ObjectWriter()
        .Text("kind", WordOf(kEventWords, event.kind))
        .Json("value", event.value)
        .Done();
  };
  ObjectWriter out("tick");
  out.Whole("tick", frame.tick)
      .Whole("ack", frame.ack)
      .Whole("entity", frame.entity);
  if (!frame.events.empty()) {
    out.Json("events", ListText(frame.events, event_text));
  }
  return out.Done();
}

std::string Write(const RoomMsgFrame& frame) {
  return ObjectWriter("msg")
      .Whole("from", frame.from)
      .Text("name", frame.name)
      .Json("payload", frame.payload)
      .Done();
}

std::string Write(const RoomChatFrame& frame) {
  return ObjectWriter("chat")
      .Whole("id", frame.id)
      .Text("from", frame.from)
      .Text("name", frame.name)
      .Text("text", frame.text)
      .Whole("at", frame.at)
      .Done();
}

std::string Write(const RoomPingFrame& frame) {
  return ObjectWriter("ping")
      .Text("from", frame.from)
      .Text("kind", WordOf(kPingWords, frame.kind))
      .Json("position", WholesText(frame.position))
      .Whole("expiresAt", frame.expires_at)
      .Done();
}

std::string Write(const RoomRttFrame& frame) {
  return ObjectWriter("rtt")
      .Number("at", frame.at)
      .Whole("server", frame.server)
      .Done();
}

std::string Write(const ErrorFrame& frame) {
  return ObjectWriter("error")
      .Text("code", Word(frame.code))
      .Text("message", frame.message)
      .Done();
}

}  // namespace parlor::authority
