#include "logic/front.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "logic/front_client.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "logic/numeric_address.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/transports/net_listener.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::host {

// Held by what the store calls with its answer, so that its end is seen however
// it comes.
class Front::Question {
 public:
  explicit Question(std::shared_ptr<Waiting> waiting)
      : waiting_(std::move(waiting)) {
    waiting_->asked.fetch_add(1, std::memory_order_relaxed);
  }
  ~Question() { waiting_->asked.fetch_sub(1, std::memory_order_relaxed); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  // On the loop's thread. Null: whoever asked is gone.
  FrontClient* Asker(std::uint64_t number) const {
    const auto found = waiting_->clients.find(number);
    return found == waiting_->clients.end() ? nullptr : found->second;
  }

 private:
  const std::shared_ptr<Waiting> waiting_;
};

Front::Front(stream::StreamLoop& loop, const FrontOptions& options, Gate& gate,
             Ports& ports)
    : loop_(loop), options_(options), gate_(gate), ports_(ports) {}

Front::~Front() = default;

void Front::OnAccept(std::unique_ptr<stream::ByteStream> stream,
                     std::string_view address, NetTransport transport) {
  FrontClient& client = clients_.emplace_back(
      *this, std::move(stream), ParseNumericAddress(address), transport);
  client.place().of_all = std::prev(clients_.end());
  unseated_.store(clients_.size(), std::memory_order_relaxed);
  if (!client.IsProxy()) CountFor(client, client.address());
  while (clients_.size() > options_.unseated_max) DropOldest();
}

void Front::CountFor(FrontClient& client, std::optional<Address> address) {
  FrontClient::Place& place = client.place();
  if (place.address == address) return;
  if (place.address) {
    const auto siblings = of_address_.find(*place.address);
    siblings->second.erase(place.of_address);
    if (siblings->second.empty()) of_address_.erase(siblings);
  }
  place.address = address;
  if (!address) return;
  std::list<FrontClient*>& siblings = of_address_[*address];
  siblings.push_back(&client);
  place.of_address = std::prev(siblings.end());
  // Others, the limit being 1 at least.
  while (siblings.size() > options_.unseated_per_address) {
    Drop(*siblings.front());
  }
}

bool Front::DropOldest() {
  if (clients_.empty()) return false;
  Drop(clients_.front());
  return true;
}

void Front::Drop(FrontClient& client) {
  CountFor(client, std::nullopt);
  clients_.erase(client.place().of_all);
  unseated_.store(clients_.size(), std::memory_order_relaxed);
}

void Front::Admit(FrontClient& client, Handover handover) {
  Drop(client);
  ports_.HandOver(std::move(handover));
}

std::uint64_t Front::Ask(FrontClient& client, const PassUse& use) {
  if (waiting_->asked.load(std::memory_order_relaxed) >=
      options_.unseated_max) {
    return 0;
  }
  const std::uint64_t number = ++waiting_->last;
  waiting_->clients.emplace(number, &client);
  ports_.AskStore(use, [question = std::make_shared<Question>(waiting_),
                        number](PassAnswer answer) {
    if (FrontClient* asker = question->Asker(number)) asker->OnAnswer(answer);
  });
  return number;
}

}  // namespace parlor::host
