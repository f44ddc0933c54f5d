// Inbox: connections of this process on their way to a door on another thread.
// Shared by the server and its connectors; outlives both.
#ifndef PARLOR_HOST_NET_INBOX_H_
#define PARLOR_HOST_NET_INBOX_H_

#include <deque>
#include <memory>
#include <mutex>

#include "logic/door.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_loop.h"

namespace parlor::host {

class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  // `door` lives on `loop`; both until Shut.
  Inbox(Door& door, NetLoop& loop) : door_(&door), loop_(&loop) {}

  // Any thread: to be attached in a turn of the door's loop. Not after Shut.
  void Put(std::unique_ptr<Connection> connection, const Hello& hello);

  // Any thread, that of `client`: a pipe whose other end goes the same way.
  // Null after Shut.
  std::unique_ptr<Connection> Open(PipePump& client, const PipeOptions& options,
                                   const Hello& hello);

  // When the door's thread has ended, before the door: drops what waits.
  void Shut();

 private:
  struct Arrival {
    std::unique_ptr<Connection> connection;
    Hello hello;
  };

  void PutLocked(std::unique_ptr<Connection> connection, const Hello& hello);
  void Deliver();

  std::mutex mutex_;
  Door* door_;  // null: shut
  NetLoop* loop_;
  // Here and not in the tasks: what lives on the door's loop and pump has to
  // die before them, and a task may wait in the loop until its end.
  std::deque<Arrival> arrivals_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_NET_INBOX_H_
