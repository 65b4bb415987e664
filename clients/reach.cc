#include "clients/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace cepd::clients {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// 0, or the reason as an errno.
int try_address(const addrinfo& address, SteadyClock::time_point until) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int reason = ::connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (reason == EINPROGRESS) {
    pollfd waited{fd, POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
    socklen_t size = sizeof reason;
    if (::poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) != 1) {
      reason = ETIMEDOUT;
    } else if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) != 0) {
      reason = errno;
    }
  }
  ::close(fd);
  return reason;
}

}  // namespace

std::string reach(const ServerAddress& server, std::chrono::milliseconds limit) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found))
    return "cannot find " + server.host + ": " + ::gai_strerror(failed);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  const auto until = SteadyClock::now() + limit;
  int reason = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    reason = try_address(*at, until);
    if (reason == 0) return {};
  }
  return std::string("cannot connect: ") + std::strerror(reason);
}

}  // namespace cepd::clients
