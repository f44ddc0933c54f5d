// Knowing when sockets between two ends of this process are quiet: nothing is
// on its way inside the system. So a test over real sockets needs no sleep to
// know that what was sent has arrived.
#ifndef PARLOR_TESTS_SUPPORT_LOOPBACK_H_
#define PARLOR_TESTS_SUPPORT_LOOPBACK_H_

#include <functional>

namespace parlor::test {

// True when every TCP connection whose two ends are in this process has
// delivered all bytes, ends and resets. What was delivered need not have been
// read.
bool LoopbackIsQuiet();

// Calls `work` until it finds nothing to do (false) while the loopback is
// quiet. Fails the test when that takes 20 s of real time.
void RunUntilQuiet(const std::function<bool()>& work);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOOPBACK_H_
