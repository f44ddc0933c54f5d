// SeatTokens: the resume tokens of one seat. A welcome can be lost, so that two
// can be known at once: the one that was last presented (proven) and the one
// that was last sent (issued). Either opens the seat; once the client has shown
// that the welcome arrived, by its first ack, the proven one is dead.
#ifndef PARLOR_CORE_AUTHORITY_SEAT_TOKENS_H_
#define PARLOR_CORE_AUTHORITY_SEAT_TOKENS_H_

#include "parlor/authority/frames.h"
#include "parlor/constant_time.h"
#include "parlor/entropy.h"

namespace parlor::authority {

class SeatTokens {
 public:
  // The token for the next welcome. The one issued before is dead.
  const ResumeToken& Issue(Entropy& entropy) {
    entropy.Fill(issued_.bytes);
    issued_.alive = true;
    return issued_.bytes;
  }

  // Whether `token` opens the seat. Both are compared, whatever is alive.
  bool Opens(const ResumeToken& token) const {
    const bool proven = ConstantTimeEquals(token, proven_.bytes);
    const bool issued = ConstantTimeEquals(token, issued_.bytes);
    return (proven && proven_.alive) || (issued && issued_.alive);
  }

  // `token`, which opens the seat, was presented: it is the proven one now.
  // Issue the next.
  void Present(const ResumeToken& token) { proven_ = {token, true}; }

  // The welcome with the issued one has arrived.
  void OnAck() { proven_ = {}; }
  // Whether anything could open the seat.
  bool any() const { return proven_.alive || issued_.alive; }

 private:
  struct Token {
    ResumeToken bytes{};
    bool alive = false;
  };
  Token proven_;
  Token issued_;
};

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_SEAT_TOKENS_H_
