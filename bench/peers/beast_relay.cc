// A relay over Boost.Beast, written as Beast's own examples are
// (websocket/chat-multi): a session a connection, a queue of messages to write,
// one write at a time, each message encoded once and shared by its receivers.
// Left out, in its favour: the examples' time limits, and with them the timer
// of each connection.
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "peers/relay_program.h"
#include "peers/relay_rooms.h"

namespace parlor::bench {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Rooms<Session>& rooms)
      : socket_(std::move(socket)), rooms_(rooms) {}
  ~Session() {
    if (room_ != nullptr) rooms_.Leave(*room_, seat_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Start() {
    http::async_read(
        socket_.next_layer(), buffer_, request_,
        [self = shared_from_this()](beast::error_code error, std::size_t) {
          if (!error) self->OnRequest();
        });
  }

 private:
  using Shared = std::shared_ptr<const MessageBytes>;

  void OnRequest() {
    const auto target = request_.target();
    const auto seating = ParseTarget({target.data(), target.size()});
    if (!seating || !websocket::is_upgrade(request_)) return;
    seating_ = *seating;
    if (request_[http::field::sec_websocket_protocol].find(
            beast::string_view(kSubprotocol.data(), kSubprotocol.size())) !=
        beast::string_view::npos) {
      socket_.set_option(websocket::stream_base::decorator(
          [](websocket::response_type& response) {
            response.set(
                http::field::sec_websocket_protocol,
                beast::string_view(kSubprotocol.data(), kSubprotocol.size()));
          }));
    }
    socket_.binary(true);
    socket_.async_accept(request_,
                         [self = shared_from_this()](beast::error_code error) {
                           if (!error) self->OnOpen();
                         });
  }

  void OnOpen() {
    buffer_.clear();
    room_ = rooms_.Join(seating_, *this);
    if (room_ == nullptr) return;
    seat_ = room_->seats.size() - 1;
    Read();
    if (!room_->started()) return;
    for (Session* const member : room_->seats) {
      if (member == nullptr) continue;
      member->Send(std::make_shared<const MessageBytes>(
          Welcome(room_->number, member->seat_, room_->players)));
    }
  }

  void Read() {
    socket_.async_read(buffer_, [self = shared_from_this()](
                                    beast::error_code error, std::size_t) {
      if (!error) self->OnMessage();
    });
  }

  void OnMessage() {
    if (!socket_.got_binary() || buffer_.size() != kMessageBytes) return;
    const void* const data = buffer_.cdata().data();
    if (IsInput(data) && room_->started()) {
      const auto message =
          std::make_shared<const MessageBytes>(Relayed(data, seat_));
      for (Session* const member : room_->seats) {
        if (member != nullptr && member != this) member->Send(message);
      }
    }
    buffer_.consume(buffer_.size());
    Read();
  }

  void Send(Shared message) {
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) Write();
  }

  void Write() {
    socket_.async_write(
        boost::asio::buffer(*queue_.front()),
        [self = shared_from_this()](beast::error_code error, std::size_t) {
          if (error) return;
          self->queue_.pop_front();
          if (!self->queue_.empty()) self->Write();
        });
  }

  websocket::stream<tcp::socket> socket_;
  Rooms<Session>& rooms_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  Seating seating_;
  Room<Session>* room_ = nullptr;
  std::size_t seat_ = 0;
  std::deque<Shared> queue_;  // the first is being written
};

void Accept(tcp::acceptor& acceptor, Rooms<Session>& rooms) {
  acceptor.async_accept([&](beast::error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Session>(std::move(socket), rooms)->Start();
    }
    Accept(acceptor, rooms);
  });
}

std::string Run(std::uint16_t port) {
  Rooms<Session> rooms;  // outlives the sessions that the loop holds
  boost::asio::io_context loop(1);
  tcp::acceptor acceptor(loop, {boost::asio::ip::address_v4::loopback(), port});
  Accept(acceptor, rooms);
  SayListening(acceptor.local_endpoint().port());
  loop.run();
  return "the loop ended";
}

}  // namespace
}  // namespace parlor::bench

int main(int argc, char** argv) {
  return parlor::bench::RunRelay(
      argc, argv, "A relay of lockstep messages over Boost.Beast.",
      parlor::bench::Run);
}
