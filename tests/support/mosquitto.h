#pragma once
/// A real Mosquitto broker on 127.0.0.1 with its files in a directory of its own.

#include <string>
#include <vector>

namespace cepd::test {

class Mosquitto {
 public:
  /// Whether the broker is installed.
  static bool installed();
  /// A port nobody listens on now.
  static int free_port();

  /// Does not start it. `settings` are further lines of its configuration.
  explicit Mosquitto(std::vector<std::string> settings = {}, int port = free_port());
  ~Mosquitto();
  Mosquitto(const Mosquitto&) = delete;
  Mosquitto& operator=(const Mosquitto&) = delete;

  /// Returns once connections are accepted; false when that takes longer than ten seconds.
  bool start();
  /// SIGKILL, and waits for its end. start() takes the same port again.
  void kill();

  int port() const { return port_; }
  std::string url() const;
  /// Everything it has logged so far, over all its starts.
  std::string log() const;

 private:
  const int port_;
  std::string directory_;
  int pid_ = -1;
};

}  // namespace cepd::test
