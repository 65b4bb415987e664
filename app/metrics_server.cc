#include "app/metrics_server.h"

#include <CivetServer.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

namespace cepd::app {
namespace {

/// For which a reader waits for the main loop, which may be at a reload. Shorter than Prometheus's own patience (10 s).
constexpr std::chrono::seconds kPatience{2};
/// The first complaint of civetweb on this thread: its exceptions do not say what was wrong.
thread_local std::string complaint;

class Collected final : public prometheus::Collectable {
 public:
  Collected(FigureBox& figures, std::function<void()> wake, const PageSources& sources)
      : figures_(figures), wake_(std::move(wake)), sources_(sources) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const auto figures = figures_.get(sources_.clock.steady() + kPatience, wake_);
    return metrics_page(figures.get(), sources_);
  }

 private:
  FigureBox& figures_;
  const std::function<void()> wake_;
  const PageSources sources_;
};

sockaddr_in socket_address(const std::string& listen) {
  const auto colon = listen.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(listen.substr(colon + 1))));
  ::inet_pton(AF_INET, listen.substr(0, colon).c_str(), &address.sin_addr);
  return address;
}

/// Connects and goes away.
void knock(const sockaddr_in& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  (void)!::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(fd);
}

bool is_loopback(const std::string& address) {
  in_addr parsed{};
  return ::inet_pton(AF_INET, address.c_str(), &parsed) == 1 && (ntohl(parsed.s_addr) >> 24U) == 127;
}

int complain(const mg_connection* /*connection*/, const char* message) {
  if (complaint.empty()) complaint = message;
  spdlog::debug("metrics: {}", message);
  return 1;  // it does not write it anywhere else
}

}  // namespace

const config::OptionTable& metrics_table() {
  using config::OptionType;
  static const config::OptionTable table{
      "metrics",
      "Figures for Prometheus, at /metrics (docs/metrics.md).",
      {{.name = "listen",
        .type = OptionType::kString,
        .default_text = "off",
        .help = "Loopback address and port to serve them on, such as 127.0.0.1:9464, or off. To read them from another "
                "machine put a proxy with a log-in before it."},
       {.name = "each_rule",
        .type = OptionType::kBool,
        .default_text = "true",
        .help = "Whether there are figures of each rule that has matched, beside those of all rules together."}}};
  return table;
}

Result<std::optional<std::string>> read_listen(const std::string& text) {
  if (text == "off") return std::optional<std::string>();
  const auto colon = text.rfind(':');
  const auto wrong = [&](const std::string& what) { return error(Errc::kInvalidArgument, what); };
  if (colon == std::string::npos)
    return wrong("metrics.listen: expected ADDRESS:PORT, such as 127.0.0.1:9464, or off, got \"" + text + "\"");
  std::string address = text.substr(0, colon);
  const std::string_view digits = std::string_view(text).substr(colon + 1);
  unsigned port = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (status != std::errc{} || end != digits.data() + digits.size() || port == 0 || port > 65'535)
    return wrong("metrics.listen: expected a port from 1 to 65535, got \"" + std::string(digits) + "\"");
  if (address == "localhost") address = "127.0.0.1";
  if (!is_loopback(address)) {
    return wrong("metrics.listen: \"" + address +
                 "\" is no IPv4 address of this machine alone (127.0.0.1 or localhost); put a proxy with a log-in "
                 "before it to read metrics from elsewhere");
  }
  return std::optional(address + ":" + std::to_string(port));
}

struct MetricsServer::Impl {
  Impl(FigureBox& box, const std::string& listen) : figures(box), address(socket_address(listen)) {}

  FigureBox& figures;
  const sockaddr_in address;
  std::shared_ptr<Collected> collected;
  std::unique_ptr<prometheus::Exposer> exposer;
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() {
  impl_->figures.close();
  // civetweb looks every 2 s whether it is to end, and whenever somebody connects.
  const auto ended = std::async(std::launch::async, [this] { impl_->exposer.reset(); });
  do {
    knock(impl_->address);
  } while (ended.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready);
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& listen, FigureBox& figures,
                                                            std::function<void()> wake, const PageSources& sources) {
  auto impl = std::make_unique<Impl>(figures, listen);
  impl->collected = std::make_shared<Collected>(figures, std::move(wake), sources);
  CivetCallbacks callbacks;
  callbacks.log_message = complain;
  complaint.clear();
  try {
    impl->exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", listen, "num_threads", "2", "request_timeout_ms", "5000"},
        &callbacks);
    impl->exposer->RegisterCollectable(impl->collected);
  } catch (const std::exception& failed) {
    return error(Errc::kIo, "metrics.listen: " + (complaint.empty() ? failed.what() : complaint));
  }
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

}  // namespace cepd::app
