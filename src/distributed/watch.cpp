#include "distributed/watch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>

#include "base/clock.h"
#include "base/text.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

constexpr double kBeatMs = 1000, kSilenceMs = 12'000, kConnectMs = 3000, kAcceptMs = 10'000;
constexpr char kHere = 'h', kGoodbye = 'g';

struct Greeting {
  uint64_t secret = 0;
  int32_t rank = 0;
};

bool wait_for(int socket, short events, double timeout_ms) {
  pollfd entry = {socket, events, 0};
  return poll(&entry, 1, static_cast<int>(timeout_ms)) > 0;
}

// Every IPv4 address of this machine: which of them another one reaches, only it can find out.
std::string own_addresses() {
  std::string list;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "127.0.0.1";
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    list += fmt::format("{}{}", list.empty() ? "" : ",", text.data());
  }
  freeifaddrs(all);
  return list;
}

// -1 where it does not answer.
int connect_to(const std::string& address, uint16_t port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  int error = 0;
  socklen_t length = sizeof error;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return connection;
  if (errno == EINPROGRESS && wait_for(connection, POLLOUT, kConnectMs) &&
      getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0) {
    return connection;
  }
  close(connection);
  return -1;
}

// On a port that the system chooses.
int listen_anywhere(uint16_t& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own = {};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof own;
  bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own);
  listen(listener, SOMAXCONN);
  getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length);
  port = ntohs(own.sin_port);
  return listener;
}

uint64_t draw_secret() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32) | random();
}

}  // namespace

Watch::Watch(World& world, OnLoss on_loss) : world_(world), on_loss_(std::move(on_loss)) {
  if (world.size() == 1) return;
  uint16_t port = 0;
  const int listener = world.is_first() ? listen_anywhere(port) : -1;
  const auto secret = static_cast<uint64_t>(broadcast(world.all(), static_cast<int64_t>(draw_secret())));
  const std::string address = broadcast(world.all(), fmt::format("{}:{}", own_addresses(), port));
  if (world.is_first()) {
    accept_others(listener, secret);
    close(listener);
  } else {
    connect_to_first(address, secret);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Watch::~Watch() {
  dismiss();
  for (const auto& [socket, peer] : peers_) close(socket);
}

void Watch::dismiss() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  say(kGoodbye);
}

void Watch::break_off_for_test() const {
  for (const auto& [socket, peer] : peers_) shutdown(socket, SHUT_RDWR);
}

void Watch::connect_to_first(const std::string& address, uint64_t secret) {
  const size_t colon = address.rfind(':');
  const auto port = static_cast<uint16_t>(parse_integer(address.substr(colon + 1)).value_or(0));
  const bool same_host = world_.hosts()[static_cast<size_t>(world_.rank())] == world_.hosts()[0];
  for (const std::string& one : split(address.substr(0, colon), ',')) {
    // Elsewhere that would be another machine's own.
    if (one.starts_with("127.") && !same_host) continue;
    const int connection = connect_to(one, port);
    if (connection < 0) continue;
    const Greeting greeting = {secret, world_.rank()};
    [[maybe_unused]] const ssize_t sent = send(connection, &greeting, sizeof greeting, MSG_NOSIGNAL);
    peers_[connection] = {0, now_ms()};
    return;
  }
}

void Watch::accept_others(int listener, uint64_t secret) {
  std::vector<bool> here(static_cast<size_t>(world_.size()), false);
  const double end_ms = now_ms() + kAcceptMs;
  while (std::ranges::count(here, true) + 1 < world_.size() && now_ms() < end_ms) {
    if (!wait_for(listener, POLLIN, end_ms - now_ms())) break;
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Greeting greeting;
    const bool greeted = connection >= 0 && wait_for(connection, POLLIN, kConnectMs) &&
                         recv(connection, &greeting, sizeof greeting, MSG_WAITALL) == sizeof greeting;
    if (!greeted || greeting.secret != secret || greeting.rank < 1 || greeting.rank >= world_.size()) {
      if (connection >= 0) close(connection);
      continue;
    }
    peers_[connection] = {greeting.rank, now_ms()};
    here[static_cast<size_t>(greeting.rank)] = true;
  }
  for (int rank = 1; rank < world_.size(); ++rank) {
    if (!here[static_cast<size_t>(rank)]) unwatched_.push_back(world_.name_of(rank));
  }
}

void Watch::say(char word) const {
  for (const auto& [socket, peer] : peers_) {
    [[maybe_unused]] const ssize_t sent = send(socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

// What has come in since; false where somebody ended without goodbye.
bool Watch::hear() {
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    auto& [rank, heard_ms] = peer->second;
    std::array<char, 64> words{};
    const ssize_t count = recv(peer->first, words.data(), words.size(), MSG_DONTWAIT);
    if (count > 0) heard_ms = now_ms();
    const bool goodbye = count > 0 && std::ranges::find(words, kGoodbye) != words.end();
    const bool gone = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (gone) {
      lost_ = fmt::format("{} ended unexpectedly", world_.name_of(rank));
      return false;
    }
    if (goodbye) close(peer->first);
    peer = goodbye ? peers_.erase(peer) : std::next(peer);
  }
  return true;
}

std::string Watch::silent_peer() const {
  for (const auto& [socket, peer] : peers_) {
    if (now_ms() - peer.heard_ms > kSilenceMs)
      return fmt::format("{} has not answered for {:.0f} s", world_.name_of(peer.rank), kSilenceMs / 1e3);
  }
  return "";
}

void Watch::work(const std::stop_token& stop) {
  double next_beat_ms = 0, last_ms = now_ms(), woken_ms = -kSilenceMs;
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets;
    for (const auto& [socket, peer] : peers_) sockets.push_back({socket, POLLIN, 0});
    poll(sockets.data(), sockets.size(), static_cast<int>(kBeatMs / 4));
    if (stop.stop_requested()) return;
    if (now_ms() > next_beat_ms) {
      say(kHere);
      next_beat_ms = now_ms() + kBeatMs;
    }
    const bool all_there = hear();
    // Who was stopped itself heard nobody meanwhile.
    const bool was_stopped = now_ms() - last_ms > kSilenceMs / 2;
    if (was_stopped) {
      woken_ms = now_ms();
      for (auto& [socket, peer] : peers_) peer.heard_ms = now_ms();
    }
    last_ms = now_ms();
    if (all_there) lost_ = silent_peer();
    if (lost_.empty()) continue;
    // Shortly after it was stopped, it is this rank that others have given up.
    if (now_ms() - woken_ms > kSilenceMs) on_loss_(lost_);
    return;
  }
}

}  // namespace tacho
