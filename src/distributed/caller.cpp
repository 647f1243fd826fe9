#include "distributed/caller.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "distributed/launch.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStandard = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A message whose only content are the three standard descriptors.
struct DescriptorMessage {
  char byte = 'd';
  iovec content = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof kStandard)> control{};
  msghdr header = {};

  DescriptorMessage() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

void send_terminal(int connection) {
  DescriptorMessage message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof kStandard);
  std::memcpy(CMSG_DATA(control), kStandard.data(), sizeof kStandard);
  sendmsg(connection, &message.header, MSG_NOSIGNAL);
}

}  // namespace

CallerSocket::CallerSocket() {
  std::string pattern = (fs::temp_directory_path() / "tacho-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw UserError("cannot make a folder in {}: {}", fs::temp_directory_path().string(),
                    std::strerror(errno));
  folder_ = pattern;
  const sockaddr_un address = address_of(path());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(socket_, 1) == 0)
    return;
  const int reason = errno;
  end();
  throw UserError("cannot listen at {}: {}; set TMPDIR to another folder", path(), std::strerror(reason));
}

CallerSocket::~CallerSocket() {
  unlink(address_of(path()).sun_path);  // not in the folder where that is too long for a socket
  end();
}

void CallerSocket::hand_over() {
  connection_ = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection_ >= 0) send_terminal(connection_);
}

std::string CallerSocket::last_word() const {
  std::string word;
  std::array<char, 1024> bytes{};
  for (ssize_t count = 0; connection_ >= 0; word.append(bytes.data(), static_cast<size_t>(count))) {
    count = recv(connection_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) break;
  }
  return word;
}

void CallerSocket::end() {
  if (connection_ >= 0) close(connection_);
  close(socket_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Caller::Caller() {
  const char* path = std::getenv(kCallerVariable);
  if (path == nullptr || !is_first_launched()) return;
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  DescriptorMessage message;
  const bool received =
      connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      recvmsg(connection, &message.header, 0) > 0;
  const cmsghdr* control = received ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) {
    close(connection);
    return;  // what it prints goes to the launcher
  }
  std::array<int, kStandard.size()> descriptors{};
  std::memcpy(descriptors.data(), CMSG_DATA(control), sizeof descriptors);
  for (size_t i = 0; i < descriptors.size(); ++i) {
    dup2(descriptors[i], kStandard[i]);
    close(descriptors[i]);
  }
  connection_ = connection;
}

Caller::~Caller() {
  if (connection_ >= 0) close(connection_);
}

void Caller::leave_word(const std::string& line) const {
  [[maybe_unused]] const ssize_t sent = send(connection_, line.data(), line.size(), MSG_NOSIGNAL);
}

}  // namespace tacho
