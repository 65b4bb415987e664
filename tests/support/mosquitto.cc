#include "tests/support/mosquitto.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace cepd::test {
namespace {

constexpr std::chrono::seconds kStartLimit{10};

std::string find_binary() {
  for (const char* path : {"/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/usr/bin/mosquitto"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

sockaddr_in address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool accepts(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto to = address(port);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  ::close(fd);
  return connected;
}

}  // namespace

bool Mosquitto::installed() { return !find_binary().empty(); }

int Mosquitto::free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto any = address(0);
  socklen_t size = sizeof any;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&any), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  ::close(fd);
  return ntohs(any.sin_port);
}

Mosquitto::Mosquitto(std::vector<std::string> settings, int port) : port_(port) {
  std::string pattern = (std::filesystem::temp_directory_path() / "cepd-mosquitto-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
  directory_ = pattern;
  std::ofstream file(directory_ + "/mosquitto.conf");
  file << "listener " << port_ << " 127.0.0.1\nlog_dest stderr\nlog_type all\npersistence true\nautosave_interval 1\n"
       << "persistence_location " << directory_ << "/\nmax_queued_messages 0\n";
  // Run by root it would become a user who cannot write here.
  if (::geteuid() == 0) file << "user root\n";
  bool anonymous = true;
  for (const std::string& line : settings) {
    file << line << '\n';
    anonymous &= !line.starts_with("allow_anonymous");
  }
  if (anonymous) file << "allow_anonymous true\n";
}

Mosquitto::~Mosquitto() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

bool Mosquitto::start() {
  const std::string binary = find_binary(), configuration = directory_ + "/mosquitto.conf", log = directory_ + "/log";
  pid_ = ::fork();
  if (pid_ == 0) {
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
    ::execl(binary.c_str(), binary.c_str(), "-c", configuration.c_str(), nullptr);
    ::_exit(127);
  }
  const auto begun = std::chrono::steady_clock::now();
  while (!accepts(port_)) {
    // There is nothing to wait on: a listening port announces itself to nobody.
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return false;
    }
    if (std::chrono::steady_clock::now() - begun > kStartLimit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void Mosquitto::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string Mosquitto::url() const { return "mqtt://127.0.0.1:" + std::to_string(port_); }

std::string Mosquitto::log() const {
  std::ifstream file(directory_ + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cepd::test
