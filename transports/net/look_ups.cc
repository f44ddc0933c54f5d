#include "net/look_ups.h"

#include <sys/socket.h>

#include <asio/error_code.hpp>
#include <asio/ip/basic_resolver.hpp>
#include <asio/ip/resolver_base.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "net/task_queue.h"

namespace parlor::net_internal {

struct LookUps::Answer final : TaskQueue::Task {
  void Run() override { found(addresses); }

  Found found;
  Addresses addresses;
};

LookUps::LookUps(TaskQueue& tasks) : tasks_(tasks) {}
LookUps::~LookUps() = default;

void LookUps::Start(const std::string& host, std::uint16_t port, Found found) {
  auto answer = std::make_shared<Answer>();
  answer->found = std::move(found);
  try {
    if (thread_ == nullptr) thread_ = std::make_unique<asio::thread_pool>(1);
  } catch (const std::system_error&) {  // as many threads as there may be
    return tasks_.Add(std::move(answer));
  }
  asio::post(*thread_, [this, host, port, answer = std::move(answer)] {
    asio::ip::basic_resolver<asio::ip::tcp, asio::thread_pool::executor_type>
        resolver(*thread_);
    asio::error_code ignored;  // then nothing was found
    const auto all =
        resolver.resolve(host, std::to_string(port),
                         asio::ip::resolver_base::numeric_service, ignored);
    for (const auto& one : all) {
      const asio::ip::tcp::endpoint endpoint = one.endpoint();
      answer->addresses.emplace_back(endpoint.data(),
                                     static_cast<socklen_t>(endpoint.size()));
    }
    tasks_.Add(answer);
  });
}

}  // namespace parlor::net_internal
