// LookUps: asks the system for the addresses of hosts, on a thread of their
// own: it may take as long as it likes.
#ifndef PARLOR_TRANSPORTS_NET_LOOK_UPS_H_
#define PARLOR_TRANSPORTS_NET_LOOK_UPS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/socket_address.h"
#include "net/task_queue.h"

namespace asio {
class thread_pool;
}

namespace parlor::net_internal {

class LookUps {
 public:
  // Empty: there are none, or the system has no thread for this.
  using Addresses = std::vector<SocketAddress>;
  using Found = std::function<void(const Addresses&)>;

  // `tasks` outlives it.
  explicit LookUps(TaskQueue& tasks);
  // Waits for the look-up that is under way; `found` is called no more.
  ~LookUps();

  // `found` is called in a task.
  void Start(const std::string& host, std::uint16_t port, Found found);

 private:
  struct Answer;

  TaskQueue& tasks_;
  std::unique_ptr<asio::thread_pool> thread_;  // from the first Start on
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_LOOK_UPS_H_
