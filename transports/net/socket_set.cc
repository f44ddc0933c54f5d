#include "net/socket_set.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include "parlor/check.h"
#include "parlor/time.h"

namespace parlor::net_internal {
namespace {

// Told of a socket that is in a set, wanted or not.
constexpr std::uint32_t kLost = EPOLLERR | EPOLLHUP;

}  // namespace

SocketSet::SocketSet() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) {
    throw std::system_error(errno, std::system_category(), "epoll");
  }
}

SocketSet::~SocketSet() { close(epoll_); }

// As epoll_wait.
int SocketSet::EpollWait(int most, Duration longest) {
  if (longest <= Duration::zero()) {
    return epoll_wait(epoll_, ready_.data(), most, 0);
  }
  if (longest == Duration::max()) {
    return epoll_wait(epoll_, ready_.data(), most, -1);
  }
  constexpr Duration kSecond = std::chrono::seconds(1);
  const timespec time{.tv_sec = longest / kSecond,
                      .tv_nsec = (longest % kSecond).count()};
  const int found =
      epoll_pwait2(epoll_, ready_.data(), most, &time, /*mask=*/nullptr);
  if (found >= 0 || errno == EINTR) return found;
  // Before Linux 5.11 (ENOSYS), or in a container whose rules are older and
  // forbid what they do not know (EPERM). Not before its time, so rounded up.
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest);
  return epoll_wait(epoll_, ready_.data(), most,
                    static_cast<int>(std::min<std::int64_t>(
                        ms.count(), std::numeric_limits<int>::max())));
}

std::size_t SocketSet::Wait(std::size_t most, Duration longest) {
  PARLOR_CHECK(ready_count_ == 0);
  if (most == 0) return 0;
  const int found =
      EpollWait(static_cast<int>(std::min(most, kReadyMax)), longest);
  // Less: a signal came.
  ready_count_ = static_cast<std::size_t>(std::max(found, 0));
  return ready_count_;
}

void SocketSet::Dispatch() {
  for (std::size_t i = 0; i < ready_count_; ++i) {
    // The next one is fetched while the system works for this one.
    if (i + 1 < ready_count_) __builtin_prefetch(ready_[i + 1].data.ptr);
    const std::uint32_t events = ready_[i].events;
    const auto call = [&](std::uint32_t wish, void (Member::*event)()) {
      // Whoever is gone by now was taken out.
      auto* const member = static_cast<Member*>(ready_[i].data.ptr);
      if (member != nullptr && (events & (wish | kLost)) != 0) {
        (member->*event)();
      }
    };
    call(EPOLLIN, &Member::OnReadReady);
    call(EPOLLOUT, &Member::OnWriteReady);
  }
  ready_count_ = 0;
}

void SocketSet::Forget(const Member& member) {
  for (std::size_t i = 0; i < ready_count_; ++i) {
    if (ready_[i].data.ptr == &member) ready_[i].data.ptr = nullptr;
  }
}

SocketSet::Member::~Member() { Close(); }

void SocketSet::Member::Close() {
  if (descriptor_ >= 0) close(Release());
}

int SocketSet::Member::Release() {
  // Not left to close: another process that was just forked may still hold it,
  // and the set would go on with it.
  PARLOR_CHECK(Watch(false, false));
  return std::exchange(descriptor_, -1);
}

bool SocketSet::Member::Watch(bool read, bool write) {
  const std::uint32_t wanted = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U);
  if (wanted == watched_) return true;
  // What is in the set for nothing would still be told of its loss, again and
  // again.
  int operation = EPOLL_CTL_MOD;
  if (watched_ == 0) operation = EPOLL_CTL_ADD;
  if (wanted == 0) operation = EPOLL_CTL_DEL;
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = this;
  const bool done = epoll_ctl(set_.epoll_, operation, descriptor_, &event) == 0;
  // All but adding one needs nothing of the system.
  PARLOR_CHECK(done || operation == EPOLL_CTL_ADD);
  if (!done) return false;
  watched_ = wanted;
  if (wanted == 0) set_.Forget(*this);
  return true;
}

}  // namespace parlor::net_internal
