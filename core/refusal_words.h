// What a connection's refusal means to a player.
#ifndef PARLOR_CORE_REFUSAL_WORDS_H_
#define PARLOR_CORE_REFUSAL_WORDS_H_

#include <cstdint>
#include <string_view>

namespace parlor {

// Of CloseEvent::refusal (connection.h).
constexpr std::string_view RefusalWords(std::uint16_t status) {
  switch (status) {
    case 403:
      return "the host refused access";
    case 404:
      return "there is no such room";
    case 409:
      return "the room was opened for another number of players";
    case 429:
      return "too many tries: wait a minute";
    case 503:
      return "the host takes nobody in at the moment";
    default:
      return "the host refused the connection";
  }
}

}  // namespace parlor

#endif  // PARLOR_CORE_REFUSAL_WORDS_H_
