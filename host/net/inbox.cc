#include "net/inbox.h"

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "logic/door.h"
#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {

void Inbox::Put(std::unique_ptr<Connection> connection, const Hello& hello) {
  const std::lock_guard lock(mutex_);
  PARLOR_CHECK(door_ != nullptr);
  PutLocked(std::move(connection), hello);
}

std::unique_ptr<Connection> Inbox::Open(PipePump& client,
                                        const PipeOptions& options,
                                        const Hello& hello) {
  const std::lock_guard lock(mutex_);
  if (door_ == nullptr) return nullptr;
  PipePair pipe = MakePipe(client, door_->pump(), options);
  PutLocked(std::move(pipe.second), hello);
  return std::move(pipe.first);
}

void Inbox::PutLocked(std::unique_ptr<Connection> connection,
                      const Hello& hello) {
  arrivals_.push_back({std::move(connection), hello});
  loop_->Post([inbox = shared_from_this()] { inbox->Deliver(); });
}

// One for each Put; on the door's thread.
void Inbox::Deliver() {
  std::unique_lock lock(mutex_);
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  lock.unlock();
  // Only this thread's end is followed by Shut.
  door_->Attach(std::move(arrival.connection), arrival.hello);
}

void Inbox::Shut() {
  std::deque<Arrival> dropped;
  const std::lock_guard lock(mutex_);
  door_ = nullptr;
  dropped.swap(arrivals_);
}

}  // namespace parlor::host
