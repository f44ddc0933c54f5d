// The rules of a lockstep room, row by row: what every connection is told, byte
// for byte (room_script.h explains the lines).
#include "parlor/lockstep/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <string>

#include "room_script.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using test::AfterThreeJoined;
using test::AfterTwoJoined;
using test::RoomRowName;
using test::RoomScript;
using test::StartedRoom;
using Row = test::RoomRow;

class RoomTest : public testing::TestWithParam<Row> {};

TEST_P(RoomTest, TellsExactly) { test::TellsExactly(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Lobby, RoomTest,
    testing::Values(
        Row{"OnePlayerStartsAtOnce",
            {.players = 1},
            {{"join a", "a WELCOME 0 1 0 77 10"},
             {"a INPUT 0 0 0 0 5"},
             {"look", "playing 1 seats 1 seated 0 held"}}},
        Row{"EachJoinAndLeaveIsToldToEveryWaitingSeat",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c", "a LOBBY 0 4 3; b LOBBY 1 4 3; c LOBBY 2 4 3"},
             {"lose b 1000", "a LOBBY 0 4 2; c LOBBY 2 4 2"},
             // The lowest free seat is taken again.
             {"join d", "a LOBBY 0 4 3; c LOBBY 2 4 3; d LOBBY 1 4 3"},
             {"look", "lobby 4 seats 3 seated 0 held"}}},
        // The join that begins the match: WELCOME to all, no LOBBY to anyone.
        Row{"FullRoomStartsWithoutStart", {}, AfterTwoJoined({})},
        Row{"JoinOfAPlayingRoomIsRefused",
            {},
            AfterTwoJoined({{"join c", "c closed 4000 room full"},
                            {"lose b 1000", "a LEAVE 1 2"},
                            // A seat that was left is not free.
                            {"join d", "d closed 4000 room full"}})},
        Row{"StartWithZeroStartsAtOnce",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"a START 0 0 9", "a WELCOME 0 2 9 77 10; b WELCOME 1 2 9 77 11"},
             {"look", "playing 2 seats 2 seated 0 held"}}},
        Row{"StartWithFewerThanSeatedStartsAtOnce",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"a START 0 1", "a WELCOME 0 2 0 77 10; b WELCOME 1 2 0 77 11"}}},
        Row{"StartWaitsForItsCount",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"a START 0 3 5"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c",
              "a WELCOME 0 3 5 77 10; b WELCOME 1 3 5 77 11; "
              "c WELCOME 2 3 5 77 12"}}},
        Row{"StartAboveTheSeatsStartsWhenFull",
            {.players = 2},
            {{"join a", "a LOBBY 0 2 1"},
             {"a START 0 200 5"},
             {"join b", "a WELCOME 0 2 5 77 10; b WELCOME 1 2 5 77 11"}}},
        Row{"LastStartWins",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"a START 0 2 1"},
             {"a START 0 3 2"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c",
              "a WELCOME 0 3 2 77 10; b WELCOME 1 3 2 77 11; "
              "c WELCOME 2 3 2 77 12"}}},
        Row{"StartOfAnotherSeatIsIgnored",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             // Whatever slot it claims.
             {"b START 0 0 9"},
             {"look", "lobby 4 seats 2 seated 0 held"}}},
        Row{"SeatsAreRenumberedInOrder",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c", "a LOBBY 0 4 3; b LOBBY 1 4 3; c LOBBY 2 4 3"},
             {"lose b 1000", "a LOBBY 0 4 2; c LOBBY 2 4 2"},
             {"a START 0 2 4", "a WELCOME 0 2 4 77 10; c WELCOME 1 2 4 77 11"},
             // A stale slot would echo this to c, or stamp it 2.
             {"c INPUT 2 0 0 1 8", "a INPUT 1 0 0 1 8"},
             {"c INPUT 2 0 0 1 8"},
             {"a INPUT 0 0 0 1 8", "c INPUT 0 0 0 1 8"},
             {"lose c 1006", "a AWAY 1 2"}}},
        // The seed's sample keeps the START; a stranger's join would start it.
        Row{"PendingStartDiesWithItsHost",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"a START 0 3 6"},
             {"lose a 1000", "b LOBBY 1 4 1"},
             // Nobody is host, and b keeps its number.
             {"b START 0 0 9"},
             {"join c", "b LOBBY 1 4 2; c LOBBY 0 4 2"},
             {"join d", "b LOBBY 1 4 3; c LOBBY 0 4 3; d LOBBY 2 4 3"},
             {"join e",
              "b WELCOME 1 4 0 77 11; c WELCOME 0 4 0 77 10; "
              "d WELCOME 2 4 0 77 12; e WELCOME 3 4 0 77 13"}}},
        Row{"NextJoinerOfSeatZeroIsHost",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"lose a 1006", "b LOBBY 1 4 1"},
             {"join c", "b LOBBY 1 4 2; c LOBBY 0 4 2"},
             {"c START 0 0 3",
              "b WELCOME 1 2 3 77 11; c WELCOME 0 2 3 77 10"}}},
        Row{"PendingStartOutlivesAnotherSeat",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"a START 0 3 6"},
             {"lose b 1000", "a LOBBY 0 4 1"},
             {"join c", "a LOBBY 0 4 2; c LOBBY 1 4 2"},
             {"join d",
              "a WELCOME 0 3 6 77 10; c WELCOME 1 3 6 77 11; "
              "d WELCOME 2 3 6 77 12"}}},
        // A leave and LOBBY: there are no tokens yet, so never AWAY or LEAVE.
        Row{"DropBeforeTheStartIsALeave",
            {.players = 3},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"lose b 1006", "a LOBBY 0 3 1"},
             {"look", "lobby 3 seats 1 seated 0 held"},
             {"lose a 1012"},
             {"look", "ended 3 seats 0 seated 0 held"}}},
        Row{"OtherKindsBeforeTheStartAreIgnored",
            {.players = 2},
            {{"join a", "a LOBBY 0 2 1"},
             {"a INPUT 0 0 0 1 1"},
             {"a HASH 0 0 0 1 1"},
             {"a WELCOME 0 2"},
             {"a LOBBY 0 2 1"},
             {"a KIND0"},
             {"a KIND255"},
             // Nothing of it was kept: the same frames are new in the match.
             {"join b", "a WELCOME 0 2 0 77 10; b WELCOME 1 2 0 77 11"},
             {"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
             {"a HASH 0 0 0 1 1", "b HASH 0 0 0 1 1"}}},
        Row{"NobodyResumesBeforeTheStart",
            {.players = 2},
            {{"join a", "a LOBBY 0 2 1"},
             {"resume b a", "b closed 4002 seat gone"},
             {"resume c 0", "c closed 4002 seat gone"},
             {"look", "lobby 2 seats 1 seated 0 held"}}},
        Row{"KickInTheLobby",
            {.players = 3},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"kick 2"},
             {"kick 3"},
             {"kick -1"},
             {"kick 0", "a closed 1008 kicked; b LOBBY 1 3 1"},
             {"late a 1008"},
             {"look", "lobby 3 seats 1 seated 0 held"}}}),
    RoomRowName);

INSTANTIATE_TEST_SUITE_P(
    Match, RoomTest,
    testing::Values(
        Row{"RelaysToEveryOtherSeatAndStampsTheSlot",
            {.players = 3},
            AfterThreeJoined({// Bytes 2 and 3 go on as sent.
                              {"b INPUT 0 200 201 7 4000000000",
                               "a INPUT 1 200 201 7 4000000000; "
                               "c INPUT 1 200 201 7 4000000000"},
                              {"b HASH 255 1 2 30 5",
                               "a HASH 1 1 2 30 5; c HASH 1 1 2 30 5"}})},
        Row{"FramesRisePerSeatAndKind",
            {},
            AfterTwoJoined(
                {{"a INPUT 0 0 0 0 1", "b INPUT 0 0 0 0 1"},
                 {"a INPUT 0 0 0 0 2"},  // the first write wins
                 {"a HASH 0 0 0 0 3", "b HASH 0 0 0 0 3"},
                 {"a HASH 0 0 0 0 4"},
                 {"a INPUT 0 0 0 9 1", "b INPUT 0 0 0 9 1"},  // gaps are fine
                 {"a INPUT 0 0 0 8 1"},
                 {"a HASH 0 0 0 8 1", "b HASH 0 0 0 8 1"},
                 {"b INPUT 0 0 0 8 1", "a INPUT 1 0 0 8 1"},
                 // Unsigned: these are above, not below.
                 {"a INPUT 0 0 0 2147483648", "b INPUT 0 0 0 2147483648"},
                 {"a INPUT 0 0 0 2147483647"},
                 {"a INPUT 0 0 0 4294967295 6", "b INPUT 0 0 0 4294967295 6"},
                 {"a INPUT 0 0 0 4294967295 7"},
                 {"a INPUT 0 0 0 0 7"},
                 {"a HASH 0 0 0 4294967295", "b HASH 0 0 0 4294967295"},
                 {"a HASH 0 0 0 4294967295"}})},
        Row{"OtherKindsAreIgnoredAndTheSocketKept",
            {},
            AfterTwoJoined({{"a WELCOME 1 2 0 1 1"},
                            {"a LEAVE 1 2"},
                            {"a RESUME 1 2"},
                            {"a AWAY 1 2"},
                            {"a START 0 0"},
                            {"a LOBBY 1 2 2"},
                            {"a KIND0"},
                            {"a KIND9"},
                            {"a KIND255"},
                            {"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"}})},
        Row{"DropIsAwayAndEndsAsLeave",
            {.players = 3},
            AfterThreeJoined({{"lose b 1006", "a AWAY 1 3; c AWAY 1 3"},
                              {"look", "playing 3 seats 2 seated 1 held"},
                              {"wait 19999"},
                              {"alarm"},
                              {"wait 1"},
                              {"alarm", "a LEAVE 1 3; c LEAVE 1 3"},
                              {"look", "playing 3 seats 2 seated 0 held"},
                              {"wait 20000"},
                              {"alarm"}})},
        Row{"HoldOfZeroIsALeave",
            {.options = {.hold_ms = 0}},
            AfterTwoJoined({{"lose b 1006", "a LEAVE 1 2"},
                            {"resume c b", "c closed 4002 seat gone"}})},
        Row{"HeldRoomLivesUntilItsLastHoldEnds",
            {},
            AfterTwoJoined({{"lose a 1006", "b AWAY 0 2"},
                            {"wait 5000"},
                            {"lose b 1006"},
                            {"wait 15000"},
                            {"alarm"},
                            {"look", "playing 2 seats 0 seated 1 held"},
                            {"join c", "c closed 4000 room full"},
                            {"wait 5000"},
                            {"alarm"},
                            {"look", "ended 2 seats 0 seated 0 held"}})},
        Row{"EmptiedRoomIsEnded",
            {},
            AfterTwoJoined({{"lose a 1000", "b LEAVE 0 2"},
                            {"lose b 1001"},
                            {"look", "ended 2 seats 0 seated 0 held"},
                            {"join c", "c closed 4000 room full"},
                            {"resume d a", "d closed 4002 seat gone"}})},
        Row{"WrongSizesArePutOut",
            {.players = 3},
            AfterThreeJoined(
                {{"bytes a 0",
                  "a closed 1009 message size; b LEAVE 0 3; c LEAVE 0 3"},
                 {"late a 1009"},
                 {"bytes b 11", "b closed 1009 message size; c LEAVE 1 3"},
                 {"bytes c 13", "c closed 1009 message size"},
                 {"look", "ended 3 seats 0 seated 0 held"}})},
        Row{"TextIsPutOut",
            {},
            AfterTwoJoined({{"text a",
                             "a closed 1009 message size; b LEAVE 0 2"},
                            // A kick is a leave: its token died.
                            {"resume c a", "c closed 4002 seat gone"}})},
        Row{"WrongSizeInTheLobby",
            {.players = 3},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"bytes a 24", "a closed 1009 message size; b LOBBY 1 3 1"}}},
        Row{"WhoIsPutOutIsUnknown",
            {},
            AfterTwoJoined({{"kick 0", "a closed 1008 kicked; b LEAVE 0 2"},
                            {"a INPUT 0 0 0 1 1"},
                            {"bytes a 3"},
                            {"ping a"},
                            {"late a 1006"},
                            {"b INPUT 0 0 0 1 1"},
                            {"look", "playing 2 seats 1 seated 0 held"}})},
        Row{"KickOfAHeldSeat",
            {},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"kick 1", "a LEAVE 1 2"},
                            {"kick 1"},
                            {"resume c b", "c closed 4002 seat gone"},
                            {"wait 20000"},
                            {"alarm"}})},
        // An overflow closes the receiver inside the loop; that it did comes
        // later, as 1011: a drop.
        Row{"OverflowWhileRelayingIsADrop",
            {.players = 3},
            AfterThreeJoined({{"full b 1"},
                              {"a INPUT 0 0 0 1 1",
                               "b INPUT 0 0 0 1 1; c INPUT 0 0 0 1 1"},
                              {"a INPUT 0 0 0 2 1",
                               "b closed 1011 too slow; c INPUT 0 0 0 2 1"},
                              {"a INPUT 0 0 0 3 1", "c INPUT 0 0 0 3 1"},
                              {"look", "playing 3 seats 3 seated 0 held"},
                              {"lose b 1011", "a AWAY 1 3; c AWAY 1 3"}})},
        Row{"OverflowWhileTellingAboutALeave",
            {.players = 3},
            AfterThreeJoined({{"full a 0"},
                              {"lose b 1000",
                               "a closed 1011 too slow; c LEAVE 1 3"},
                              {"lose a 1011", "c AWAY 0 3"}})}),
    RoomRowName);

INSTANTIATE_TEST_SUITE_P(
    Resume, RoomTest,
    testing::Values(
        Row{"HeldSeatComesBack",
            {.players = 3},
            AfterThreeJoined(
                {{"a INPUT 0 1 2 0 5", "b INPUT 0 1 2 0 5; c INPUT 0 1 2 0 5"},
                 {"a HASH 0 0 0 0 6", "b HASH 0 0 0 0 6; c HASH 0 0 0 0 6"},
                 {"c INPUT 0 0 0 3 7", "a INPUT 2 0 0 3 7; b INPUT 2 0 0 3 7"},
                 {"b INPUT 0 0 0 1 8", "a INPUT 1 0 0 1 8; c INPUT 1 0 0 1 8"},
                 {"lose b 1006", "a AWAY 1 3; c AWAY 1 3"},
                 {"a INPUT 0 0 0 4 9", "c INPUT 0 0 0 4 9"},
                 // No HASH, and none of its own.
                 {"resume d b",
                  "a RESUME 1 3; c RESUME 1 3; d WELCOME 1 3 0 77 11; "
                  "d RESUME 1 3; d INPUT 0 1 2 0 5; d INPUT 0 0 0 4 9; "
                  "d INPUT 2 0 0 3 7"},
                 {"look", "playing 3 seats 3 seated 0 held"},
                 // Its frames go on from where they were.
                 {"d INPUT 0 0 0 1 8"},
                 {"d INPUT 0 0 0 2 8", "a INPUT 1 0 0 2 8; c INPUT 1 0 0 2 8"},
                 // The hold that ended well does not end the seat.
                 {"wait 20000"},
                 {"alarm"},
                 {"lose d 1006", "a AWAY 1 3; c AWAY 1 3"}})},
        Row{"StatesOfTheOthersAreTold",
            {.players = 4},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c", "a LOBBY 0 4 3; b LOBBY 1 4 3; c LOBBY 2 4 3"},
             {"join d",
              "a WELCOME 0 4 0 77 10; b WELCOME 1 4 0 77 11; "
              "c WELCOME 2 4 0 77 12; d WELCOME 3 4 0 77 13"},
             {"c INPUT 0 0 0 5 1",
              "a INPUT 2 0 0 5 1; b INPUT 2 0 0 5 1; d INPUT 2 0 0 5 1"},
             {"lose c 1000", "a LEAVE 2 4; b LEAVE 2 4; d LEAVE 2 4"},
             {"lose b 1006", "a AWAY 1 4; d AWAY 1 4"},
             {"lose a 1006", "d AWAY 0 4"},
             // Inputs of a seat that left too; then LEAVE and AWAY by seat.
             {"resume e a",
              "d RESUME 0 4; e WELCOME 0 4 0 77 10; e RESUME 0 4; "
              "e INPUT 2 0 0 5 1; e AWAY 1 4; e LEAVE 2 4"},
             {"resume f b",
              "d RESUME 1 4; e RESUME 1 4; f WELCOME 1 4 0 77 11; "
              "f RESUME 1 4; f INPUT 2 0 0 5 1; f RESUME 0 4; f LEAVE 2 4"},
             // Seat 3 was never away. Told on every resume, a takeover too.
             {"resume g d",
              "d closed 4001 resumed; e RESUME 3 4; f RESUME 3 4; "
              "g WELCOME 3 4 0 77 13; g RESUME 3 4; g INPUT 2 0 0 5 1; "
              "g RESUME 0 4; g RESUME 1 4; g LEAVE 2 4"},
             // A takeover is no AWAY, so that of seat 3 is not told.
             {"resume h a",
              "e closed 4001 resumed; f RESUME 0 4; g RESUME 0 4; "
              "h WELCOME 0 4 0 77 10; h RESUME 0 4; h INPUT 2 0 0 5 1; "
              "h RESUME 1 4; h LEAVE 2 4"}}},
        Row{"TakeoverOfALiveSeat",
            {},
            AfterTwoJoined(
                {{"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
                 {"resume c b",
                  "a RESUME 1 2; b closed 4001 resumed; "
                  "c WELCOME 1 2 0 77 11; c RESUME 1 2; c INPUT 0 0 0 1 1"},
                 // What the old connection still has to say does nothing.
                 {"b INPUT 0 0 0 1 1"},
                 {"bytes b 3"},
                 {"late b 1006"},
                 {"look", "playing 2 seats 2 seated 0 held"},
                 {"c INPUT 0 0 0 1 1", "a INPUT 1 0 0 1 1"}})},
        Row{"LateCloseAfterAnOverflow",
            {},
            AfterTwoJoined({{"full b 0"},
                            {"a INPUT 0 0 0 1 1", "b closed 1011 too slow"},
                            {"resume c b",
                             "a RESUME 1 2; c WELCOME 1 2 0 77 11; "
                             "c RESUME 1 2; c INPUT 0 0 0 1 1"},
                            {"late b 1011"},
                            {"look", "playing 2 seats 2 seated 0 held"}})},
        Row{"WrongTokensChangeNothing",
            {.options = {.hold_ms = 1000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 999"},
                            {"resume c ff", "c closed 4002 seat gone"},
                            {"resume d 0", "d closed 4002 seat gone"},
                            {"late c 4002"},
                            {"look", "playing 2 seats 1 seated 1 held"},
                            // The hold goes on and ends when it would have.
                            {"alarm"},
                            {"wait 1"},
                            {"alarm", "a LEAVE 1 2"}})},
        Row{"RightTokenAfterWrongOnes",
            {.options = {.hold_ms = 1000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"resume c ff", "c closed 4002 seat gone"},
                            {"wait 999"},
                            {"resume d b",
                             "a RESUME 1 2; d WELCOME 1 2 0 77 11; "
                             "d RESUME 1 2"}})},
        Row{"TokenDiesWithItsHold",
            {.options = {.hold_ms = 1000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 1000"},
                            {"alarm", "a LEAVE 1 2"},
                            {"resume c b", "c closed 4002 seat gone"}})},
        // However late the alarm is.
        Row{"TokenDiesWithItsHoldBeforeTheAlarm",
            {.options = {.hold_ms = 1000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 1000"},
                            {"resume c b",
                             "a LEAVE 1 2; c closed 4002 seat gone"}})},
        Row{"TokenDiesWithALeave",
            {},
            AfterTwoJoined({{"lose b 1000", "a LEAVE 1 2"},
                            {"resume c b", "c closed 4002 seat gone"}})},
        Row{"TokenOpensItsSeatAgainAndAgain",
            {},
            AfterTwoJoined(
                {{"lose b 1006", "a AWAY 1 2"},
                 {"resume c b",
                  "a RESUME 1 2; c WELCOME 1 2 0 77 11; c RESUME 1 2"},
                 {"lose c 1012", "a AWAY 1 2"},
                 {"resume d b",
                  "a RESUME 1 2; d WELCOME 1 2 0 77 11; d RESUME 1 2"}})},
        // Never twice on one connection; a new connection is told again.
        Row{"LeaveIsToldOnceAConnection",
            {},
            AfterTwoJoined(
                {{"kick 1", "a LEAVE 1 2; b closed 1008 kicked"},
                 {"late b 1008"},
                 {"kick 1"},
                 {"lose a 1006"},
                 {"resume c a",
                  "c WELCOME 0 2 0 77 10; c RESUME 0 2; c LEAVE 1 2"}})},
        Row{"ResumedConnectionThatOverflowsIsADrop",
            {},
            AfterTwoJoined(
                {{"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
                 {"lose b 1006", "a AWAY 1 2"},
                 {"join c", "c closed 4000 room full"},
                 {"resume d b",
                  "a RESUME 1 2; d WELCOME 1 2 0 77 11; d RESUME 1 2; "
                  "d INPUT 0 0 0 1 1"},
                 {"full d 0"},
                 {"a INPUT 0 0 0 2 1", "d closed 1011 too slow"},
                 {"lose d 1011", "a AWAY 1 2"}})},
        Row{"DrawnAgainWhenZeroOrTaken",
            {.players = 3, .draws = {5, 0, 9, 9, 0, 9, 8, 8, 9, 7}},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"join c",
              "a WELCOME 0 3 0 5 9; b WELCOME 1 3 0 5 8; "
              "c WELCOME 2 3 0 5 7"}}},
        Row{"SeedGivenByTheOptions",
            {.players = 1, .options = {.seed = 1234}, .draws = {42}},
            {{"join a", "a WELCOME 0 1 0 1234 42"}}}),
    RoomRowName);

INSTANTIATE_TEST_SUITE_P(
    Deadlines, RoomTest,
    testing::Values(
        Row{"LobbyNotFilled",
            {.players = 3, .options = {.lobby_ms = 500}},
            {{"join a", "a LOBBY 0 3 1"},
             {"wait 499"},
             // A join does not move it.
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"wait 1"},
             {"alarm",
              "a closed 1001 room not filled; b closed 1001 room not filled"},
             {"late a 1001"},
             {"look", "ended 3 seats 0 seated 0 held"},
             {"join c", "c closed 4000 room full"}}},
        Row{"LobbyEndsWithTheStart",
            {.options = {.lobby_ms = 500}},
            AfterTwoJoined({{"wait 500"}, {"alarm"}})},
        Row{"IdleCountsFromTheStart",
            {.options = {.idle_ms = 1000}},
            {{"join a", "a LOBBY 0 2 1"},
             {"wait 900"},
             {"join b", "a WELCOME 0 2 0 77 10; b WELCOME 1 2 0 77 11"},
             {"wait 999"},
             {"alarm"},
             {"wait 1"},
             {"alarm", "a closed 1001 room idle; b closed 1001 room idle"}}},
        Row{"IdleCountsFromTheLastRelayedMessage",
            {.options = {.idle_ms = 1000}},
            AfterTwoJoined(
                {{"wait 900"},
                 {"a HASH 0 0 0 5 1", "b HASH 0 0 0 5 1"},
                 {"wait 900"},
                 {"alarm"},
                 // Not relayed: a stale frame, an ignored kind, a ping.
                 {"a HASH 0 0 0 5 1"},
                 {"a START 0 0"},
                 {"ping a"},
                 {"wait 100"},
                 {"alarm", "a closed 1001 room idle; b closed 1001 room idle"},
                 {"resume c a", "c closed 4002 seat gone"}})},
        Row{"LifetimeCountsFromTheOpening",
            {.options = {.lobby_ms = 5000, .lifetime_ms = 2000}},
            {{"join a", "a LOBBY 0 2 1"},
             {"wait 1500"},
             {"join b", "a WELCOME 0 2 0 77 10; b WELCOME 1 2 0 77 11"},
             {"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
             {"wait 500"},
             {"alarm",
              "a closed 1001 room time is up; b closed 1001 room time is up"}}},
        Row{"LifetimeEndsALobby",
            {.options = {.lobby_ms = 5000, .lifetime_ms = 2000}},
            {{"join a", "a LOBBY 0 2 1"},
             {"wait 2000"},
             {"alarm", "a closed 1001 room time is up"}}},
        // At one instant: lobby or idle, then lifetime, then holds by seat.
        Row{"LobbyBeforeLifetime",
            {.options = {.lobby_ms = 2000, .lifetime_ms = 2000}},
            {{"join a", "a LOBBY 0 2 1"},
             {"wait 2000"},
             {"alarm", "a closed 1001 room not filled"}}},
        Row{"IdleBeforeLifetime",
            {.options = {.idle_ms = 2000, .lifetime_ms = 2000}},
            AfterTwoJoined(
                {{"wait 2000"},
                 {"alarm",
                  "a closed 1001 room idle; b closed 1001 room idle"}})},
        Row{"RoomBeforeHolds",
            {.options = {.hold_ms = 2000, .idle_ms = 2000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 2000"},
                            {"alarm", "a closed 1001 room idle"}})},
        Row{"LifetimeBeforeHolds",
            {.options = {.hold_ms = 2000, .lifetime_ms = 2000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 2000"},
                            {"alarm", "a closed 1001 room time is up"}})},
        Row{"HoldsBySeat",
            {.players = 3},
            AfterThreeJoined({{"lose c 1006", "a AWAY 2 3; b AWAY 2 3"},
                              {"lose a 1006", "b AWAY 0 3"},
                              {"wait 20000"},
                              {"alarm", "b LEAVE 0 3; b LEAVE 2 3"}})},
        // An alarm that comes late for several does them in their order.
        Row{"LateAlarmKeepsTheOrder",
            {.players = 3, .options = {.hold_ms = 1000, .idle_ms = 3000}},
            AfterThreeJoined({{"lose c 1006", "a AWAY 2 3; b AWAY 2 3"},
                              {"wait 500"},
                              {"lose a 1006", "b AWAY 0 3"},
                              {"wait 9000"},
                              {"alarm",
                               "b LEAVE 2 3; b LEAVE 0 3; "
                               "b closed 1001 room idle"}})},
        Row{"LateAlarmAfterTheRoomsEnd",
            {.options = {.hold_ms = 3000, .idle_ms = 1000}},
            AfterTwoJoined({{"lose b 1006", "a AWAY 1 2"},
                            {"wait 9000"},
                            {"alarm", "a closed 1001 room idle"}})},
        // Whatever call comes first after a deadline finds it done.
        Row{"MessageAfterIdle",
            {.options = {.idle_ms = 1000}},
            AfterTwoJoined(
                {{"wait 1000"},
                 {"a INPUT 0 0 0 1 1",
                  "a closed 1001 room idle; b closed 1001 room idle"}})},
        Row{"JoinAfterTheLobby",
            {.options = {.lobby_ms = 1000}},
            {{"join a", "a LOBBY 0 2 1"},
             {"wait 1000"},
             {"join b",
              "a closed 1001 room not filled; b closed 4000 room full"}}},
        Row{"CloseAfterAHold",
            {.players = 3, .options = {.hold_ms = 1000}},
            AfterThreeJoined({{"lose c 1006", "a AWAY 2 3; b AWAY 2 3"},
                              {"wait 1000"},
                              {"lose b 1006", "a LEAVE 2 3; a AWAY 1 3"}})}),
    RoomRowName);

constexpr RoomOptions kSlow{.message_rate_per_s = 10, .message_burst = 3};

INSTANTIATE_TEST_SUITE_P(
    MessageRate, RoomTest,
    testing::Values(
        Row{"BurstThenRate",
            {.options = kSlow},
            AfterTwoJoined({{"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
                            {"a INPUT 0 0 0 2 1", "b INPUT 0 0 0 2 1"},
                            {"a INPUT 0 0 0 3 1", "b INPUT 0 0 0 3 1"},
                            {"wait 100"},
                            {"a INPUT 0 0 0 4 1", "b INPUT 0 0 0 4 1"},
                            {"wait 99"},
                            {"a INPUT 0 0 0 5 1",
                             "a closed 1008 message rate; b LEAVE 0 2"},
                            {"late a 1008"},
                            {"resume c a", "c closed 4002 seat gone"}})},
        // Exactly the burst, however long the seat was silent.
        Row{"SilenceSavesUpNoMoreThanTheBurst",
            {.options = kSlow},
            AfterTwoJoined({{"wait 200000"},
                            {"a KIND0"},
                            {"a KIND0"},
                            {"a KIND0"},
                            {"a KIND0",
                             "a closed 1008 message rate; b LEAVE 0 2"}})},
        Row{"IgnoredKindsStaleFramesAndControlCount",
            {.options = kSlow},
            AfterTwoJoined({{"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
                            {"a INPUT 0 0 0 1 1"},
                            {"ping a"},
                            {"ping a",
                             "a closed 1008 message rate; b LEAVE 0 2"}})},
        Row{"MessagesBeforeTheStartCount",
            {.players = 3, .options = kSlow},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"b INPUT"},
             {"b INPUT"},
             {"b INPUT"},
             {"b START 0 0", "a LOBBY 0 3 1; b closed 1008 message rate"}}},
        // What a seat has used goes with it when it is renumbered.
        Row{"RenumberingKeepsTheRate",
            {.players = 4, .options = kSlow},
            {{"join a", "a LOBBY 0 4 1"},
             {"join b", "a LOBBY 0 4 2; b LOBBY 1 4 2"},
             {"join c", "a LOBBY 0 4 3; b LOBBY 1 4 3; c LOBBY 2 4 3"},
             {"c KIND0"},
             {"c KIND0"},
             {"c KIND0"},
             {"lose b 1000", "a LOBBY 0 4 2; c LOBBY 2 4 2"},
             {"a START 0 0", "a WELCOME 0 2 0 77 10; c WELCOME 1 2 0 77 11"},
             {"c INPUT 0 0 0 1 1", "a LEAVE 1 2; c closed 1008 message rate"},
             {"a KIND0"},
             {"a KIND0"},
             {"a KIND0", "a closed 1008 message rate"}}},
        Row{"ResumeKeepsTheRate",
            {.options = kSlow},
            AfterTwoJoined(
                {{"b KIND0"},
                 {"b KIND0"},
                 {"b KIND0"},
                 {"lose b 1006", "a AWAY 1 2"},
                 {"resume c b",
                  "a RESUME 1 2; c WELCOME 1 2 0 77 11; c RESUME 1 2"},
                 {"c KIND0", "a LEAVE 1 2; c closed 1008 message rate"}})},
        Row{"NewJoinerOfASeatStartsFull",
            {.players = 3, .options = kSlow},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"b KIND0"},
             {"b KIND0"},
             {"b KIND0"},
             {"lose b 1000", "a LOBBY 0 3 1"},
             {"join c", "a LOBBY 0 3 2; c LOBBY 1 3 2"},
             {"c KIND0"},
             {"c KIND0"},
             {"c KIND0"},
             {"c KIND0", "a LOBBY 0 3 1; c closed 1008 message rate"}}},
        Row{"RateBeforeSize",
            {.options = {.message_rate_per_s = 1, .message_burst = 1}},
            AfterTwoJoined({{"a KIND0"},
                            {"bytes a 5",
                             "a closed 1008 message rate; b LEAVE 0 2"}})}),
    RoomRowName);

// --- Rules that are longer than a row

struct ReplayCase {
  const char* name;
  int inputs;
  int first;  // the first input that is replayed
};

class ReplayTest : public testing::TestWithParam<ReplayCase> {};

TEST_P(ReplayTest, GivesTheLast64OfEachSeatAscending) {
  StartedRoom script({.players = 3});
  const auto input = [](int seat, int i) {
    // Frames with gaps: 64 is a number of messages, not of frames.
    return "INPUT " + std::to_string(seat) + " 3 4 " + std::to_string(7 * i) +
           " " + std::to_string(1000 * (seat + 1) + i);
  };
  std::string expected =
      "a RESUME 1 3; c RESUME 1 3; d WELCOME 1 3 0 77 11; d RESUME 1 3";
  for (int seat : {0, 2}) {
    const std::string name(1, static_cast<char>('a' + seat));
    for (int i = 1; i <= GetParam().inputs; ++i) {
      script.Do(name + " " + input(seat, i));
      if (i >= GetParam().first) expected += "; d " + input(seat, i);
    }
  }
  script.Do("b INPUT 0 0 0 9 9");
  EXPECT_EQ(script.Do("resume d b"),
            "a RESUME 1 3; b closed 4001 resumed; " +
                expected.substr(std::string("a RESUME 1 3; ").size()));
}

INSTANTIATE_TEST_SUITE_P(
    Inputs, ReplayTest,
    testing::Values(ReplayCase{"None", 0, 1}, ReplayCase{"One", 1, 1},
                    ReplayCase{"AllButOne", 63, 1}, ReplayCase{"All", 64, 1},
                    ReplayCase{"OneLost", 65, 2}, ReplayCase{"Twice", 128, 65},
                    ReplayCase{"Wrapped", 200, 137}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RoomCloseTest, EveryCodeIsADropOrALeave) {
  for (int code = 0; code <= 0xffff; ++code) {
    const bool drop =
        code == 1006 || code == 1011 || code == 1012 || code == 1014;
    StartedRoom script({.players = 2});
    ASSERT_EQ(script.Do("lose b " + std::to_string(code)),
              drop ? "a AWAY 1 2" : "a LEAVE 1 2")
        << code;
  }
}

struct TokenCase {
  const char* name;
  const char* token;
  bool opens;
};

class TokenTest : public testing::TestWithParam<TokenCase> {};

TEST_P(TokenTest, OneToEightHexDigits) {
  const TokenCase& row = GetParam();
  StartedRoom script({.players = 2, .draws = {1, 0x00ab3cde, 0xffffffff}});
  test::RecordingConnection connection;
  const Outcome outcome =
      script.room().Resume(script.now(), connection, row.token);
  EXPECT_EQ(outcome, row.opens ? Outcome::kSeated : Outcome::kSeatGone);
  EXPECT_EQ(connection.is_open(), row.opens);
  EXPECT_EQ(script.room().SeatOf(connection) >= 0, row.opens);
}

INSTANTIATE_TEST_SUITE_P(
    Tokens, TokenTest,
    testing::Values(
        TokenCase{"Plain", "ab3cde", true}, TokenCase{"Upper", "AB3CDE", true},
        TokenCase{"Mixed", "aB3cDe", true},
        TokenCase{"OneLeadingZero", "0ab3cde", true},
        TokenCase{"EightDigits", "00ab3cde", true},
        TokenCase{"NineDigits", "000ab3cde", false},
        TokenCase{"Highest", "ffffffff", true}, TokenCase{"Empty", "", false},
        TokenCase{"Zero", "0", false}, TokenCase{"Zeros", "00000000", false},
        TokenCase{"Wrong", "ab3cdf", false},
        TokenCase{"Prefixed", "0xab3cde", false},
        TokenCase{"Plus", "+ab3cde", false}, TokenCase{"Minus", "-1", false},
        TokenCase{"SpaceBefore", " ab3cde", false},
        TokenCase{"SpaceAfter", "ab3cde ", false},
        TokenCase{"NotHex", "ab3cdg", false},
        TokenCase{"OverflowsTo", "100ab3cde", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RoomTokenTest, ABinaryZeroIsNoDigit) {
  StartedRoom script({.players = 2});
  test::RecordingConnection connection;
  EXPECT_EQ(script.room().Resume(script.now(), connection,
                                 std::string_view("b\0", 2)),
            Outcome::kSeatGone);
}

struct RateCase {
  const char* name;
  std::int64_t rate;
  std::int64_t burst;
};

class RateTest : public testing::TestWithParam<RateCase> {};

// `burst` at once, then exactly `rate` a second: at each multiple of 1/rate
// one message passes, and one nanosecond before it none would.
TEST_P(RateTest, IsExact) {
  const auto [name, rate, burst] = GetParam();
  for (bool too_early : {false, true}) {
    StartedRoom script(
        {.players = 1,
         .options = {.message_rate_per_s = rate, .message_burst = burst}});
    Room& room = script.room();
    test::RecordingConnection& a = script.connection("a");
    for (std::int64_t i = 0; i < burst; ++i) room.OnControl(script.now(), a);
    // Three seconds of it: a rate that does not divide a second adds up.
    const std::int64_t last = 3 * rate;
    for (std::int64_t i = 1; i <= last; ++i) {
      ASSERT_TRUE(a.is_open()) << "message " << i;
      const std::int64_t at = (i * 1'000'000'000 + rate - 1) / rate;
      const bool early = too_early && i == last;
      room.OnControl(script.now() + Duration(early ? at - 1 : at), a);
    }
    EXPECT_EQ(a.is_open(), !too_early);
    EXPECT_EQ(room.counters().kicked_rate, too_early ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, RateTest,
                         testing::Values(RateCase{"Defaults", 240, 480},
                                         RateCase{"Least", 1, 1},
                                         RateCase{"Uneven", 7, 3},
                                         RateCase{"Ceilings", 10'000, 20'000}),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST(RoomRateTest, ADayOfSilenceDoesNotOverflow) {
  StartedRoom script({.players = 1,
                      .options = {.idle_ms = limits::kIdleMs.ceiling,
                                  .lifetime_ms = limits::kLifetimeMs.ceiling,
                                  .message_rate_per_s = 10'000,
                                  .message_burst = 20'000}});
  Room& room = script.room();
  test::RecordingConnection& a = script.connection("a");
  TimePoint now = script.now();
  for (int hour = 0; hour < 23; ++hour) {
    now += std::chrono::minutes(59);
    script.room().OnMessage(
        now, a, MessageKind::kBinary,
        Encode(
            {.kind = Kind::kInput, .frame = static_cast<std::uint32_t>(hour)}));
    ASSERT_TRUE(a.is_open());
  }
  for (int i = 0; i < 19'999; ++i) room.OnControl(now, a);
  EXPECT_TRUE(a.is_open());
  room.OnControl(now, a);
  EXPECT_FALSE(a.is_open());
}

TEST(RoomCountersTest, EachReasonOnce) {
  StartedRoom script({.players = 3});
  script.Do("a INPUT 0 0 0 1 1");
  script.Do("a INPUT 0 0 0 1 1");
  script.Do("a HASH 0 0 0 1 1");
  script.Do("a START 0 0");
  script.Do("a KIND77");
  script.Do("lose b 1006");
  script.Do("a INPUT 0 0 0 2 1");
  script.Do("full c 0");
  script.Do("a INPUT 0 0 0 3 1");
  script.Do("bytes a 13");
  const RoomCounters& counters = script.room().counters();
  EXPECT_EQ(counters.relayed, 4u);
  EXPECT_EQ(counters.delivered, 5u);
  EXPECT_EQ(counters.stale, 1u);
  EXPECT_EQ(counters.ignored, 2u);
  EXPECT_EQ(counters.kicked_rate, 0u);
  EXPECT_EQ(counters.kicked_size, 1u);
}

TEST(RoomEndTest, ClosesEveryoneOnce) {
  StartedRoom script({.players = 3});
  script.Do("lose c 1006");
  script.room().End(script.now(), CloseReason::kRestart);
  EXPECT_EQ(script.Told(), "a closed 1012 restart; b closed 1012 restart");
  EXPECT_EQ(script.Do("look"), "ended 3 seats 0 seated 0 held");
  EXPECT_EQ(script.room().next_alarm(), kNever);
  script.room().End(script.now(), CloseReason::kNormal);
  EXPECT_EQ(script.Do("alarm"), "");
  EXPECT_EQ(script.Do("resume d c"), "d closed 4002 seat gone");
}

TEST(RoomAlarmTest, IsTheEarliestDeadline) {
  using std::chrono::milliseconds;
  RoomScript script({.options = {.hold_ms = 100,
                                 .lobby_ms = 700,
                                 .idle_ms = 300,
                                 .lifetime_ms = 5000}});
  const TimePoint start = script.now();
  EXPECT_EQ(script.room().next_alarm(), start + milliseconds(700));
  script.Do("join a");
  script.Do("join b");
  EXPECT_LE(script.room().next_alarm(), start + milliseconds(300));
  script.Do("wait 250");
  script.Do("a INPUT 0 0 0 1 1");
  script.Do("wait 50");
  script.Do("alarm");
  EXPECT_EQ(script.room().next_alarm(), start + milliseconds(550));
  script.Do("lose b 1006");
  EXPECT_EQ(script.room().next_alarm(), start + milliseconds(400));
  script.Do("resume c b");
  script.Do("wait 100");
  EXPECT_EQ(script.Do("alarm"), "");
  EXPECT_EQ(script.room().next_alarm(), start + milliseconds(550));
  script.Do("wait 150");
  script.Do("alarm");
  EXPECT_EQ(script.room().phase(), Room::Phase::kEnded);
  EXPECT_EQ(script.room().next_alarm(), kNever);
}

TEST(RoomMemoryTest, TwoKibibytesAndOneASeat) {
  for (int players = 1; players <= limits::kSeats.ceiling; ++players) {
    RoomScript script({.players = players});
    const auto seats = static_cast<std::size_t>(players);
    EXPECT_LE(script.room().memory_bytes(), 2048 + 1024 * seats);
    EXPECT_GE(script.room().memory_bytes(), 64 * kMessageSize * seats);
    EXPECT_EQ(script.room().opened_for(), players);
  }
}

struct OptionCase {
  const char* name;
  std::int64_t RoomOptions::*member;
  const Limit& limit;
};

class OptionTest : public testing::TestWithParam<OptionCase> {};

TEST_P(OptionTest, StaysInItsLimit) {
  const OptionCase& row = GetParam();
  RoomOptions options;
  EXPECT_EQ(options.*row.member, row.limit.fallback);
  for (std::int64_t good : {row.limit.floor, row.limit.ceiling}) {
    options.*row.member = good;
    EXPECT_THAT(ValidateOptions(options), IsOk()) << good;
  }
  for (std::int64_t bad : {row.limit.floor - 1, row.limit.ceiling + 1}) {
    options.*row.member = bad;
    EXPECT_THAT(ValidateOptions(options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::StartsWith(std::string(row.limit.name))));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, OptionTest,
    testing::Values(
        OptionCase{"Hold", &RoomOptions::hold_ms, limits::kHoldMs},
        OptionCase{"Lobby", &RoomOptions::lobby_ms, limits::kLobbyMs},
        OptionCase{"Idle", &RoomOptions::idle_ms, limits::kIdleMs},
        OptionCase{"Lifetime", &RoomOptions::lifetime_ms, limits::kLifetimeMs},
        OptionCase{"Rate", &RoomOptions::message_rate_per_s,
                   limits::kMessageRate},
        OptionCase{"Burst", &RoomOptions::message_burst, limits::kMessageBurst},
        OptionCase{"Gather", &RoomOptions::gather_ms, limits::kGatherMs}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace parlor::lockstep
