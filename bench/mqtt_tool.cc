/// What mqtt_load.py measures cepd beside: a bare client (paho) that publishes lines, or takes messages and counts
/// them.
///
///     mqtt_tool session URL CLIENT TOPIC    subscribes and leaves: the broker keeps what comes from then on
///     mqtt_tool count URL CLIENT N          takes N messages of that session; prints seconds and CPU seconds as JSON
///
/// QoS 1 and MQTT 5 throughout. Exit code 1 with a line on standard error when the broker does not do it.

#include <mqtt/async_client.h>
#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kQos = 1;
constexpr int kInFlight = 1000;  // as cepd asks for
constexpr int kHour = 3600;      // for which the broker keeps the session

void connect(mqtt::async_client& client) {
  mqtt::connect_options options;
  options.set_mqtt_version(MQTTVERSION_5);
  options.set_clean_start(false);
  mqtt::properties properties;
  properties.add({mqtt::property::SESSION_EXPIRY_INTERVAL, kHour});
  properties.add({mqtt::property::RECEIVE_MAXIMUM, kInFlight});
  options.set_properties(std::move(properties));
  client.connect(options)->wait();
}

mqtt::async_client client_of(const std::string& url, const std::string& id) {
  return {url, id, mqtt::create_options(MQTTVERSION_5)};
}

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void session(const std::string& url, const std::string& id, const std::string& topic) {
  mqtt::async_client client = client_of(url, id);
  connect(client);
  client.subscribe(topic, kQos)->wait();
  client.disconnect()->wait();
}

void count(const std::string& url, const std::string& id, std::size_t wanted) {
  mqtt::async_client client = client_of(url, id);
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t taken = 0;
  client.set_message_callback([&](const mqtt::const_message_ptr&) {
    const std::lock_guard lock(mutex);
    if (++taken == wanted) changed.notify_one();
  });
  const auto begun = Clock::now();
  connect(client);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return taken >= wanted; });
  std::cout << "{\"seconds\":" << seconds_since(begun) << ",\"cpu_seconds\":" << cpu_seconds() << "}" << std::endl;
  lock.unlock();
  client.disconnect()->wait();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "session") {
    session(words[1], words[2], words[3]);
  } else if (words.size() == 4 && words[0] == "count") {
    count(words[1], words[2], std::stoul(words[3]));
  } else {
    std::cerr << "usage: mqtt_tool session URL CLIENT TOPIC | count URL CLIENT N\n";
    return 2;
  }
} catch (const std::exception& e) {
  std::cerr << "mqtt_tool: " << e.what() << '\n';
  return 1;
}
