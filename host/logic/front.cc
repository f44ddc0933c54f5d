#include "logic/front.h"

#include <atomic>
#include <cstddef>
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

}  // namespace parlor::host
