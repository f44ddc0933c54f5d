// ParityWorlds of memory pipes: on one thread, and with the host's ends on a
// thread of their own.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_PIPES_H_
#define PARLOR_TESTS_SUPPORT_PARITY_PIPES_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "parlor/transports/memory_pipe.h"
#include "support/parity_world.h"

namespace parlor::test {

// Runs one task at a time.
class TaskThread {
 public:
  TaskThread() : thread_([this] { Loop(); }) {}
  ~TaskThread() {
    Start({});
    thread_.join();
  }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // An empty task ends the thread.
  void Start(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    busy_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }

 private:
  void Loop() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return busy_; });
      const std::function<void()> task = std::exchange(task_, {});
      if (!task) return;
      lock.unlock();
      task();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool busy_ = false;
  std::thread thread_;
};

class PipeWorld final : public ParityWorld {
 public:
  enum class Threads : std::uint8_t { kOne, kTwo };

  PipeWorld(ParityHost& host, const ParityLimits& limits, Threads threads)
      : host_(host) {
    options_.reliable_bytes_max = limits.reliable_bytes_max;
    options_.message_bytes_max = limits.message_bytes_max;
    options_.linger_ms = limits.linger_ms;
    if (threads == Threads::kTwo) thread_ = std::make_unique<TaskThread>();
  }

  std::unique_ptr<Connection> Connect(const Hello& hello,
                                      ConnectionHandler* handler) override {
    std::unique_ptr<Connection> client;
    OnHost([&] {
      if (const std::uint16_t refusal = host_.Admit(now(), hello);
          refusal != 0) {
        client = MakeRefusedPipe(client_pump_, refusal);
        return;
      }
      PipePair pipe = MakePipe(client_pump_, host_pump_, options_);
      client = std::move(pipe.first);
      host_.Attach(now(), std::move(pipe.second), hello);
    });
    client->SetHandler(handler);
    return client;
  }

  void OnHost(const std::function<void()>& task) override {
    if (thread_ == nullptr) return task();
    thread_->Start(task);
    thread_->Wait();
  }

  void Barrier() override {
    bool worked = true;
    while (worked) {
      bool host_worked = false;
      const auto run_host = [&] { host_worked = RunHost(); };
      // Both at once, where there are two.
      if (thread_ != nullptr) thread_->Start(run_host);
      const bool client_worked = client_pump_.Pump(now()) > 0;
      if (thread_ != nullptr) {
        thread_->Wait();
      } else {
        run_host();
      }
      worked = client_worked || host_worked || client_pump_.has_ready();
    }
  }

 private:
  bool RunHost() {
    const bool pumped = host_pump_.Pump(now()) > 0;
    const bool alarm = host_.next_alarm() <= now();
    if (alarm) host_.OnAlarm(now());
    return pumped || alarm || host_pump_.has_ready();
  }

  TimePoint next_alarm() override {
    TimePoint next = kNever;
    OnHost(
        [&] { next = std::min(host_.next_alarm(), host_pump_.next_alarm()); });
    return std::min(next, client_pump_.next_alarm());
  }

  ParityHost& host_;
  PipeOptions options_;
  PipePump client_pump_, host_pump_;
  std::unique_ptr<TaskThread> thread_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_PIPES_H_
