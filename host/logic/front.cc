#include "logic/front.h"

#include <atomic>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

#include "logic/front_client.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/host/address.h"
#include "parlor/transports/net_listener.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::host {

Front::Front(stream::StreamLoop& loop, const FrontOptions& options, Gate& gate,
             Ports& ports)
    : loop_(loop), options_(options), gate_(gate), ports_(ports) {}

Front::~Front() = default;

void Front::OnAccept(std::unique_ptr<stream::ByteStream> stream,
                     std::string_view address, NetTransport transport) {
  const Address from = Address::Parse(address).value_or(Address::Unknown());
  FrontClient& client =
      clients_.emplace_back(*this, std::move(stream), from, transport);
  std::list<FrontClient*>& siblings = of_address_[from];
  siblings.push_back(&client);
  client.SetPlace({std::prev(clients_.end()), std::prev(siblings.end())});
  unseated_.store(clients_.size(), std::memory_order_relaxed);
  if (siblings.size() > options_.unseated_per_address) Drop(*siblings.front());
  if (clients_.size() > options_.unseated_max) DropOldest();
}

bool Front::DropOldest() {
  if (clients_.empty()) return false;
  Drop(clients_.front());
  return true;
}

void Front::Drop(FrontClient& client) {
  const FrontClient::Place place = client.place();
  const auto siblings = of_address_.find(client.address());
  siblings->second.erase(place.of_address);
  if (siblings->second.empty()) of_address_.erase(siblings);
  clients_.erase(place.of_all);
  unseated_.store(clients_.size(), std::memory_order_relaxed);
}

void Front::Admit(FrontClient& client, Handover handover) {
  Drop(client);
  ports_.HandOver(std::move(handover));
}

}  // namespace parlor::host
