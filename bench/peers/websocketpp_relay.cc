// A relay over WebSocket++ and Boost.Asio, for bench/compare: its own send,
// which queues behind a write that is under way and gathers what has queued. In
// its favour: one thread without locks, no log, no limits in time that would
// cost a timer.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>
#include <websocketpp/concurrency/none.hpp>
#include <websocketpp/config/asio_no_tls.hpp>
#include <websocketpp/server.hpp>

#include "peers/relay_program.h"
#include "peers/relay_rooms.h"

namespace parlor::bench {

// The library looks for these names.
// NOLINTBEGIN(readability-identifier-naming)
struct Config : public websocketpp::config::asio {
  using type = Config;
  using base = websocketpp::config::asio;
  using concurrency_type = websocketpp::concurrency::none;
  using elog_type =
      websocketpp::log::basic<concurrency_type, websocketpp::log::elevel>;
  using alog_type =
      websocketpp::log::basic<concurrency_type, websocketpp::log::alevel>;
  static bool const enable_multithreading = false;
  static websocketpp::log::level const elog_level =
      websocketpp::log::elevel::none;
  static websocketpp::log::level const alog_level =
      websocketpp::log::alevel::none;

  struct transport_config : public base::transport_config {
    using concurrency_type = type::concurrency_type;
    using elog_type = type::elog_type;
    using alog_type = type::alog_type;
    static bool const enable_multithreading = false;
    using socket_type = websocketpp::transport::asio::basic_socket::endpoint;
  };
  using transport_type =
      websocketpp::transport::asio::endpoint<transport_config>;

  // What a connection is to us, beside what it is to the library.
  struct connection_base {
    Room<websocketpp::connection<Config>>* room = nullptr;
    std::size_t seat = 0;
  };
};
// NOLINTEND(readability-identifier-naming)

namespace {

using Server = websocketpp::server<Config>;
using Connection = Server::connection_type;
using websocketpp::connection_hdl;

class Relay {
 public:
  Relay() {
    server_.init_asio();
    server_.set_reuse_addr(true);
    server_.set_tcp_post_init_handler([this](const connection_hdl& handle) {
      At(handle).get_raw_socket().set_option(
          boost::asio::ip::tcp::no_delay(true));
    });
    server_.set_validate_handler(
        [this](const connection_hdl& handle) { return Welcomes(At(handle)); });
    server_.set_open_handler(
        [this](const connection_hdl& handle) { OnOpen(At(handle)); });
    server_.set_message_handler([this](const connection_hdl& handle,
                                       const Server::message_ptr& message) {
      OnMessage(At(handle), message->get_payload());
    });
    server_.set_close_handler([this](const connection_hdl& handle) {
      Connection& connection = At(handle);
      if (connection.room == nullptr) return;
      rooms_.Leave(*std::exchange(connection.room, nullptr), connection.seat);
    });
  }

  void Run(std::uint16_t port) {
    server_.listen({boost::asio::ip::address_v4::loopback(), port});
    server_.start_accept();
    boost::system::error_code error;
    SayListening(server_.get_local_endpoint(error).port());
    server_.run();
  }

 private:
  // The library holds it while a handler runs.
  Connection& At(const connection_hdl& handle) {
    return *server_.get_con_from_hdl(handle);
  }

  // Whether it asks for a seat; where, is looked up again once it is open.
  static bool Welcomes(Connection& connection) {
    for (const std::string& offered : connection.get_requested_subprotocols()) {
      if (offered == kSubprotocol) connection.select_subprotocol(offered);
    }
    return ParseTarget(connection.get_resource()).has_value();
  }

  void OnOpen(Connection& connection) {
    connection.room =
        rooms_.Join(*ParseTarget(connection.get_resource()), connection);
    if (connection.room == nullptr) {
      connection.close(websocketpp::close::status::try_again_later, "full");
      return;
    }
    const Room<Connection>& room = *connection.room;
    connection.seat = room.seats.size() - 1;
    if (!room.started()) return;
    for (Connection* const member : room.seats) {
      if (member == nullptr) continue;
      Send(*member, Welcome(room.number, member->seat, room.players));
    }
  }

  static void OnMessage(Connection& connection, const std::string& payload) {
    if (connection.room == nullptr || payload.size() != kMessageBytes ||
        !connection.room->started() || !IsInput(payload.data())) {
      return;
    }
    const MessageBytes relayed = Relayed(payload.data(), connection.seat);
    for (Connection* const member : connection.room->seats) {
      if (member == nullptr || member == &connection) continue;
      Send(*member, relayed);
    }
  }

  // What it answers says that the connection is closing, and then its close
  // handler follows.
  static void Send(Connection& connection, const MessageBytes& message) {
    static_cast<void>(connection.send(message.data(), message.size(),
                                      websocketpp::frame::opcode::binary));
  }

  Rooms<Connection> rooms_;
  Server server_;
};

std::string Run(std::uint16_t port) {
  Relay relay;
  relay.Run(port);
  return "the loop ended";
}

}  // namespace
}  // namespace parlor::bench

int main(int argc, char** argv) {
  return parlor::bench::RunRelay(
      argc, argv, "A relay of lockstep messages over WebSocket++.",
      parlor::bench::Run);
}
