#include "app/status_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace cepd::app {
namespace {

/// For which a reader waits for the main loop, which may be at a reload.
constexpr std::chrono::seconds kPatience{5};
/// Of a client that says nothing, and of a daemon that does not answer.
constexpr timeval kClientLimit{2, 0}, kDaemonLimit{15, 0};
constexpr std::string_view kText = "text\n", kJson = "json\n";

std::string socket_path(const std::string& run_directory) { return run_directory + "/cepd.sock"; }

Error failed(const std::string& what) { return error(Errc::kIo, what + ": " + std::strerror(errno)); }

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return error(Errc::kIo, path + ": the path is too long for a socket, take a shorter run_directory");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

void limit(int socket, const timeval& time) {
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// What the other side says, up to its end or `most` bytes.
std::string receive(int socket, std::size_t most) {
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < most) {
    const ssize_t got = ::recv(socket, part.data(), std::min(part.size(), most - text.size()), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<StatusServer>> StatusServer::start(const std::string& run_directory, FigureBox& figures,
                                                          std::function<void()> wake, const PageSources& sources) {
  const std::string path = socket_path(run_directory);
  auto address = address_of(path);
  if (!address) return std::move(address).error();
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return failed("a socket for cepd status");
  ::unlink(path.c_str());
  // Linux gives the file the mode that the socket has before it is bound.
  const bool bound = ::fchmod(listener, 0600) == 0 &&
                     ::bind(listener, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
  const int stopper = ::eventfd(0, EFD_CLOEXEC);
  if (!bound || stopper < 0 || ::listen(listener, 8) != 0) {
    Error why = failed(path);
    ::close(listener);
    if (stopper >= 0) ::close(stopper);
    return why;
  }
  return std::unique_ptr<StatusServer>(new StatusServer(path, listener, stopper, figures, std::move(wake), sources));
}

StatusServer::StatusServer(std::string path, int listener, int stopper, FigureBox& figures, std::function<void()> wake,
                           const PageSources& sources)
    : path_(std::move(path)),
      listener_(listener),
      stopper_(stopper),
      figures_(figures),
      wake_(std::move(wake)),
      sources_(sources),
      thread_([this] { run(); }) {}

StatusServer::~StatusServer() {
  figures_.close();
  const std::uint64_t one = 1;
  (void)!::write(stopper_, &one, sizeof one);
  thread_.join();
  ::unlink(path_.c_str());
  ::close(listener_);
  ::close(stopper_);
}

void StatusServer::run() {
  std::array<pollfd, 2> waited{pollfd{stopper_, POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
  while (true) {
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
    if (waited[0].revents != 0) return;
    if (waited[1].revents == 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client);
    ::close(client);
  }
}

void StatusServer::answer(int client) {
  limit(client, kClientLimit);
  const std::string asked = receive(client, kText.size());
  if (asked != kText && asked != kJson) return;
  const auto figures = figures_.get(sources_.clock.steady() + kPatience, wake_);
  send_all(client, status_page(figures.get(), sources_, asked == kJson ? StatusForm::kJson : StatusForm::kText));
}

Result<std::string> ask_status(const std::string& run_directory, StatusForm form) {
  const std::string path = socket_path(run_directory);
  auto address = address_of(path);
  if (!address) return std::move(address).error();
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return failed("a socket");
  limit(socket, kDaemonLimit);
  Result<std::string> answer = error(Errc::kIo, path + ": the daemon does not answer");
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    answer = errno == ENOENT || errno == ECONNREFUSED ? error(Errc::kNotFound, "no cepd runs with " + run_directory)
                                                      : failed(path);
  } else if (send_all(socket, form == StatusForm::kJson ? kJson : kText)) {
    if (std::string text = receive(socket, std::string().max_size()); text.ends_with('\n')) answer = std::move(text);
  }
  ::close(socket);
  return answer;
}

}  // namespace cepd::app
