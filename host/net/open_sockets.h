// OpenSockets: counts the sockets that are open, on whatever thread each
// closes: every one of them carries a share.
#ifndef PARLOR_HOST_NET_OPEN_SOCKETS_H_
#define PARLOR_HOST_NET_OPEN_SOCKETS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace parlor::host {

class OpenSockets {
 public:
  class Share {
   public:
    explicit Share(std::shared_ptr<OpenSockets> sockets)
        : sockets_(std::move(sockets)) {
      sockets_->count_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Share() { sockets_->count_.fetch_sub(1, std::memory_order_relaxed); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    std::shared_ptr<OpenSockets> sockets_;
  };

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_ = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_NET_OPEN_SOCKETS_H_
