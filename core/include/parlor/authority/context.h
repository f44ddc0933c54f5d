// Context: what a game sees of the room it runs in, the same on the authority
// and on a client: who plays, what they do in this step, and what can be said.
// Never a connection.
//
// A room makes one and hands it to every call of RoomAuthority; a peer makes
// one for the client's systems (systems.h). It is good inside that call only,
// and so is every view it gives out. One thread; nothing here calls back.
//
// What a client may do with it is for its own page alone: its rows are its
// own, its camera and HUD give way to what the authority set for its player,
// its phase is nobody's, and what it sends always goes up to the authority.
#ifndef PARLOR_AUTHORITY_CONTEXT_H_
#define PARLOR_AUTHORITY_CONTEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"

namespace parlor::authority {

class RowTable;

enum class Role : std::uint8_t {
  kSolo,       // a game without multiplayer
  kAuthority,  // runs the room's game
  kClient,     // a player's page or program, beside the authority's game
};

// Who has a seat, connected or held.
struct Player {
  int seat = 0;      // 0 .. seats - 1
  std::string id;    // "p1", "p2", ...: given once in a room's life
  std::string name;  // keeps the rule of names; not to be trusted otherwise
  // The join's own fields, a JSON object as the client wrote it; {} if it had
  // none. On a client: {}.
  std::string fields = "{}";
  // Verified by the transport adapter, never by what a client said; "" when
  // there is none. On a client: "".
  std::string identity;
  bool connected = true;  // false: the seat is held, its input is neutral
  bool host = false;      // the leader: one at most
  // The row this player controls (Possess), 0: none.
  std::uint32_t entity = 0;
};

// Whom Send means besides a seat.
inline constexpr int kEverybody = -1;

struct ReceivedMessage {
  int from = kAuthoritySender;  // a seat on the authority
  std::string_view name;
  std::string_view payload;  // JSON that passed the name's check
};

class Context {
 public:
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  virtual Role role() const = 0;
  // The tick this call belongs to: 1 in the first Step. Between two ticks, the
  // one that is over. On a client, the newest that its state is of.
  virtual std::uint32_t tick() const = 0;
  virtual int tick_hz() const = 0;

  // In the order of their seats.
  virtual std::span<const Player> players() const = 0;
  // Null for a seat that nobody has.
  const Player* player(int seat) const;
  // The host's seat, or -1: nobody is connected.
  int host() const;
  // A client's own seat; -1 on the authority.
  virtual int local_seat() const = 0;

  // What `seat` does in this step: neutral for a held seat and one that nobody
  // has; on a client, for all seats but its own.
  virtual const InputFrame& input(int seat) const = 0;
  // What came since the step before, in the order it came. The authority was
  // told of each by OnMessage already.
  virtual std::span<const ReceivedMessage> messages() const = 0;

  // The world's rows. On a client a table of its own, which nobody else sees
  // and which the authority's rows are not in.
  virtual RowTable& rows() = 0;

  // Sends `payload`, JSON, as the declared message `name` to a seat or all that
  // are connected: reliable and in order. False, and nothing is sent, when the
  // name was not declared or is the engine's, the payload does not pass its
  // check, or nobody connected has the seat. All but the last count as unsent
  // (RoomCounters) and are logged once a name, without the payload.
  bool Send(std::string_view name, std::string_view payload,
            int to = kEverybody);

  // What listings show of the room: 1..32 letters, digits and dashes. Told when
  // it changes; free to call every tick. False, and nothing changes, for
  // another text; counted and logged as an unsent message is.
  bool SetPhase(std::string_view phase);

  // One player's own camera and HUD: JSON objects of at most 2,048 bytes that
  // the game gives meaning to, or "null" to let go of it. The newest one holds,
  // also for a player who comes back. False, and nothing changes, for a seat
  // that nobody has, and for other JSON, which is counted and logged as an
  // unsent message is.
  bool SetCamera(int seat, std::string_view json);
  bool SetHud(int seat, std::string_view json);

  // Hands a player the row they control. False for a seat that nobody has.
  // The authority's alone: false on a client.
  bool Possess(int seat, std::uint32_t entity);

  // A new world, for a level or a restart: all rows are gone and ids start
  // afresh, so nobody controls a row any more. The authority's alone.
  void NewEpoch();

  // Runs `act`; what it sends and which phase, camera or HUD it sets stays
  // here: nobody is told, and nothing of it is counted. Rows that stay here are
  // RowTable::AddLocal's.
  template <typename Act>
  void Local(Act&& act) {
    const LocalScope scope(*this);
    act();
  }

 protected:
  Context() = default;
  ~Context() = default;

 private:
  // As an object, since `act` may throw.
  class LocalScope {
   public:
    explicit LocalScope(Context& context) : context_(context) {
      ++context_.local_depth_;
    }
    ~LocalScope() { --context_.local_depth_; }
    LocalScope(const LocalScope&) = delete;
    LocalScope& operator=(const LocalScope&) = delete;

   private:
    Context& context_;
  };

  // The calls above, outside of Local.
  virtual bool DoSend(std::string_view name, std::string_view payload,
                      int to) = 0;
  virtual bool DoSetPhase(std::string_view phase) = 0;
  virtual bool DoSetCamera(int seat, std::string_view json) = 0;
  virtual bool DoSetHud(int seat, std::string_view json) = 0;
  virtual bool DoPossess(int seat, std::uint32_t entity) = 0;
  virtual void DoNewEpoch() = 0;

  int local_depth_ = 0;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_CONTEXT_H_
